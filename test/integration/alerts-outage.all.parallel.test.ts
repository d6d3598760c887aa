// A receiver that is down for a day, and a storm of 10,000 incidents: what matters arrives in order, in few messages, and costs bounded memory.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, onTestFinished, test } from 'vitest'
import { summaryOf, type Incident } from '../../agent/model/incident.ts'
import { createOutbox } from '../../agent/store/outbox.ts'
import { createDispatcher } from '../../alerts/dispatcher.ts'
import type { DeliveryOptions } from '../../alerts/delivery/attempt.ts'
import { createDelivery } from '../../alerts/delivery/delivery.ts'
import { outgoing } from '../../alerts/messages/outgoing.ts'
import { createRouter } from '../../alerts/routing/router.ts'
import { bodyOf, DAY, deliveryOptions, folder, HOUR, incident, jumpingClock, kept, MINUTE, plainNotifier, resolved, said, T } from '../setup/alert-scene.ts'
import { OK, startReceiver } from '../setup/receiver.ts'
import { rounds } from '../setup/rounds.ts'

async function scene(options: Partial<DeliveryOptions> = {}, get?: (id: string) => Incident) {
  const at = await startReceiver()
  onTestFinished(at.close)
  const clock = jumpingClock()
  const { lines, log } = kept()
  const store = new Map<string, Incident>()
  const outbox = createOutbox({ directory: folder(), log, now: clock.now })
  onTestFinished(outbox.close)
  const delivery = createDelivery({
    outbox,
    notifiers: [{ name: 'ops', type: 'plain', notifier: plainNotifier(at.url), options: deliveryOptions({ max_messages_per_minute: 20, ...options }) }],
    host: 'gpu-01',
    reach: { base_url: 'http://gpu-01:9839', local_url: 'http://127.0.0.1:9839' },
    log,
    clock,
  })
  const route = { to: ['ops'], match: {}, groupBy: ['container' as const], waitMs: 200, repeatMs: 4 * HOUR, quiet: [], resolved: true }
  const dispatcher = createDispatcher({
    router: createRouter([route], [{ name: 'ops' }]),
    outbox,
    delivery,
    get: get ?? ((id) => store.get(id)),
    outgoing,
    now: clock.now,
  })
  delivery.start()
  return {
    at,
    lines,
    clock,
    delivery,
    happens(about: Incident) {
      if (get === undefined) store.set(about.id, about)
      dispatcher.changed(summaryOf(about))
    },
    async pass(ms: number, stepMs = 5_000) {
      for (const until = clock.now() + ms; clock.now() < until;) {
        await clock.runUntil(clock.now() + stepMs, delivery.settled)
        dispatcher.maintain(clock.now())
      }
    },
  }
}

test('a day without a receiver: all that matters arrives once it is back, each incident in its order, repeats only once', async () => {
  const it = await scene()
  it.at.answerWith(() => ({ status: 503 }))
  const expected: string[] = []
  const container = (n: number) => ({ container: { name: `trainer-${n % 7}` } })
  it.happens(incident('long', { subject: container(0) }))
  for (let n = 0; it.clock.now() < T + DAY; n++) {
    const about = incident(`i${n}`, { subject: container(n), started_at: it.clock.now() })
    it.happens(about)
    expected.push(`i${n}+`)
    await it.pass(2 * MINUTE)
    if (n % 3 !== 0) {
      it.happens(resolved(`i${n}`, it.clock.now(), { subject: container(n) }))
      expected.push(`i${n}-`)
    }
    it.happens(incident('long', { subject: container(0), count: n + 2 }))
    await it.pass(2 * MINUTE)
  }
  expect(it.at.taken).toEqual([])
  const tries = it.at.requests.length
  expect(tries, 'one each few minutes').toBeLessThan(700)
  it.at.answerWith(() => OK)
  await it.pass(30 * MINUTE)
  const arrived = said(it.at.taken)
  expect(arrived.toSorted()).toEqual([...expected, 'long+'].toSorted())
  const at = new Map(arrived.map((text, i) => [text, i]))
  expect(expected.filter((text) => text.endsWith('-') && (at.get(text) ?? -1) < (at.get(text.replace('-', '+')) ?? Infinity))).toEqual([])
  expect(it.at.taken.length, 'messages').toBeLessThan(20)
  expect(it.delivery.rows()[0]).toMatchObject({ status: 'ok', waiting: 0, expired: 0, set_aside: 0 })
  expect(it.lines, 'one line when it began, one when it was over').toHaveLength(2)
})

