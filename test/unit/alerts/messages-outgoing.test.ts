// What leaves the host: the lines around the fault, the series that shows it, and never more than its bound.
import * as fc from '../../setup/fast-check.ts'
import { describe, expect, test } from 'vitest'
import type { Incident, IncidentSeries } from '../../../agent/model/incident.ts'
import { sparkline, sparkText } from '../../../alerts/messages/sparkline.ts'
import { MOST_BYTES, outgoing } from '../../../alerts/messages/outgoing.ts'
import { gpu, hostOomKill, oom, simulated, T, xid79 } from './messages-scenes.ts'

const line = (n: number, text = `line ${n}`, matched = false) => ({ t: T + n, stream: 'container', text, ...(matched ? { matched: true as const } : {}) })
const withLines = (log_lines: Incident['evidence']['log_lines']): Incident => oom({ evidence: { log_lines, series: [], processes: [] } })
const series = (metric: string, values: readonly (number | undefined)[], labels = {}): IncidentSeries => {
  const read = values.flatMap((value, i) => (value === undefined ? [] : [{ t: T - (values.length - 1 - i) * 1_000, value }]))
  return { metric: `warpwatch_${metric}`, labels, t: read.map(({ t }) => t), value: read.map(({ value }) => value) }
}
const withSeries = (incident: Incident, ...given: readonly IncidentSeries[]): Incident => ({ ...incident, evidence: { ...incident.evidence, series: given } })
const CARD = { gpu: '3', uuid: gpu(3).uuid ?? '' }

describe('log lines', () => {
  test('the marked ones and their neighbours, at most ten, in the order of the log', () => {
    const lines = Array.from({ length: 80 }, (_, i) => line(i, `line ${i}`, i === 40 || i === 60))
    const kept = outgoing(withLines(lines)).evidence.log_lines.map(({ text }) => Number(text.slice(5)))
    expect(kept).toEqual([38, 39, 40, 41, 42, 58, 59, 60, 61, 62])
  })
  test('the last ones where none is marked', () => {
    const kept = outgoing(withLines(Array.from({ length: 30 }, (_, i) => line(i)))).evidence.log_lines
    expect(kept.map(({ text }) => text)).toEqual(Array.from({ length: 10 }, (_, i) => `line ${20 + i}`))
  })
  test('a long line is cut at its end, a traceback at its beginning, as its end names the error', () => {
    const traceback = `Traceback (most recent call last):\n${'  File "train.py", line 1, in step\n'.repeat(30)}ValueError: the last word`
    const [long, trace] = outgoing(withLines([line(0, 'x'.repeat(900), true), line(1, traceback)])).evidence.log_lines
    expect(long?.text).toBe(`${'x'.repeat(399)}…`)
    expect(trace?.text).toHaveLength(400)
    expect(trace?.text).toMatch(/ValueError: the last word$/)
  })
})

describe('the series that shows the fault', () => {
  test('GPU memory of the right card up to the fault, in steps that fit a line', () => {
    const [incident] = simulated('oom-neighbour', 160)
    if (incident === undefined) throw new Error('expected an incident, came none')
    const { spark } = outgoing(incident)
    expect(spark).toMatchObject({ metric: 'warpwatch_gpu_memory_used_bytes', title: 'GPU 6 memory used', unit: 'By', to: incident.started_at })
    expect(spark?.values.length).toBeLessThanOrEqual(60)
    const used = incident.evidence.series.find(({ metric }) => metric === 'warpwatch_gpu_memory_used_bytes')
    const before = used?.value.filter((_, i) => (used.t[i] ?? 0) <= incident.started_at) ?? []
    expect(Math.max(...(spark?.values ?? []).map((value) => value ?? 0))).toBe(Math.max(...before))
  })
  test('another card of the same container is not taken for it', () => {
    const other = series('gpu_memory_used_bytes', [9, 9, 9], { gpu: '5', uuid: gpu(5).uuid ?? '' })
    expect(outgoing(withSeries(oom(), other, series('gpu_memory_used_bytes', [1, 2, 3], CARD))).spark?.values).toEqual([1, 2, 3])
    expect(outgoing(withSeries(oom(), other)).spark).toBeUndefined()
  })
  test('what came after the fault is not drawn, and where nothing was read there is null', () => {
    const used = series('gpu_memory_used_bytes', [1, 2, undefined, undefined, 5], CARD)
    const { spark } = outgoing(withSeries(oom(), { ...used, t: [...used.t, T + 1_000], value: [...used.value, 99] }))
    expect(spark?.values).toEqual([1, 2, null, null, 5])
    expect(spark).toMatchObject({ from: T - 4_000, to: T })
  })
  test('a card that fell silent before its fault shows that', () => {
    const { spark } = outgoing(withSeries(xid79(3), series('gpu_utilization_ratio', [1, 1, 1, undefined, undefined, undefined], CARD)))
    expect(spark?.values).toEqual([1, 1, 1, null, null, null])
  })
  test('slow readings have no gaps between them', () => {
    const slow = { metric: 'warpwatch_gpu_temperature_celsius', labels: CARD, t: [T - 30_000, T - 20_000, T - 10_000, T], value: [60, 70, 80, 90] }
    const hot: Incident = { ...oom(), kind: 'throttling', facts: { active_reasons: ['hw_thermal_slowdown'] } }
    expect(outgoing(withSeries(hot, slow)).spark?.values).toEqual([60, 70, 80, 90])
  })
  test('host memory for a kill by the kernel: of the container, else of the host', () => {
    const [own, free] = [series('container_memory_bytes', [1, 2]), series('host_memory_available_bytes', [8, 7])]
    expect(outgoing(withSeries(hostOomKill(), free, own)).spark?.metric).toBe('warpwatch_container_memory_bytes')
    expect(outgoing(withSeries(hostOomKill(), free)).spark?.title).toBe('memory available on the host')
  })
})

