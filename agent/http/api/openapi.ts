// The description of the API (OpenAPI 3.1), made from the schemas that the answers are tested against.
import * as z from 'zod'
import { VERSION } from '../../lib/version.ts'
import { INCIDENT_KINDS } from '../../model/kinds.ts'
import { fitPath } from './fit-openapi.ts'
import { room } from './fit-schemas.ts'
import { hostEntry, hostSummary } from './host-schemas.ts'
import { doctorReport } from './doctor-schemas.ts'
import { incident, incidentSummary, settings } from './incident-schemas.ts'
import { execTaken, execReport, jobsAnswer, run, waste } from './job-schemas.ts'
import { newSilence, silence, word } from './maintenance-schemas.ts'
import { RELOAD_PATH } from '../guards.ts'
import { notifierRow, notifierTest, retried, testWanted } from './notifier-schemas.ts'
import { elsewherePaths } from './openapi-elsewhere.ts'
import { ID, JOB_ID, parametersOf } from './openapi-parameters.ts'
import * as schemas from './schemas.ts'

type Endpoint = {
  readonly path: string
  /** Generated clients name their functions by it: unique, and never changed. */
  readonly operationId: string
  readonly summary: string
  readonly schema: z.ZodType
  readonly list?: true
  readonly status?: readonly number[]
}

/** Every JSON path with the schema of its answer; arrays are lists of it. */
export const ENDPOINTS: readonly Endpoint[] = [
  { path: '/api/v1/host', operationId: 'getHost', summary: 'The host now', schema: schemas.host },
  { path: '/api/v1/summary', operationId: 'getSummary', summary: 'The host now, in one row', schema: hostSummary },
  { path: '/api/v1/hosts', operationId: 'listHosts', summary: 'This host and the others that it shows, a row each', schema: hostEntry, list: true },
  { path: '/api/v1/gpus', operationId: 'listGpus', summary: 'The GPUs now, those that are lost too', schema: schemas.gpu, list: true },
  { path: '/api/v1/containers', operationId: 'listContainers', summary: 'The containers now', schema: schemas.container, list: true },
  {
    path: '/api/v1/containers/{id}/settings',
    operationId: 'getContainerSettings',
    summary: 'What a container was started with, as its engine reports it',
    schema: settings,
  },
  {
    path: '/api/v1/containers/{id}/log',
    operationId: 'getContainerLog',
    summary: 'The last lines of a container’s log, secrets removed',
    schema: schemas.logTail,
  },
  { path: '/api/v1/processes', operationId: 'listProcesses', summary: 'The processes that hold GPU memory now', schema: schemas.process, list: true },
  { path: '/api/v1/allocators', operationId: 'listAllocators', summary: 'Caching allocators that a probe reports', schema: schemas.allocator, list: true },
  { path: '/api/v1/progress', operationId: 'listProgress', summary: 'How far the running jobs are, as their logs say', schema: schemas.progress, list: true },
  { path: '/api/v1/servers', operationId: 'listServers', summary: 'Inference servers found on this host', schema: schemas.server, list: true },
  { path: '/api/v1/gaps', operationId: 'listGaps', summary: 'All that cannot be read now, and why', schema: schemas.gap, list: true },
  { path: '/api/v1/sources', operationId: 'listSources', summary: 'What each source said last', schema: schemas.source, list: true },
  { path: '/api/v1/series', operationId: 'querySeries', summary: 'History of a metric', schema: schemas.series, list: true },
  { path: '/api/v1/incidents', operationId: 'listIncidents', summary: 'Incidents, newest first', schema: incidentSummary, list: true },
  { path: '/api/v1/incidents/{id}', operationId: 'getIncident', summary: 'One incident with its evidence', schema: incident },
  {
    path: '/api/v1/jobs',
    operationId: 'listJobs',
    summary: 'Jobs with the sums of their runs: running ones first, then the newest',
    schema: jobsAnswer,
    list: true,
  },
  { path: '/api/v1/jobs/{id}', operationId: 'listJobRuns', summary: 'The runs of one job, newest first', schema: run, list: true },
  {
    path: '/api/v1/usage/waste',
    operationId: 'getWaste',
    summary: 'What was held and not used in the last days, by user, namespace or account',
    schema: waste,
  },
  { path: '/api/v1/silences', operationId: 'listSilences', summary: 'Silences that hold now, newest first', schema: silence, list: true },
  { path: '/api/v1/notifiers', operationId: 'listNotifiers', summary: 'Status of each notifier', schema: notifierRow, list: true },
  {
    path: '/api/v1/doctor',
    operationId: 'runDoctor',
    summary: 'What is wrong with driver, toolkit, engines and containers, and how to fix it; at most ten seconds old',
    schema: doctorReport,
  },
  { path: '/api/v1/fit/gpus', operationId: 'listFitGpus', summary: 'What each GPU has left for a model', schema: room, list: true },
  { path: '/healthz', operationId: 'checkLiveness', summary: 'The process lives', schema: schemas.health },
  { path: '/readyz', operationId: 'checkReadiness', summary: 'It samples (503 and the reason when not)', schema: schemas.readiness, status: [503] },
]

