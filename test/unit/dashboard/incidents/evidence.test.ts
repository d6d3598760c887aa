// The readings around a fault as charts, and who held how much at one second of them.
import { describe, expect, test } from 'vitest'
import type { Incident, IncidentSeries } from '../../../../agent/model/incident.ts'
import { courseOf, faultLine } from '../../../../dashboard/src/features/incidents/evidence/course.ts'
import { evidenceCharts, logOf, marksOf } from '../../../../dashboard/src/features/incidents/evidence/charts.ts'
import { lineUp, processesAt, valueAt, windowOf } from '../../../../dashboard/src/features/incidents/evidence/lines.ts'
import { INCIDENT } from '../../http/incident-fixture.ts'

const T = 1_763_600_000_000
const FAULT = T / 1000
const window = windowOf(T)
const GPU6 = { gpu: '6', uuid: 'GPU-6' }

/** One reading a second over these seconds beside the fault. */
const series = (metric: string, labels: IncidentSeries['labels'], from: number, values: readonly number[]): IncidentSeries => ({
  metric: `warpwatch_${metric}`,
  labels,
  t: values.map((_, i) => T + (from + i) * 1000),
  value: values,
})
const incident = (list: readonly IncidentSeries[], more: Partial<Incident> = {}): Incident => {
  const { resolved_at: _over, ...rest } = INCIDENT
  return { ...rest, started_at: T, facts: {}, consequences: [], ...more, evidence: { log_lines: [], processes: [], series: list } }
}
const charts = (list: readonly IncidentSeries[], more: Partial<Incident> = {}) => evidenceCharts(incident(list, more), window, () => 80)

describe('lines', () => {
  test('stand on whole seconds; what was not read is a hole, a lone missed second is drawn over', () => {
    const line = lineUp({ metric: 'm', labels: {}, t: [T - 3_000, T - 1_000, T + 2_000], value: [1, 2, 3] }, window, 'm', 'other')
    expect([-4, -3, -2, -1, 0, 1, 2].map((offset) => valueAt(line, window, FAULT + offset))).toEqual([undefined, 1, 1, 2, undefined, undefined, 3])
    expect(line.highest).toBe(3)
  })
  test('who was missing when the card was read held nothing: the parts of a second are of that second', () => {
    const [memory] = charts([
      series('gpu_memory_used_bytes', GPU6, -3, [77, 5, 9]),
      { ...series('container_gpu_memory_bytes', { ...GPU6, container: 'trainer' }, 0, [72, 4]), t: [T - 3_000, T - 1_000] },
    ])
    expect(memory?.lines.map((line) => valueAt(line, window, FAULT - 2))).toEqual([5, undefined])
  })
  test('what lies outside of the two minutes before and the half after is left out', () => {
    const line = lineUp({ metric: 'm', labels: {}, t: [T - 121_000, T - 120_000, T + 30_000, T + 31_000], value: [9, 1, 2, 9] }, window, 'm', 'other')
    expect(line.values.filter((value) => value !== null)).toEqual([1, 2])
    expect(line.highest).toBe(2)
  })
})