test('down for longer than what is kept: told how much was lost, and what still fires is sent again', async () => {
  const it = await scene({ expire_ms: 6 * HOUR })
  it.at.answerWith(() => ({ status: 503 }))
  it.happens(incident('fires'))
  it.happens(incident('gone'))
  await it.pass(MINUTE)
  it.happens(resolved('gone', it.clock.now()))
  await it.pass(13 * HOUR, MINUTE)
  it.at.answerWith(() => OK)
  await it.pass(HOUR)
  expect(said(it.at.taken)).toEqual(['fires+'])
  const { expired, items } = it.at.taken.map(bodyOf)[0] ?? { items: [] }
  expect(items[0]?.reason).toBe('new')
  expect(expired).toMatchObject({ from: T })
  expect(expired?.count).toBeGreaterThanOrEqual(3)
})

const STORM = rounds({ full: 10_000, quick: 4_000 })
const ROOT_OF = 10
const series = Array.from({ length: 8 }, (_, i) => ({
  metric: 'warpwatch_gpu_memory_used_bytes',
  labels: { gpu: String(i), uuid: `GPU-${i}` },
  t: Array.from({ length: 160 }, (__, s) => T - (160 - s) * 1_000),
  value: Array.from({ length: 160 }, (__, s) => s * 1e9),
}))
/** As large as real ones are: 30 log lines, eight series of 160 s. Each tenth is a root, and the others follow from it. */
function large(n: number): Incident {
  const root = n - (n % ROOT_OF)
  const lines = Array.from({ length: 30 }, (_, i) => ({ t: T + i, stream: 'container', text: `line ${i} of ${n} ${'x'.repeat(100)}` }))
  return incident(`i${n}`, {
    kind: n === root ? 'xid' : 'nccl_error',
    subject: { container: { name: `trainer-${n}` }, gpu: { index: n % 8, uuid: `GPU-${n % 8}` } },
    ...(n === root ? {} : { part_of: { id: `i${root}`, kind: 'xid' } }),
    remedies: [{ text: 'Reset the GPU.', command: 'nvidia-smi --gpu-reset -i 0' }],
    evidence: { log_lines: lines, series, processes: [] },
  })
}
/** What lives in the heap after a collection. */
function liveBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect !== 'function') throw new Error('expected a function that collects')
  collect()
  return process.memoryUsage().heapUsed
}

const resolvedLarge = (n: number, at: number): Incident => ({ ...large(n), status: 'resolved', resolved_at: at })

test(`${STORM} incidents in a minute: few messages, no root lost, bounded memory`, async () => {
  const it = await scene({}, (id) => large(Number(id.slice(1))))
  const before = liveBytes()
  const SLICE = STORM / 100
  for (let n = 0; n < STORM; n++) {
    it.happens(large(n))
    if (n % SLICE === 0) await it.pass(MINUTE / 100, MINUTE / 100)
  }
  const duringMinute = it.at.taken.length
  expect(duringMinute).toBeLessThanOrEqual(20)
  // Each with a container of its own, at 500 a message: some 20 messages more for 10,000.
  await it.pass(5 * MINUTE)
  expect((liveBytes() - before) / STORM, 'bytes for each that fires').toBeLessThan(4_000)
  expect(it.at.taken.length).toBeLessThan(40)
  const arrived = said(it.at.taken)
  expect(new Set(arrived).size).toBe(STORM)
  expect(arrived).toHaveLength(STORM)
  for (const message of it.at.taken) {
    const followers = bodyOf(message).items.map(({ id }) => Number(id.slice(1)) % ROOT_OF !== 0)
    expect(followers, 'roots first').toEqual(followers.toSorted((a, b) => Number(a) - Number(b)))
  }
  for (let n = 0; n < STORM; n++) it.happens(resolvedLarge(n, it.clock.now()))
  await it.pass(5 * MINUTE)
  expect(said(it.at.taken)).toHaveLength(2 * STORM)
  expect((liveBytes() - before) / STORM, 'bytes for each that is over').toBeLessThan(1_000)
})
