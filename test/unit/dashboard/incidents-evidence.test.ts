// The readings around a fault as charts, and who held how much at one second of them.
import { describe, expect, test } from 'vitest'
import type { Incident, IncidentSeries } from '../../../agent/model/incident.ts'
import { evidenceCharts, marksOf } from '../../../dashboard/src/state/incidents-evidence.ts'
import { lineUp, processesAt, valueAt, windowOf } from '../../../dashboard/src/state/incidents-lines.ts'
import { INCIDENT } from '../http/incident-fixture.ts'

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
  test('of several cards: a line each, and no limit that would be one card’s', () => {
    const [memory] = charts([series('gpu_memory_used_bytes', GPU6, 0, [70]), series('gpu_memory_used_bytes', { gpu: '7', uuid: 'GPU-7' }, 0, [60])])
    expect(memory?.title).toBe('GPU memory')
    expect(memory?.lines.map(({ label }) => label)).toEqual(['GPU 6', 'GPU 7'])
    expect(memory?.limit).toBeUndefined()
  })
  test('only of what was read; without a card the first leads', () => {
    expect(charts([])).toEqual([])
    const found = charts([series('host_memory_available_bytes', {}, 0, [5]), series('host_shm_used_bytes', {}, 0, [5])])
    expect(found.map(({ id, large }) => [id, large])).toEqual([
      ['host-memory', true],
      ['shm', false],
    ])
  })
  test('of the allocator: the process that it hit; kills only where there were some', () => {
    const list = [
      series('allocator_reserved_bytes', { uuid: 'GPU-6', pid: '4242' }, 0, [5]),
      series('allocator_reserved_bytes', { uuid: 'GPU-6', pid: '1' }, 0, [5]),
      series('container_oom_kills_total', { container: 'trainer' }, 0, [0, 0]),
    ]
    expect(charts(list).map(({ id, lines }) => [id, lines.map(({ label }) => label)])).toEqual([['allocator', ['reserved']]])
    const others = charts([...list, series('container_oom_kills_total', { container: 'trainer' }, 0, [0, 1])], { subject: {} })
    expect(others.map(({ id }) => id)).toEqual(['allocator', 'oom-kills'])
    expect(others[0]?.lines.map(({ label }) => label)).toEqual(['reserved, pid 4242', 'reserved, pid 1'])
  })
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
  test('at the fault the table is the agent’s own, with the names that the readings gave', () => {
    expect(at(0)[0]).toEqual([1, 8, undefined])
    expect(processesAt(evidence, FAULT, FAULT)[0]?.process).toBe('python')
  })
  test('without readings the table stands alone, and holds at the fault only', () => {
    const bare = { series: [], processes: evidence.processes }
    expect(processesAt(bare, FAULT, FAULT)[0]?.bytes).toBe(8)
    expect(processesAt(bare, FAULT - 1, FAULT)[0]?.bytes).toBeUndefined()
  })
})
