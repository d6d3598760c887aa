// Xids as NVML's events and as the kernel's lines tell them, and the recovery that the driver then asks for: one incident each, whoever speaks first.
import { describe, expect, test } from 'vitest'
import { createDetection } from '../../../agent/diagnosis/detection.ts'
import { recoveryAction } from '../../../agent/diagnosis/detectors/recovery-action.ts'
import { createXidCounter } from '../../../agent/diagnosis/incidents/xid-counter.ts'
import type { Scrape } from '../../../agent/model/event.ts'
import type { Incident } from '../../../agent/model/incident.ts'
import { createHeardDiagnosis } from '../../setup/heard-diagnosis.ts'
import { createScene, line, only, reading, scrape, secondOf, T, uuid, xidText } from './scene.ts'

/** What the GPU source says of Xids: a group of its own, empty until the first. */
const reported = (t: number, ...counts: readonly (readonly [gpu: number, xid: number, count: number])[]): Scrape => ({
  ...scrape(
    t,
    'gpu',
    counts.map(([gpu, xid, count]) => reading('gpu_xid_errors_total', { gpu: String(gpu), uuid: uuid(gpu), xid: String(xid) }, count)),
  ),
  group: 'xid',
})
const start = () => {
  const scene = createScene()
  scene.feed(reported(T))
  scene.pass(T, 3, [])
  return scene
}

describe('an Xid', () => {
  test('of an event alone is an incident with the words of the catalogue', () => {
    const scene = start()
    scene.feed(reported(T + 4_000, [2, 48, 1]))
    const incident = only(scene)
    expect(incident).toMatchObject({
      kind: 'xid',
      severity: 'critical',
      status: 'firing',
      count: 1,
      facts: { xid: 48 },
      subject: { gpu: { index: 2, uuid: uuid(2) } },
    })
    expect(incident.title).toBe('Xid 48: Uncorrectable ECC error')
    expect(incident.remedies.map(({ command }) => command)).toContain('sudo nvidia-smi --gpu-reset -i 2')
    expect(incident.evidence.log_lines[0]?.stream).toBe('numbers')
  })

  test.each(['the event first', 'the line first'])('of an event and of a line is one, counted by whoever heard more: %s', (order) => {
    const scene = start()
    const event = reported(T + 4_000, [2, 79, 2])
    const lines = [4_000, 4_100, 4_200].map((ms) => line(T + ms, 'kernel', xidText(2, 79, 1234)))
    scene.feed(...(order === 'the event first' ? [event, ...lines] : [...lines, event]))
    const incident = only(scene)
    expect(incident).toMatchObject({ kind: 'xid', count: 3, facts: { xid: 79, pid: 1234, process: 'python' }, consequences: [] })
    expect(incident.evidence.log_lines.some(({ stream, matched }) => stream === 'kernel' && matched === true)).toBe(true)
    scene.feed(reported(T + 5_000, [2, 79, 7]))
    expect(only(scene).count).toBe(7)
  })

  test('of another number of the same GPU joins it, one of another GPU does not', () => {
    const scene = start()
    scene.feed(reported(T + 4_000, [2, 79, 1]), reported(T + 5_000, [2, 79, 1], [2, 45, 8]), reported(T + 6_000, [2, 79, 1], [2, 45, 8], [5, 13, 1]))
    expect(scene.incidents().map(({ facts, count, consequences }) => [facts.xid, count, consequences.length])).toEqual([
      [79, 1, 1],
      [13, 1, 0],
    ])
  })

  test('repeated by the source without a rise is not counted again, and quiet resolves it', () => {
    const scene = start()
    for (let second = 4; second < 3_700; second += 10) {
      scene.feed(reported(T + second * 1_000, [2, 13, 1]))
      scene.pass(T + second * 1_000, 10, [])
    }
    expect(only(scene)).toMatchObject({ status: 'resolved', count: 1 })
  })
})

describe('the counter of Xids', () => {
  test('what a recording begins with is history; a later series is new as a whole; one that fell started over', () => {
    const count = createXidCounter()
    expect(count(reported(T, [0, 79, 5]))).toEqual([])
    expect(count(reported(T + 1_000, [0, 79, 5]))).toEqual([])
    expect(count(reported(T + 2_000, [0, 79, 6], [1, 13, 3]))).toEqual([
      { uuid: uuid(0), xid: 79, times: 1 },
      { uuid: uuid(1), xid: 13, times: 3 },
    ])
    expect(count(reported(T + 3_000, [0, 79, 2], [1, 13, 3]))).toEqual([{ uuid: uuid(0), xid: 79, times: 2 }])
    expect(count(reported(T + 4_000))).toEqual([])
    expect(count(reported(T + 5_000, [0, 79, 2]))).toEqual([])
  })
})

