// An incident with what a test says of it.
import type { IncidentSummary } from '../../../agent/model/incident.ts'

export const incident = (
  given: Pick<IncidentSummary, 'id' | 'kind' | 'title' | 'subject' | 'started_at' | 'last_seen_at'> & Partial<IncidentSummary>,
): IncidentSummary => ({
  severity: 'critical',
  status: 'firing',
  verdict: 'It failed.',
  facts: {},
  remedies: [],
  count: 1,
  consequences: [],
  evidence: { log_lines: [] },
  ...given,
})
