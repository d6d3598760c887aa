// A service that answers well while its GPU is lost, hangs, or had a fatal Xid; nothing where the GPU is another's, or nobody can tell.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { serviceDeadGpu } from '../../../agent/diagnosis/detectors/service-dead-gpu/service-dead-gpu.ts'
import type { Finding } from '../../../agent/model/finding.ts'
import { box, happened, line, uuid, xidText } from '../incidents/scene.ts'
import { at, checked, gpus, info, type Card, type Check } from './target-scene.ts'

type Second = {
  readonly card?: Card
  readonly check?: Check
  readonly container?: 'trainer' | 'web' | null
  readonly more?: Parameters<ReturnType<typeof createDetection>['ingest']>[0]
}
type Turn = { readonly second: number; readonly finding: Finding }

/** Checks come each ten seconds. The turns of what is said about the service. */
function watch(seconds: number, tell: (second: number) => Second): readonly Turn[] {
  const failures: unknown[] = []
  const detection = createDetection({ definitions: [serviceDeadGpu], onFailure: (_, error) => void failures.push(error) })
  const turns: Turn[] = []
  for (let second = 0; second < seconds; second++) {
    const { card = { state: 'well' }, check = 'well', container = 'trainer', more } = tell(second)
    if (second % 10 === 0) detection.ingest(info(second, 'ui', container ?? undefined))
    for (const event of gpus(second, card)) detection.ingest(event)
    if (more !== undefined) detection.ingest(more)
    if (second % 10 === 0) detection.ingest(checked(second, check))
    for (const finding of detection.judge(at(second))) if (turns.at(-1)?.finding.state !== finding.state) turns.push({ second, finding })
  }
  if (failures.length > 0) throw new Error('the detector failed', { cause: failures[0] })
  return turns
}
const story = (turns: readonly Turn[]): readonly string[] => turns.map(({ second, finding }) => `${second} ${finding.state}`)
const LOST: Card = { state: 'lost' }
const trainer = box('trainer', [0])

describe('says nothing of', () => {
  const cases: readonly (readonly [string, (second: number) => Second])[] = [
    ['a service on a GPU that is well', () => ({})],
    ['a service that is tied to no container', (s) => ({ container: null, card: s > 20 ? LOST : { state: 'well' } })],
    ['a service of another container', (s) => ({ container: 'web', card: s > 20 ? LOST : { state: 'well' } })],
    ['a GPU that is silent without a reason', (s) => ({ card: { state: s > 20 ? 'silent' : 'well' } })],
    ['nearly: lost for one check', (s) => ({ card: s > 20 && s < 38 ? LOST : { state: 'well' } })],
    ['a service that fails too', (s) => (s > 20 ? { card: LOST, check: 'refused' } : {})],
    ['a service that nobody could ask', (s) => (s > 20 ? { card: LOST, check: 'unknown' } : {})],
    ["an Xid of a program's own (31)", (s) => (s > 20 ? { card: { state: 'well', xids: { 31: 1 } } } : {})],
    ['an Xid from before', () => ({ card: { state: 'well', xids: { 79: 3 } } })],
    ['a fatal Xid whose victim was started again', (s) => ({ card: { state: 'well', xids: s > 20 ? { 79: 1 } : {}, pids: s > 22 ? [5555] : [4242] } })],
    ['a GPU that the container had left long before', (s) => ({ card: s > 120 ? LOST : { state: 'well', pids: s < 10 ? [4242] : [] } })],
  ]
  test.each(cases)('%s', (_, tell) => {
    expect(story(watch(200, tell)).filter((said) => said.includes('faulty'))).toEqual([])
  })
})

describe('tells', () => {
  test.each([
    ['lost', 'gpu_lost', 'is lost: NVML_ERROR_GPU_IS_LOST.'],
    ['hung', 'driver_hung', 'does not answer: nvmlDeviceGetMemoryInfo does not return.'],
  ] as const)('of a GPU that is %s, after two checks, until it is read again', (state, reason, words) => {
    const turns = watch(120, (s) => ({ card: { state: s > 20 && s < 90 ? state : 'well' } }))
    expect(story(turns)).toEqual(['0 healthy', '40 faulty', '90 healthy'])
    expect(turns[1]?.finding).toMatchObject({
      kind: 'service_dead_gpu',
      severity: 'critical',
      about: { uuid: uuid(0), container: 'trainer' },
      title: 'Service ui says it is well, but GPU 0 behind it is dead',
      facts: { target: 'ui', reason, http_status: 200, latency_ms: 12, since_ms: at(21) },
    })
    expect(turns[1]?.finding).toHaveProperty('verdict', expect.stringContaining(words))
  })

  test('not that it is over while nothing is known any more', () => {
    expect(story(watch(200, (s) => ({ card: { state: s < 20 ? 'well' : s < 60 ? 'lost' : 'silent' } })))).toEqual(['0 healthy', '40 faulty'])
  })

  test('of a fatal Xid that NVML counted, until its victim has ended', () => {
    const turns = watch(120, (s) => ({ card: { state: 'well', xids: s > 20 ? { 79: 1 } : {}, pids: s < 80 ? [4242] : [] } }))
    expect(story(turns).slice(0, 2)).toEqual(['0 healthy', '40 faulty'])
    expect(turns[1]?.finding).toMatchObject({ facts: { reason: 'xid', xid: 79 } })
    expect(turns[1]?.finding).toHaveProperty('verdict', expect.stringMatching(/had Xid 79 .*process python \(4242\) of container trainer/))
    expect(turns[2]).toMatchObject({ second: 82, finding: { state: 'healthy' } })
  })

  test("of a fatal Xid in the kernel's log", () => {
    const turns = watch(60, (s) => (s === 21 ? { more: line(at(s), 'kernel', xidText(0, 79)) } : {}))
    expect(story(turns)).toEqual(['0 healthy', '40 faulty'])
    expect(story(watch(60, (s) => (s === 21 ? { more: line(at(s), 'kernel', xidText(1, 79)) } : {})))).toEqual(['0 healthy'])
  })

  test('that it is over when the service fails, and when the container ends', () => {
    const fails = watch(120, (s) => ({ card: s > 20 ? LOST : { state: 'well' }, check: s >= 60 ? 'refused' : 'well' }))
    expect(fails.at(-1)).toMatchObject({ second: 70, finding: { state: 'healthy', why: 'the service does not say any more that it is well' } })
    const ends = watch(120, (s) => ({ card: s > 20 ? LOST : { state: 'well' }, ...(s === 66 ? { more: happened(at(s), 'die', trainer, 137) } : {}) }))
    expect(ends.at(-1)).toMatchObject({ second: 66, finding: { state: 'healthy', why: 'the container has ended' } })
  })
})
