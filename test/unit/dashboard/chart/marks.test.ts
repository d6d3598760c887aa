// What is marked on the charts of a GPU or a job: its incidents, restarts of its containers, and containers that took another's place.
import { expect, test } from 'vitest'
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import type { SeriesRow } from '../../../../agent/model/live.ts'
import { incidentMarks, near, restartMarks } from '../../../../dashboard/src/parts/chart/tools/mark-list.ts'

const incident = (more: Partial<IncidentSummary>): IncidentSummary => ({
  id: 'a',
  kind: 'cuda_oom',
  severity: 'critical',
  status: 'firing',
  title: 'trainer ran out of memory on GPU 3',
  verdict: '',
  facts: {},
  subject: { gpu: { uuid: 'GPU-3', index: 3 }, container: { name: 'trainer' } },
  remedies: [],
  started_at: 100_000,
  last_seen_at: 100_000,
  count: 1,
  consequences: [],
  evidence: { log_lines: [] },
  ...more,
})
const series = (labels: Record<string, string>, max: readonly (number | null)[], from = 0): SeriesRow => ({
  metric: 'warpwatch_container_restarts_total',
  labels,
  step_ms: 10_000,
  t: max.map((_, i) => (from + i * 10) * 1000),
  min: max,
  mean: max,
  max,
})

test('an incident is marked on its GPU and its job, where it began and where it was last seen', () => {
  const about = ['gpu GPU-3', 'job trainer']
  const text = 'trainer ran out of memory on GPU 3'
  expect(incidentMarks([incident({})])).toEqual([{ second: 100, kind: 'critical', text, about }])
  expect(incidentMarks([incident({ count: 4, last_seen_at: 400_000 })])).toEqual([
    { second: 100, kind: 'critical', text, about },
    { second: 400, kind: 'critical', text: `${text} (4 times)`, about },
  ])
})
test('one of the host alone is on no chart of a GPU or job', () => {
  expect(incidentMarks([incident({ subject: { host: { name: 'gpu-1' } } })])).toEqual([])
})
test('one of a container without a GPU is marked wherever that container is', () => {
  const subject = { container: { name: 'trainer', namespace: 'lab', pod: 'trainer-0' } }
  expect(incidentMarks([incident({ subject })])).toMatchObject([{ about: ['job lab/trainer-0'], container: 'lab/trainer-0/trainer' }])
})
test('a counter of restarts that rises is a restart; one that is not read, or begins, is none', () => {
  const rows = [series({ container: 'trainer', container_id: 'c1' }, [null, 2, 2, null, 3, 3, 0])]
  expect(restartMarks(rows)).toEqual([{ second: 40, kind: 'restart', text: 'trainer restarted', about: ['job trainer'], container: 'trainer' }])
})
test('another container under the same name is a new one, with another image a deployment', () => {
  const rows = [
    series({ container: 'api', container_id: 'c2', image: 'api:2' }, [0, 0], 100),
    series({ container: 'api', container_id: 'c1', image: 'api:1' }, [0, 0, 0], 0),
    series({ container: 'api', container_id: 'c3', image: 'api:2' }, [0], 300),
  ]
  expect(restartMarks(rows).map(({ second, text }) => [second, text])).toEqual([
    [100, 'api deployed: api:2'],
    [300, 'api recreated'],
  ])
})
test('near a second are those within reach, the nearest first', () => {
  const marks = incidentMarks([100, 108, 111, 200].map((second) => incident({ started_at: second * 1000, last_seen_at: second * 1000 })))
  expect(near(marks, 110, 10).map(({ second }) => second)).toEqual([111, 108, 100])
})