describe('charts', () => {
  test('of one card: its memory with who holds it, the largest first, against all of it', () => {
    const [memory] = charts([
      series('gpu_memory_used_bytes', GPU6, 0, [70]),
      series('container_gpu_memory_bytes', { ...GPU6, container: 'small' }, 0, [10]),
      series('container_gpu_memory_bytes', { ...GPU6, container: 'large' }, 0, [50]),
      series('process_gpu_memory_bytes', { ...GPU6, pid: '7', process: 'python', container: 'large' }, 0, [50]),
      series('process_gpu_memory_bytes', { ...GPU6, pid: '9', process: 'Xorg' }, 0, [2]),
    ])
    expect(memory).toMatchObject({ title: 'Memory of GPU 6', large: true, limit: { value: 80 } })
    expect(memory?.lines.map(({ label, kind }) => [label, kind])).toEqual([
      ['in use', 'main'],
      ['large', 'container'],
      ['small', 'container'],
      ['Xorg 9', 'other'],
    ])
  })
  test('of a MIG instance: its memory and who holds it there, against what it has', () => {
    const [mine, other] = [
      { ...GPU6, gi: '1', ci: '0' },
      { ...GPU6, gi: '2', ci: '0' },
    ]
    const list = [
      series('gpu_memory_used_bytes', GPU6, 0, [60]),
      series('gpu_memory_used_bytes', mine, 0, [19]),
      series('gpu_memory_used_bytes', other, 0, [41]),
      series('process_gpu_memory_bytes', { ...mine, pid: '7', process: 'python', container: 'trainer' }, 0, [18]),
      series('container_gpu_memory_bytes', { ...mine, container: 'trainer' }, 0, [18]),
      series('container_gpu_memory_bytes', { ...other, container: 'large' }, 0, [40]),
    ]
    const subject = { gpu: { uuid: 'GPU-6', index: 6 }, container: { name: 'trainer' } }
    const [memory] = charts(list, { subject, facts: { pid: 7, total_bytes: 20 } })
    expect(memory).toMatchObject({ title: 'Memory of MIG instance 1 on GPU 6', limit: { value: 20 } })
    expect(memory?.lines.map(({ label, highest }) => [label, highest])).toEqual([
      ['in use', 19],
      ['trainer', 18],
    ])
    expect(charts(list, { subject: { gpu: { uuid: 'GPU-6' }, container: { name: 'large' } } })[0]?.title).toBe('Memory of MIG instance 2 on GPU 6')
    // The GPU itself, or one that held memory in both: the whole of it.
    expect(charts(list, { subject: { gpu: { uuid: 'GPU-6' } } })[0]).toMatchObject({ title: 'Memory of GPU 6', limit: { value: 80 } })
  })
  test('of several cards: a line each, and no limit that would be one card’s', () => {
    const [memory] = charts([series('gpu_memory_used_bytes', GPU6, 0, [70]), series('gpu_memory_used_bytes', { gpu: '7', uuid: 'GPU-7' }, 0, [60])])
    expect(memory?.title).toBe('GPU memory')
    expect(memory?.lines.map(({ label }) => label)).toEqual(['GPU 6', 'GPU 7'])
    expect(memory?.limit).toBeUndefined()
  })
  test('only of what was read; without a card the first leads', () => {
    expect(charts([])).toEqual([])
    const found = charts([series('host_memory_available_bytes', {}, 0, [5]), series('host_shm_used_bytes', {}, 0, [5])])
    expect(found.map(({ id, large }) => [id, large])).toEqual([['host-memory', true]])
  })
  test('of the allocator: the process that it hit; kills only where there were some', () => {
    const list = [
      series('allocator_reserved_bytes', { uuid: 'GPU-6', pid: '4242' }, 0, [5]),
      series('allocator_reserved_bytes', { uuid: 'GPU-6', pid: '1' }, 0, [5]),
      series('container_oom_kills_total', { container: 'trainer' }, 0, [0, 0]),
    ]
    expect(charts(list).map(({ id, lines }) => [id, lines.map(({ label }) => label)])).toEqual([['allocator', ['reserved']]])
    const lives = [
      series('allocator_reserved_bytes', { uuid: 'GPU-6', pid: '1', container: 'trainer' }, -9, [5, 6]),
      series('allocator_reserved_bytes', { uuid: 'GPU-6', pid: '2', container: 'trainer' }, -6, [1, 2]),
      series('allocator_reserved_bytes', { uuid: 'GPU-6', pid: '3', container: 'trainer' }, -5, [3]),
    ]
    const [joined, ...more] = charts(lives, { subject: {} })[0]?.lines ?? []
    expect([joined?.label, more]).toEqual(['reserved', []])
    expect([-9, -8, -7, -6, -5].map((offset) => (joined === undefined ? 0 : valueAt(joined, window, FAULT + offset)))).toEqual([5, 6, undefined, 1, 5])
    const others = charts([...list, series('container_oom_kills_total', { container: 'trainer' }, 0, [0, 1])], { subject: {} })
    expect(others.map(({ id }) => id)).toEqual(['allocator', 'oom-kills'])
    expect(others[0]?.lines.map(({ label }) => label)).toEqual(['reserved, pid 4242', 'reserved, pid 1'])
  })
})

test('a card that is slowed by heat leads with its clock, large; memory comes after', () => {
  const list = ['gpu_memory_used_bytes', 'gpu_power_watts', 'gpu_temperature_celsius'].map((name) => series(name, GPU6, 0, [1]))
  const found = charts([...list, series('gpu_clock_hertz', { ...GPU6, domain: 'sm' }, 0, [1])], { kind: 'throttling' })
  expect(found.map(({ id, large }) => [id, large])).toEqual([
    ['clock', true],
    ['temperature', false],
    ['power', false],
    ['memory', false],
  ])
})

describe('where the evidence begins', () => {
  const used = (from: number, values: readonly number[]) => series('gpu_memory_used_bytes', GPU6, from, values)
  const life = (pid: string, from: number, values: readonly number[]) =>
    series('process_gpu_memory_bytes', { ...GPU6, pid, process: 'python', container: 'trainer' }, from, values)
  const subject = { gpu: { uuid: 'GPU-6' }, container: { name: 'trainer' } }
  const startOf = (list: readonly IncidentSeries[], more: Partial<Incident> = {}): number => courseOf(incident(list, { subject, ...more })).start - FAULT

  test('is the newest second before the fault at which its card was read', () => {
    expect(startOf([used(-5, [1, 2, 3]), series('gpu_memory_used_bytes', { gpu: '7', uuid: 'GPU-7' }, -3, [1, 1, 1])])).toBe(-3)
    expect(startOf([used(-2, [1, 2, 3])])).toBe(-1)
    expect(startOf([])).toBe(-1)
  })
  test('of a restart loop is the last second of the newest life that ended; each end is marked', () => {
    const list = [used(-9, [8, 9, 1, 5, 9, 1, 2, 3, 4, 5]), life('1', -9, [7, 8]), life('2', -6, [4, 8]), life('3', -4, [0, 1, 2, 3, 4])]
    expect(startOf(list, { kind: 'oom_restart_loop' })).toBe(-5)
    expect(marksOf(incident(list, { subject, kind: 'oom_restart_loop' }), window)).toEqual([
      { second: FAULT - 7 },
      { second: FAULT - 4 },
      { second: FAULT, label: 'loop seen' },
    ])
  })
})

