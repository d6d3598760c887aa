// What may be in the query and the path of the API's GETs, for its OpenAPI description.
import * as z from 'zod'
import { INCIDENT_STATUSES } from '../../model/incident.ts'
import { JOB_GROUPS } from '../../model/job.ts'
import { WASTE_GROUPS } from '../../model/ledger.ts'
import { INCIDENT_KINDS } from '../../model/kinds.ts'
import { DEFAULT_LIMIT, MAX_LIMIT } from './incidents.ts'
import { DEFAULT_JOBS, MAX_JOBS } from './jobs.ts'
import { seriesQuery } from './series-query.ts'

function seriesParameters(): readonly unknown[] {
  const properties = z.toJSONSchema(seriesQuery, { target: 'draft-2020-12', io: 'input' })['properties'] ?? {}
  const described = Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: name === 'metric', schema }))
  const others = {
    name: 'labels',
    in: 'query',
    description: 'Any other name filters by the label of that name.',
    style: 'form',
    explode: true,
    schema: { type: 'object', additionalProperties: { type: 'string' } },
  }
  return [...described, others]
}

export const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string', pattern: '^[0-9a-f]{16}$' } }
export const JOB_ID = {
  ...ID,
  description: 'Of a Slurm job also `slurm:` and its number.',
  schema: { type: 'string', pattern: '^([0-9a-f]{16}|slurm:[0-9]{1,12}(_[0-9]{1,9})?)$' },
}
function incidentParameters(): readonly unknown[] {
  return [
    { name: 'status', in: 'query', schema: { type: 'string', enum: INCIDENT_STATUSES } },
    { name: 'kind', in: 'query', schema: { type: 'string', enum: INCIDENT_KINDS } },
    { name: 'since', in: 'query', description: 'Last seen at or after, Unix ms.', schema: { type: 'integer', minimum: 0 } },
    { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT } },
  ]
}
function jobParameters(): readonly unknown[] {
  return [
    { name: 'since', in: 'query', description: 'Only runs that ran at or after, Unix ms.', schema: { type: 'integer', minimum: 0 } },
    { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: MAX_JOBS, default: DEFAULT_JOBS } },
    { name: 'by', in: 'query', description: 'Sums by this instead of jobs.', schema: { type: 'string', enum: JOB_GROUPS } },
  ]
}
/** Of a GET; undefined: it takes none. */
export function parametersOf(path: string): readonly unknown[] | undefined {
  if (path === '/api/v1/series') return seriesParameters()
  if (path === '/api/v1/incidents') return incidentParameters()
  if (path === '/api/v1/jobs') return jobParameters()
  if (path === '/api/v1/usage/waste')
    return [
      { name: 'days', in: 'query', description: 'Default 1.', schema: { type: 'integer', minimum: 1, maximum: 31 } },
      { name: 'by', in: 'query', description: 'Default user.', schema: { type: 'string', enum: WASTE_GROUPS } },
      { name: 'since', in: 'query', description: 'In place of days: since then, Unix ms; at most 31 days ago.', schema: { type: 'integer', minimum: 0 } },
    ]
  const container = { ...ID, schema: { type: 'string', pattern: '^[0-9a-f]{12,64}$' } }
  const after = { name: 'after', in: 'query', description: '`next` of the answer before: only newer lines.', schema: { type: 'integer', minimum: 0 } }
  if (path === '/api/v1/containers/{id}/log') return [container, after]
  if (path.startsWith('/api/v1/containers/')) return [container]
  if (path === '/api/v1/jobs/{id}') return [JOB_ID]
  return path.includes('{id}') ? [ID] : undefined
}