const json = (schema: unknown, description: string): unknown => ({ description, content: { 'application/json': { schema } } })

const reference = (id: string): string => `#/components/schemas/${id}`

/** All schemas that have a name, as components that refer to each other; open to new fields, as answers may gain some. */
function componentSchemas(): Record<string, unknown> {
  const { schemas: found } = z.toJSONSchema(z.globalRegistry, { target: 'draft-2020-12', io: 'input', uri: reference })
  const components: Record<string, unknown> = {}
  for (const [id, schema] of Object.entries(found)) {
    const { $schema: _dialect, $id: _id, id: _name, ...rest } = schema
    components[id] = rest
  }
  return components
}

const idOf = (schema: z.ZodType): string => {
  const id = schema.meta()?.id
  if (id === undefined) throw new Error('a schema of an endpoint has no id: add .meta({ id })')
  return id
}
const refTo = (schema: z.ZodType): unknown => ({ $ref: reference(idOf(schema)) })

/** What changes something: only as JSON, from this origin, and with the token where one is set. */
function addWrites(paths: Record<string, unknown>): void {
  const body = (schema: z.ZodType): unknown => ({ required: true, content: { 'application/json': { schema: refTo(schema) } } })
  const refused = (...codes: readonly (readonly [string, string])[]): Record<string, unknown> =>
    Object.fromEntries(
      [
        ...codes,
        ['401', 'A token is needed'],
        ['403', 'Another origin, or a port that is open to other hosts and has no token'],
        ['415', 'It is not JSON'],
      ].map(([code = '', text = '']) => [code, json(refTo(schemas.error), text)]),
    )
  const bad = ['400', 'The body is wrong'] as const
  const none = ['404', 'There is none of that id'] as const
  const notifierName = { name: 'name', in: 'path', required: true, schema: { type: 'string' } }
  const silences = paths['/api/v1/silences']
  paths['/api/v1/silences'] = {
    ...(typeof silences === 'object' ? silences : {}),
    post: {
      operationId: 'createSilence',
      summary: 'Silence incidents for a time',
      requestBody: body(newSilence),
      responses: { '201': json(refTo(silence), 'The silence'), ...refused(bad, ['409', 'There are too many']) },
    },
  }
  const silenceId = { ...ID, schema: { type: 'string' } }
  paths['/api/v1/silences/{id}'] = {
    delete: {
      operationId: 'deleteSilence',
      summary: 'End a silence',
      parameters: [silenceId],
      responses: { '204': { description: 'It is over' }, ...refused(none) },
    },
  }
  paths['/api/v1/incidents/{id}/ack'] = {
    post: {
      operationId: 'acknowledgeIncident',
      summary: 'Acknowledge an incident',
      parameters: [ID],
      requestBody: body(word),
      responses: { '200': json(refTo(incident), 'The incident'), ...refused(bad, none) },
    },
  }
  paths['/api/v1/incidents/{id}/resolve'] = {
    post: {
      operationId: 'resolveIncident',
      summary: 'Declare healthy what was repaired; a fault that still shows, unchanged, does not fire again',
      parameters: [ID],
      requestBody: body(word),
      responses: { '200': json(refTo(incident), 'The incident'), ...refused(bad, none, ['409', 'It does not fire']) },
    },
  }
  paths['/api/v1/notifiers/{name}/test'] = {
    post: {
      operationId: 'testNotifier',
      summary: 'Send a test message, and wait for what the receiver says',
      parameters: [notifierName],
      requestBody: body(testWanted),
      responses: { '200': json(refTo(notifierTest), 'What came of it, well or not'), ...refused(bad, none) },
    },
  }
  paths['/api/v1/jobs/exec'] = {
    post: {
      operationId: 'createExecEvent',
      summary: 'A command under `warpwatch exec` began or ended',
      requestBody: body(execReport),
      responses: { '200': json(refTo(execTaken), 'It was taken'), ...refused(bad) },
    },
  }
  paths[RELOAD_PATH] = {
    post: {
      operationId: 'reloadConfig',
      summary: 'Read the configuration again, as on SIGHUP',
      responses: {
        '200': json(refTo(schemas.reloaded), 'What is in effect now, and what needs a restart'),
        ...refused(['422', 'The configuration is wrong; the old one stays in force']),
      },
    },
  }
  paths['/api/v1/notifiers/{name}/retry'] = {
    post: {
      operationId: 'retryNotifier',
      summary: 'Try again what was set aside',
      parameters: [notifierName],
      requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
      responses: { '200': json(refTo(retried), 'How many messages are tried again'), ...refused(none) },
    },
  }
}