test('the words of the numbers are no log; each second that a log showed the fault is marked', () => {
  const line = (offset: number, stream: string) => ({ t: T + offset * 1000, stream, text: 'x', matched: true }) as const
  const one = { ...incident([]), evidence: { log_lines: [line(0, 'numbers'), line(0, 'container'), line(20, 'container')], series: [], processes: [] } }
  expect(logOf(one.evidence).map(({ stream }) => stream)).toEqual(['container', 'container'])
  expect(marksOf(one, window)).toEqual([{ second: FAULT, label: 'out of memory' }, { second: FAULT + 20 }])
})

test('marks say what happened when, within the window, once a second', () => {
  const [followed] = INCIDENT.consequences
  if (followed === undefined) throw new Error('expected a consequence in the fixture')
  const marks = marksOf(
    incident([], {
      kind: 'xid',
      facts: { xid: 31 },
      consequences: [
        { ...followed, first_seen_at: T },
        { ...followed, kind: 'host_oom_kill', first_seen_at: T + 5_000 },
        { ...followed, first_seen_at: T + 90_000 },
      ],
    }),
    window,
  )
  expect(marks).toEqual([
    { second: FAULT, label: 'Xid 31' },
    { second: FAULT + 5, label: 'killed' },
  ])
})

describe('processes at a second', () => {
  const process = (pid: string, from: number, values: readonly number[]) =>
    series('process_gpu_memory_bytes', { ...GPU6, pid, process: 'python' }, from, values)
  const evidence = { series: [process('1', -3, [5, 6, 7]), process('2', 3, [1, 2])], processes: [{ pid: 1, gpu: '6', gpu_memory_bytes: 8 }] }
  const at = (offset: number) => processesAt(evidence, FAULT + offset, FAULT).map(({ pid, bytes, absent }) => [pid, bytes, absent])

  test('hold what they held then; who was not there yet and who has gone say so, in unmoved rows', () => {
    expect(at(-2)).toEqual([
      [1, 6, undefined],
      [2, undefined, 'not yet'],
    ])
    expect(at(4)).toEqual([
      [1, undefined, 'ended'],
      [2, 2, undefined],
    ])
  })
  test('have not ended, and are not yet to come, because the card was not read', () => {
    const read = series('gpu_memory_used_bytes', GPU6, -3, [9, 9])
    const hung = { series: [read, process('1', -3, [5, 6])], processes: [] }
    expect(processesAt(hung, FAULT + 9, FAULT)[0]).toMatchObject({ bytes: undefined, absent: 'not read' })
    expect(processesAt(hung, FAULT - 9, FAULT)[0]).toMatchObject({ bytes: undefined, absent: 'not read' })
    const answered = { ...hung, series: [...hung.series, series('gpu_memory_used_bytes', GPU6, 4, [1])] }
    expect(processesAt(answered, FAULT + 9, FAULT)[0]?.absent).toBe('ended')
    expect(processesAt(answered, FAULT + 1, FAULT)[0]?.absent).toBe('not read')
  })
  test('at the fault the table is the agent’s own, with the names that the readings gave', () => {
    expect(at(0)[0]).toEqual([1, 8, undefined])
    expect(processesAt(evidence, FAULT, FAULT)[0]?.process).toBe('python')
  })
  test('without readings of any process the table stands for all moments, else for that of the fault', () => {
    const bare = { series: [], processes: evidence.processes }
    expect(processesAt(bare, FAULT, FAULT)[0]?.bytes).toBe(8)
    expect(processesAt(bare, FAULT - 1, FAULT)[0]?.bytes).toBe(8)
    // Of a moment at which the driver was asked for others.
    const beside = { ...bare, series: [series('process_gpu_memory_bytes', { ...GPU6, pid: '99' }, -5, [1, 1, 1, 1, 1, 1])] }
    expect(processesAt(beside, FAULT - 1, FAULT).find(({ pid }) => pid !== 99)?.bytes).toBeUndefined()
  })
})

test.each([
  ['the first of those of the fault that is looked at', [10, 40, 40], 40, 1],
  ['the nearest where none is of its second', [10, 38], 40, 1],
  ['none is marked', [], 40, -1],
])('the log opens at %s', (_, seconds, fault, place) => {
  expect(
    faultLine(
      seconds.map((second) => ({ t: second * 1000, matched: true as const })),
      fault,
    ),
  ).toBe(place)
})
