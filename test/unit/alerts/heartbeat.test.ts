// The heartbeat goes out on time while the agent samples, and at no other; trouble is said once and counted.
import { expect, test } from 'vitest'
import { createHeartbeat } from '../../../alerts/heartbeat.ts'

const T = 1_763_600_000_000
const SECOND = 1_000
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function beating(options: { readonly intervalMs?: number } = {}) {
  const sent: number[] = []
  const lines: string[] = []
  const state: { ready: boolean; answer: () => Promise<string | undefined> } = { ready: true, answer: async () => undefined }
  const heartbeat = createHeartbeat({
    to: 'hc-ping.com',
    intervalMs: options.intervalMs ?? 60 * SECOND,
    ready: () => state.ready,
    send: (t) => {
      sent.push(t)
      return state.answer()
    },
    log: { info: (text) => lines.push(`info ${text}`), warn: (text) => lines.push(`warn ${text}`), error: (text) => lines.push(`error ${text}`) },
  })
  /** As the agent does: once a second, from this second to the one before the other. */
  const pass = async (from: number, to: number): Promise<void> => {
    for (let second = from; second < to; second++) {
      heartbeat.maintain(T + second * SECOND)
      await settled()
    }
  }
  return { sent, lines, state, heartbeat, pass, at: () => sent.map((t) => (t - T) / SECOND) }
}

test('is sent at once, then each interval', async () => {
  const { pass, at, heartbeat, lines } = beating()
  await pass(0, 181)
  expect(at()).toEqual([0, 60, 120, 180])
  expect(heartbeat.figures()).toEqual({ delivered: 4, failed: 0 })
  expect(lines).toEqual([])
})

test('stays away while the agent does not sample, and is back with the first sample', async () => {
  const { pass, at, state } = beating()
  state.ready = false
  await pass(0, 30)
  expect(at()).toEqual([])
  state.ready = true
  await pass(30, 60)
  state.ready = false
  await pass(60, 200)
  state.ready = true
  await pass(200, 230)
  expect(at()).toEqual([30, 200])
})

test('that fails is said once for all of its trouble, and counted each time', async () => {
  const { pass, state, heartbeat, lines } = beating()
  state.answer = async () => 'came 503'
  await pass(0, 121)
  state.answer = () => Promise.reject(new Error('no such host'))
  await pass(121, 181)
  state.answer = async () => undefined
  await pass(181, 241)
  expect(heartbeat.figures()).toMatchObject({ delivered: 1, failed: 4 })
  expect(lines).toEqual(['warn the heartbeat does not reach hc-ping.com: came 503; tried again each 60 s', 'info the heartbeat reaches hc-ping.com again'])
})

test('waits for the one on its way, and a clock that is set back does not silence it', async () => {
  const { pass, at, state } = beating()
  let arrive: (value: undefined) => void = () => {}
  state.answer = () => new Promise((resolve) => (arrive = resolve))
  await pass(0, 150)
  expect(at()).toEqual([0])
  state.answer = async () => undefined
  arrive(undefined)
  await settled()
  await pass(150, 152)
  expect(at()).toEqual([0, 150])
  await pass(-3_600, -3_590)
  expect(at()).toEqual([0, 150, -3_600])
})
