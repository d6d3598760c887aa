// Incidents that belong together are one story: what led to what, by kind, card, container and time.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { defineDetector } from '../../../agent/diagnosis/detectors/definition.ts'
import { causeOf, causesOf, type CorrelatedIncident } from '../../../agent/diagnosis/incidents/correlation.ts'
import type { Finding } from '../../../agent/model/finding.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { INCIDENT_KINDS, type DetectedKind, type IncidentKind } from '../../../agent/model/kinds.ts'
import { box, createScene, line, ncclText, T, uuid, xidText, type Scene } from './scene.ts'

const MINUTE = 60_000
const part = (id: string, kind: IncidentKind, atMinutes: number, more: Partial<CorrelatedIncident> = {}): CorrelatedIncident => ({
  id,
  kind,
  programXid: false,
  gpus: new Set([uuid(0)]),
  containers: new Set(),
  startedAt: T + atMinutes * MINUTE,
  lastSeenAt: T + atMinutes * MINUTE,
  ...more,
})

describe('what follows from what', () => {
  test('no kind leads to itself, not even over others', () => {
    const reaches = (from: IncidentKind, wanted: IncidentKind, seen = new Set<IncidentKind>()): boolean =>
      causesOf(from).some((cause) => cause === wanted || (!seen.has(cause) && reaches(cause, wanted, seen.add(cause))))
    expect(INCIDENT_KINDS.filter((kind) => causesOf(kind).length > 0).length).toBeGreaterThan(10)
    expect(INCIDENT_KINDS.filter((kind) => reaches(kind, kind))).toEqual([])
  })

  test.each<readonly [string, CorrelatedIncident, readonly CorrelatedIncident[], string | undefined]>([
    ['a throttled card is a straggler', part('s', 'straggler_gpu', 5), [part('t', 'throttling', 0)], 't'],
    ['the detector of the cause took longer', part('s', 'straggler_gpu', 0), [part('t', 'throttling', 1)], 't'],
    ['another card throttles', part('s', 'straggler_gpu', 5), [part('t', 'throttling', 0, { gpus: new Set([uuid(1)]) })], undefined],
    ['it was too long ago', part('s', 'straggler_gpu', 15), [part('t', 'throttling', 0)], undefined],
    ['it still held a minute ago', part('s', 'straggler_gpu', 15), [part('t', 'throttling', 0, { lastSeenAt: T + 14 * MINUTE })], 't'],
    ['the nearest cause', part('n', 'nccl_error', 10), [part('t', 'throttling', 5), part('s', 'straggler_gpu', 1)], 's'],
    ['the newest of a kind', part('n', 'nccl_error', 10), [part('a', 'straggler_gpu', 5), part('b', 'straggler_gpu', 6), part('c', 'straggler_gpu', 1)], 'b'],
    ['an effect is no cause', part('t', 'throttling', 5), [part('s', 'straggler_gpu', 4)], undefined],
    ['never itself', part('x', 'xid', 0), [part('x', 'xid', 0)], undefined],
    [
      'by container alone',
      part('d', 'target_down', 1, { gpus: new Set(), containers: new Set(['c']) }),
      [part('o', 'cuda_oom', 0, { gpus: new Set(), containers: new Set(['c']) })],
      'o',
    ],
    [
      'a container is not enough for a card',
      part('s', 'straggler_gpu', 1, { gpus: new Set([uuid(1)]), containers: new Set(['c']) }),
      [part('t', 'throttling', 0, { containers: new Set(['c']) })],
      undefined,
    ],
    ["a program's Xid takes no card away", part('g', 'gpu_missing', 1), [part('x', 'xid', 0, { programXid: true })], undefined],
    ["a board's Xid does", part('g', 'gpu_missing', 1), [part('x', 'xid', 0)], 'x'],
    ['nobody knows', part('g', 'gpu_missing', 1), [], undefined],
  ])('%s', (_, effect, known, cause) => expect(causeOf(effect, known)?.id).toBe(cause))
})

type Held = readonly [kind: DetectedKind, index: number]
/** A host of which a detector finds what the test wants. */
function createHost() {
  let held: readonly Held[] = []
  const detector = defineDetector({
    id: 'wanted',
    kinds: ['throttling', 'straggler_gpu', 'gpu_missing', 'container_lost_gpu', 'target_down'],
    title: 'wanted',
    severity: 'warning',
    watches: [],
    everyMs: 1_000,
    options: {},
    expression: { none: 'a test' },
    create: () => {
      let before: readonly Held[] = []
      return {
        judge() {
          const over = before.filter(([kind, index]) => !held.some((one) => one[0] === kind && one[1] === index))
          before = held
          const of = ([kind, index]: Held) => {
            const about = kind === 'container_lost_gpu' || kind === 'target_down' ? { container: 'trainer', containerId: TRAINER.id } : { uuid: uuid(index) }
            return { kind, key: `${kind} ${index}`, about } as const
          }
          return [
            ...over.map((one): Finding => ({ ...of(one), state: 'healthy' })),
            ...held.map((one): Finding => ({ ...of(one), state: 'faulty', severity: 'warning', title: one[0], verdict: 'so it is', facts: {}, remedies: [] })),
          ]
        },
      }
    },
  })
  const scene = createScene({ detection: createDetection({ definitions: [detector] }) })
  return { scene, find: (...wanted: readonly Held[]) => (held = wanted) }
}
const TRAINER = box('trainer', [0, 1, 2], { pids: [100, 101, 102] })
const of = (scene: Scene, kind: IncidentKind): Incident => {
  const found = scene.incidents().filter((incident) => incident.kind === kind)
  const [first] = found
  if (first === undefined || found.length !== 1)
    throw new Error(
      `expected one ${kind}, came ${scene
        .incidents()
        .map((one) => one.kind)
        .join(', ')}`,
    )
  return first
}