test('never more than its bound, whatever comes; who it is stays whole', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom('\u0000', '\\', '"', '漢', '😀').map((char) => char.repeat(9_000)),
  )
  const list = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<readonly Value[]> => fc.array(arbitrary, { maxLength: 60 })
  const hostile = fc.record({
    title: text,
    verdict: text,
    resolution: text,
    facts: fc.record({ jobs: list(text), affected: list(text), other_processes: list(fc.record({ pid: fc.nat(), bytes: fc.nat() })), path: text }),
    remedies: list(fc.record({ text, command: text })),
    consequences: list(text.map((title) => ({ ...oom(), title, verdict: title, container: title, first_seen_at: 0, last_seen_at: 0, count: 1 }))),
    led_to: list(fc.record({ id: text, kind: fc.constant('xid' as const) })),
    lines: list(fc.record({ t: fc.nat(), stream: text, origin: text, text, matched: fc.constant(true as const) })),
    container: fc.record({ name: text, image: text, namespace: text, pod: text }),
    values: fc.array(fc.double({ noNaN: true }), { minLength: 2, maxLength: 150 }),
  })
  fc.assert(
    fc.property(hostile, ({ lines, container, values, ...words }) => {
      const incident: Incident = {
        ...oom(words),
        subject: { container, gpu: gpu(3) },
        evidence: { log_lines: lines, series: [series('gpu_memory_used_bytes', values, CARD)], processes: [] },
      }
      const sent = outgoing(incident)
      expect(Buffer.byteLength(JSON.stringify(sent))).toBeLessThanOrEqual(MOST_BYTES)
      expect(sent).toMatchObject({ id: incident.id, kind: 'cuda_oom', status: 'firing', severity: incident.severity, started_at: T })
      expect(sent.subject.gpu).toEqual(gpu(3))
    }),
    { numRuns: 30 },
  )
})

test('what is too long is cut only as far as it must be', () => {
  const sent = outgoing(oom({ verdict: 'x'.repeat(9_000), remedies: Array.from({ length: 60 }, () => ({ text: 'y'.repeat(900) })) }))
  expect(sent.verdict.length).toBeGreaterThanOrEqual(400)
  expect(sent.remedies.length).toBeGreaterThanOrEqual(6)
})

test('a real incident loses nothing but the evidence', () => {
  const [incident] = simulated('oom-neighbour', 160)
  if (incident === undefined) throw new Error('expected an incident, came none')
  const { evidence: _, ...words } = incident
  const { evidence, spark, ...sent } = outgoing(incident)
  expect(sent).toEqual(words)
  expect(evidence.log_lines.some(({ matched }) => matched === true)).toBe(true)
  expect(spark).toBeDefined()
})

test('sparklines as people read them', () => {
  expect(sparkline([0, 50, null, 100])).toBe('▁▅·█')
  expect(sparkline([0.95, 1], '1')).toBe('██')
  expect(sparkline([700, 701])).toBe('▁▁')
  const spark = { metric: 'm', title: 'GPU 3 memory used', unit: 'By', from: 0, to: 120_000, values: [2 ** 30, 2 ** 31] }
  expect(sparkText(spark)).toEqual({ title: 'GPU 3 memory used, the 2 min before', line: '▁█  1 GiB to 2 GiB' })
})
