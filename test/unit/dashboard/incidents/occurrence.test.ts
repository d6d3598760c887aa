// The incident page shows one occurrence at a time: the newest, or the one that the address names.
import { expect, test } from 'vitest'
import type { Incident, IncidentSeries, Occurrence } from '../../../../agent/model/incident.ts'
import { areAllKept, atOccurrence, choicesOf } from '../../../../dashboard/src/features/incidents/page/occurrence.ts'

const series = (pid: number, value: readonly number[]): IncidentSeries => ({
  metric: 'warpwatch_process_gpu_memory_bytes',
  labels: { uuid: 'GPU-3', pid: String(pid) },
  t: value.map((_, i) => i * 1000),
  value,
})
const earlier = (at: number, pid: number): Occurrence => ({
  at,
  pid,
  title: `failed at ${at}`,
  verdict: `verdict of ${at}`,
  facts: { pid, requested_bytes: at },
  log_lines: [{ t: at, stream: 'stdout', text: `line of ${at}`, matched: true }],
  series: [series(pid, [at, at + 5])],
})
const incident: Incident = {
  id: '0123456789abcdef',
  kind: 'cuda_oom',
  severity: 'critical',
  status: 'firing',
  title: 'failed now',
  verdict: 'verdict of now',
  confidence: 'read',
  facts: { pid: 9, requested_bytes: 99 },
  subject: { gpu: { uuid: 'GPU-3', index: 3 }, container: { name: 'trainer' }, process: { pid: 9, name: 'python' } },
  remedies: [],
  started_at: 1_000,
  occurred_at: 9_000,
  last_seen_at: 9_000,
  count: 5,
  occurrences: [earlier(6_000, 7), earlier(3_000, 5)],
  consequences: [],
  evidence: { log_lines: [{ t: 9_000, stream: 'stdout', text: 'now' }], series: [series(9, [80, 90]), series(1, [500])], processes: [] },
}

test('choices are the newest first, each with its process and the most that it held', () => {
  expect(choicesOf(incident)).toEqual([
    { at: 9_000, pid: 9, peakBytes: 90 },
    { at: 6_000, pid: 7, peakBytes: 6_005 },
    { at: 3_000, pid: 5, peakBytes: 3_005 },
  ])
})
test('one that is named has its own verdict, figures, log and readings, and no process of another', () => {
  const { incident: then, earlier: is } = atOccurrence(incident, '6000')
  expect(is).toBe(true)
  expect([then.title, then.verdict, then.occurred_at, then.facts]).toEqual(['failed at 6000', 'verdict of 6000', 6_000, { pid: 7, requested_bytes: 6_000 }])
  expect(then.subject.process).toEqual({ pid: 7 })
  expect(then.evidence.log_lines.map(({ text }) => text)).toEqual(['line of 6000'])
  expect(then.evidence.series).toEqual([series(7, [6_000, 6_005])])
  expect(then.confidence).toBeUndefined()
})
test.each([undefined, '', '6001', '9000', 'x'])('%j is the newest', (asked) => {
  expect(atOccurrence(incident, asked)).toEqual({ incident, earlier: false })
})
test.each([
  ['the first began with the incident, whatever is counted', { occurrences: [earlier(6_000, 7), earlier(1_000, 5)] }, true],
  ['it has occurred once', { occurrences: [], occurred_at: 1_000 }, true],
  ['the oldest that is kept came later', {}, false],
])('whether every occurrence is kept: %s', (_, change, kept) => {
  expect(areAllKept({ ...incident, ...change })).toBe(kept)
})