describe('a story', () => {
  test('thermal throttle, then straggler, then NCCL time-out', () => {
    const { scene, find } = createHost()
    let t = scene.pass(T, 3, [TRAINER])
    find(['throttling', 1])
    t = scene.pass(t, 60, [TRAINER])
    find(['throttling', 1], ['straggler_gpu', 1])
    t = scene.pass(t, 60, [TRAINER])
    // The card has cooled when the others give up.
    find()
    t = scene.pass(t, 400, [TRAINER])
    scene.feed(line(t, TRAINER, ncclText(0)))
    scene.pass(t, 40, [TRAINER])
    const [hot, slow, late] = [of(scene, 'throttling'), of(scene, 'straggler_gpu'), of(scene, 'nccl_error')]
    expect(hot).toMatchObject({ story: hot.id, led_to: [{ id: slow.id, kind: 'straggler_gpu' }] })
    expect(hot.part_of).toBeUndefined()
    expect(slow).toMatchObject({ story: hot.id, part_of: { id: hot.id, kind: 'throttling' }, led_to: [{ id: late.id, kind: 'nccl_error' }] })
    expect(late).toMatchObject({ story: hot.id, part_of: { id: slow.id, kind: 'straggler_gpu' } })
    expect([hot.status, slow.status, late.status]).toEqual(['resolved', 'resolved', 'firing'])
    expect(scene.diagnosis.figures().totals.get('throttling')).toBe(1)
  })

  test('a cause that is found last takes what is there under its story', () => {
    const { scene, find } = createHost()
    let t = scene.pass(T, 3, [TRAINER])
    find(['target_down', 0])
    t = scene.pass(t, 20, [TRAINER])
    find(['target_down', 0], ['container_lost_gpu', 0])
    t = scene.pass(t, 20, [TRAINER])
    scene.feed(line(t, 'kernel', xidText(0, 79)))
    scene.pass(t, 40, [TRAINER])
    const [xid, access, down] = [of(scene, 'xid'), of(scene, 'container_lost_gpu'), of(scene, 'target_down')]
    expect([xid.story, access.story, down.story]).toEqual([xid.id, xid.id, xid.id])
    expect([access.part_of?.id, down.part_of?.id]).toEqual([xid.id, access.id])
  })

  test('a service fails with the card that its container was given', () => {
    const { scene, find } = createHost()
    let t = scene.pass(T, 3, [TRAINER])
    scene.feed(line(t, 'kernel', xidText(2, 79)))
    find(['target_down', 0])
    t = scene.pass(t, 10, [TRAINER])
    expect(of(scene, 'target_down').part_of).toEqual({ id: of(scene, 'xid').id, kind: 'xid' })
    const { scene: other, find: findThere } = createHost()
    t = other.pass(T, 3, [TRAINER])
    other.feed(line(t, 'kernel', xidText(5, 79)))
    findThere(['target_down', 0])
    other.pass(t, 10, [TRAINER])
    expect(of(other, 'target_down').part_of).toBeUndefined()
  })

  test('what has nothing to do with it stands alone', () => {
    const { scene, find } = createHost()
    const t = scene.pass(T, 3, [TRAINER])
    find(['throttling', 5], ['straggler_gpu', 1])
    scene.pass(t, 60, [TRAINER])
    for (const incident of scene.incidents()) expect([incident.story, incident.part_of, incident.led_to]).toEqual([undefined, undefined, undefined])
  })

  test('goes on after a restart of the agent', () => {
    const { scene, find } = createHost()
    let t = scene.pass(T, 3, [TRAINER])
    find(['throttling', 1])
    t = scene.pass(t, 10, [TRAINER])
    const again = createHost()
    again.scene.diagnosis.restore([of(scene, 'throttling')])
    again.find(['throttling', 1], ['straggler_gpu', 1])
    again.scene.pass(t, 5, [TRAINER])
    const [hot, slow] = [of(again.scene, 'throttling'), of(again.scene, 'straggler_gpu')]
    expect(hot.id).toBe(of(scene, 'throttling').id)
    expect(slow.part_of).toEqual({ id: hot.id, kind: 'throttling' })
    const third = createHost()
    third.scene.diagnosis.restore(again.scene.incidents())
    expect(third.scene.diagnosis.firing().map(({ story }) => story)).toEqual([hot.id, hot.id])
  })
})
