// Where `warpwatch jobs` reads: the running agent, or its store when none runs.
import { localUrl } from '../../config/listen.ts'
import type { Config } from '../../config/schema.ts'
import type { JobFilter, JobGroup, JobGroupRow, JobRow, Run } from '../../model/job.ts'
import type { WasteGroup, WasteSummary } from '../../model/ledger.ts'
import { askAgent } from '../ask-agent.ts'
import { callAgent } from '../change.ts'
import { UsageError } from '../command.ts'

export type JobReader = {
  /** Who answers, for a person. */
  readonly from: string
  readonly list: (filter: JobFilter) => Promise<readonly JobRow[]>
  readonly groups: (by: JobGroup, filter: Pick<JobFilter, 'since'>) => Promise<readonly JobGroupRow[]>
  /** What was held and not used since then, Unix ms. */
  readonly waste: (since: number, by: WasteGroup) => Promise<WasteSummary>
  /** How far the running jobs are; empty where no agent runs. */
  readonly progress: () => Promise<readonly JobProgressRow[]>
  /** By the id of a job, else the newest of that name; the newest run first. */
  readonly runs: (job: string) => Promise<readonly Run[]>
  /** While an agent runs: what runs has lasted until now. */
  readonly now?: () => number
  readonly close: () => void
}

/** What `jobs` shows of a row of /api/v1/progress; of several ranks the first has it. */
export type JobProgressRow = {
  readonly job: string
  readonly step?: number
  readonly steps?: number
  readonly step_rate?: number
  readonly tokens_rate?: number
  readonly samples_rate?: number
  readonly eta_seconds?: number
}

const MAX_LISTED = 1_000
const ALIVE_WITHIN_MS = 2_000
const has = (value: unknown, field: string): boolean => typeof value === 'object' && value !== null && field in value
const isJob = (value: unknown): value is JobRow => has(value, 'job_id') && has(value, 'last') && has(value, 'gpu_seconds')
const isGroup = (value: unknown): value is JobGroupRow => has(value, 'by') && has(value, 'gpu_seconds')
const isWaste = (value: unknown): value is WasteSummary => has(value, 'host') && has(value, 'rows')
const isProgress = (value: unknown): value is JobProgressRow => has(value, 'job') && has(value, 'last_progress_timestamp_seconds')
const isRun = (value: unknown): value is Run => has(value, 'job_id') && has(value, 'run') && has(value, 'gpus')

function overHttp(config: Config): JobReader {
  const base = localUrl(config.http.listen)
  const listOf = async <T>(path: string, is: (value: unknown) => value is T): Promise<readonly T[]> => {
    const body = await callAgent(config, 'jobs', 'GET', path)
    if (!Array.isArray(body) || !body.every(is))
      throw new UsageError(`jobs: ${base}${path} did not answer with a list of jobs; is the agent of another version? See: warpwatch version`)
    return body
  }
  const query = (filter: Readonly<Record<string, string | number | undefined>>): string => {
    const given = new URLSearchParams()
    for (const [name, value] of Object.entries(filter)) if (value !== undefined) given.set(name, String(value))
    return given.toString()
  }
  const list = (filter: JobFilter) => listOf(`/api/v1/jobs?${query(filter)}`, isJob)
  return {
    from: `the agent at ${base}`,
    now: Date.now,
    list,
    async waste(since, by) {
      const body = await callAgent(config, 'jobs', 'GET', `/api/v1/usage/waste?since=${since}${by === 'user' ? '' : `&by=${by}`}`)
      if (!isWaste(body)) throw new UsageError(`jobs: ${base} did not answer with a summary; is the agent of another version? See: warpwatch version`)
      return body
    },
    groups: (by, { since }) => listOf(`/api/v1/jobs?${query({ by, since })}`, isGroup),
    async runs(job) {
      const id = /^[0-9a-f]{16}$/.test(job) ? job : (await list({ limit: MAX_LISTED })).find((row) => row.job === job)?.job_id
      return id === undefined ? [] : listOf(`/api/v1/jobs/${id}`, isRun).catch(() => [])
    },
    // An agent of an older version has no such list.
    progress: () => listOf('/api/v1/progress', isProgress).catch(() => []),
    close: () => {},
  }
}

export async function openJobs(config: Config): Promise<JobReader> {
  const { http } = config
  const isAlive =
    !http.listen.endsWith(':0') &&
    (await askAgent(`${localUrl(http.listen)}/healthz`, { withinMs: ALIVE_WITHIN_MS }).then(
      () => true,
      () => false,
    ))
  // Opening files loads SQLite, which an epilog beside a running agent need not wait for.
  return isAlive ? overHttp(config) : (await import('./from-file.ts')).overFile(config)
}
