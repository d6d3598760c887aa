// What `warpwatch status` asks of the agent: is it well, what does it see, what fires.
import type { Config } from '../../config/schema.ts'
import { localUrl } from '../../config/listen.ts'
import type { IncidentSummary } from '../../model/incident.ts'
import type { GpuRow } from '../../model/live.ts'
import type { JobRow } from '../../model/job.ts'
import type { NotifierRow } from '../../model/notification.ts'
import { messageOf } from '../../text/error.ts'
import { callAgent } from '../change.ts'
import { isSummary } from '../incidents/is-summary.ts'

export type Look = {
  readonly host: string
  readonly url: string
  readonly gpus: readonly GpuRow[]
  readonly running: number
  readonly firing: readonly IncidentSummary[]
  readonly notifiers: readonly NotifierRow[]
  /** Why it does not sample; undefined where it does. */
  readonly notReady?: string
  readonly sampleAgeMs?: number
}
/** Why nothing could be learned of the agent. */
export type NoLook = { readonly url: string; readonly problem: string }

const ANSWER_WITHIN_MS = 5_000
const MAX_FIRING = 100

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined
const has =
  (...names: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' && value !== null && names.every((name) => name in value)
const isGpu = (value: unknown): value is GpuRow => has('uuid', 'index')(value)
const isJob = (value: unknown): value is JobRow => has('job_id', 'running', 'last')(value)
const isNotifier = (value: unknown): value is NotifierRow => has('name', 'status', 'waiting')(value)
const rowsOf = <T>(value: unknown, is: (row: unknown) => row is T): readonly T[] => (Array.isArray(value) ? value.filter(is) : [])

/** 503 is an answer too. */
async function readinessOf(config: Config): Promise<unknown> {
  const response = await fetch(`${localUrl(config.http.listen)}/readyz`, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) })
  return response.json()
}

export async function lookAt(config: Config): Promise<Look | NoLook> {
  const url = localUrl(config.http.listen)
  const ask = (path: string): Promise<unknown> => callAgent(config, 'status', 'GET', `/api/v1/${path}`)
  try {
    // One after the other would wait for each; the first that fails says why for all.
    const [host, gpus, jobs, firing, notifiers, ready] = await Promise.all([
      ask('host'),
      ask('gpus'),
      ask('jobs?limit=1000'),
      ask(`incidents?status=firing&limit=${MAX_FIRING}`),
      ask('notifiers'),
      readinessOf(config),
    ])
    const [name, reason, age] = [memberOf(host, 'hostname'), memberOf(ready, 'reason'), memberOf(ready, 'newest_sample_age_ms')]
    return {
      host: typeof name === 'string' ? name : config.host_name,
      url,
      gpus: rowsOf(gpus, isGpu),
      running: rowsOf(jobs, isJob).reduce((sum, { running }) => sum + running, 0),
      firing: rowsOf(firing, isSummary),
      notifiers: rowsOf(notifiers, isNotifier),
      ...(typeof reason === 'string' ? { notReady: reason } : {}),
      ...(typeof age === 'number' ? { sampleAgeMs: age } : {}),
    }
  } catch (error) {
    return { url, problem: messageOf(error).replace(/^status: /, '') }
  }
}