describe('the recovery that the driver asks for', () => {
  const asked = (from: string, to: string): string => `NVRM: Xid (PCI:0000:2b:00): 154, GPU recovery action changed from 0x0 (${from}) to 0x1 (${to})`
  const host = (restored: readonly Incident[] = []) => {
    const all: Incident[] = []
    const scene = createScene({ detection: createDetection({ definitions: [recoveryAction] }), onChange: (incident) => all.push(incident) })
    scene.diagnosis.restore(restored)
    scene.feed(reported(T))
    const pass = (from: number, seconds: number, action: number | undefined) => {
      for (let second = from; second < from + seconds; second++) {
        const readings = action === undefined ? [] : [reading('gpu_recovery_action', { gpu: '2', uuid: uuid(2) }, action)]
        // The GPU that asks is a part of the host's other readings as long as it answers.
        scene.feed(...secondOf(T + second * 1_000, [], action === undefined ? [2] : []), { ...scrape(T + second * 1_000, 'gpu', readings), group: 'slow' })
      }
    }
    return { scene, all, pass, firing: () => scene.diagnosis.firing() }
  }

  test.each(['the line first', 'the reading first'])('is one incident with the line of Xid 154, and over when it asks no more: %s', (order) => {
    const { scene, all, pass, firing } = host()
    pass(1, 3, 0)
    if (order === 'the line first') scene.feed(line(T + 4_000, 'kernel', asked('None', 'GPU Reset Required')))
    pass(5, 3, 1)
    if (order === 'the reading first') scene.feed(line(T + 8_000, 'kernel', asked('None', 'GPU Reset Required')))
    pass(9, 7_200, 1)
    expect(firing()).toMatchObject([
      { kind: 'xid', severity: 'critical', status: 'firing', facts: { xid: 154 }, subject: { gpu: { uuid: uuid(2) } }, consequences: [] },
    ])
    pass(7_300, 2, 0)
    expect(firing()).toEqual([])
    expect(all.at(-1)).toMatchObject({ status: 'resolved', resolution: 'the driver asks for nothing any more' })
  })

  test('is a part of the crash that asked for it', () => {
    const { scene, pass, firing } = host()
    pass(1, 3, 0)
    scene.feed(reported(T + 4_000, [2, 79, 1]))
    pass(5, 7_200, 2)
    expect(firing()).toMatchObject([{ facts: { xid: 79 }, consequences: [{ facts: { xid: 154, recovery_action: 'Node Reboot' } }] }])
    pass(7_300, 2, 0)
    expect(firing()).toEqual([])
  })

  test('an Xid that comes again while the driver asks for a recovery is an occurrence of its own', () => {
    const { scene, pass, firing } = host()
    pass(1, 3, 0)
    scene.feed(line(T + 4_000, 'kernel', xidText(2, 63)))
    pass(5, 240, 1)
    scene.feed(line(T + 245_000, 'kernel', xidText(2, 63)))
    pass(246, 5, 1)
    const [incident] = firing()
    expect(incident).toMatchObject({ count: 2, facts: { xid: 63 }, occurred_at: T + 245_000 })
    expect(incident?.occurrences?.map(({ at }) => at)).toEqual([T + 4_000])
  })

  test('does not end while the GPU does not answer; after a reboot it ends with the first word, or goes on', () => {
    const { pass, firing } = host()
    pass(1, 5, 1)
    pass(6, 7_200, undefined)
    const kept = firing()
    expect(kept).toHaveLength(1)
    for (const [action, left] of [
      [0, 0],
      [1, 1],
    ] as const) {
      const after = host(kept)
      expect(after.firing()).toHaveLength(1)
      after.pass(8_000, 3, action)
      expect(after.firing().map(({ id }) => id)).toEqual(kept.slice(0, left).map(({ id }) => id))
    }
  })
})

test('without detectors and without events a diagnosis has nothing to say of Xids', () => {
  const heard: Incident[] = []
  const diagnosis = createHeardDiagnosis({ judge: () => [], hostname: 'gpu-01', onChange: (incident) => heard.push(incident) })
  for (let second = 0; second < 5; second++) for (const event of secondOf(T + second * 1_000, [])) diagnosis.ingest(event)
  expect(heard).toEqual([])
})