/** What answers in text about one incident or job. */
const TEXTS = [
  ['/api/v1/incidents/{id}/report', 'getIncidentReport', 'One incident as Markdown, to paste into a ticket', 'text/markdown', 'incident', ID],
  ['/api/v1/jobs/{id}/report', 'getJobReport', 'The newest run of one job as Markdown, to paste into a ticket', 'text/markdown', 'job', JOB_ID],
  ['/api/v1/jobs/{id}/line', 'getJobLine', 'What the newest run of one job used, in one line, for the epilog of a scheduler', 'text/plain', 'job', JOB_ID],
] as const

export function createOpenApi(): unknown {
  const paths: Record<string, unknown> = {}
  for (const { path, operationId, summary, schema, list, status } of ENDPOINTS) {
    const body = list === true ? { type: 'array', items: refTo(schema) } : refTo(schema)
    const responses: Record<string, unknown> = { '200': json(body, summary) }
    for (const code of status ?? []) responses[String(code)] = json(body, summary)
    if (['/api/v1/series', '/api/v1/incidents', '/api/v1/jobs', '/api/v1/usage/waste'].includes(path))
      responses['400'] = json(refTo(schemas.error), 'The query is wrong')
    if (path === '/api/v1/containers/{id}/log') {
      responses['400'] = json(refTo(schemas.error), 'The query is wrong')
      responses['403'] = json(refTo(schemas.error), 'A port that is open to other hosts and has no token')
    }
    if (path.includes('{id}')) responses['404'] = json(refTo(schemas.error), 'There is none of that id')
    if (path.startsWith('/api/')) responses['401'] = json(refTo(schemas.error), 'A token is needed')
    const parameters = parametersOf(path)
    paths[path] = { get: { operationId, summary, ...(parameters === undefined ? {} : { parameters }), responses } }
  }
  for (const [path, operationId, summary, type, of, id] of TEXTS)
    paths[path] = {
      get: {
        operationId,
        summary,
        parameters: [id],
        responses: {
          '200': { description: summary, content: { [type]: { schema: { type: 'string' } } } },
          '401': json(refTo(schemas.error), 'A token is needed'),
          '404': json(refTo(schemas.error), `There is no such ${of}`),
        },
      },
    }
  paths['/api/v1/fit'] = fitPath({ json, refTo })
  addWrites(paths)
  Object.assign(paths, elsewherePaths({ error: (description) => json(refTo(schemas.error), description) }))
  const page = { 'text/markdown': { schema: { type: 'string' } } }
  paths['/runbooks'] = {
    get: { operationId: 'listRunbooks', summary: 'The runbooks that there are', responses: { '200': { description: 'A list', content: page } } },
  }
  paths['/runbooks/{kind}'] = {
    get: {
      operationId: 'getRunbook',
      summary: 'What a kind of incident means, and what to do',
      parameters: [{ name: 'kind', in: 'path', required: true, schema: { type: 'string', enum: INCIDENT_KINDS } }],
      responses: { '200': { description: 'The page', content: page }, '404': json(refTo(schemas.error), 'There is no such page') },
    },
  }
  paths['/metrics'] = {
    get: {
      operationId: 'getMetrics',
      summary: 'Prometheus text, or OpenMetrics when asked for',
      responses: {
        '200': {
          description: 'The latest values',
          content: { 'text/plain': { schema: { type: 'string' } }, 'application/openmetrics-text': { schema: { type: 'string' } } },
        },
      },
    },
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Warpwatch',
      version: VERSION,
      description: 'Flight recorder for GPU hosts. Times are Unix milliseconds, memory is bytes.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    security: [{}, { token: [] }],
    components: { schemas: componentSchemas(), securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    paths,
  }
}
