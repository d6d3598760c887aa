// Where `warpwatch jobs` reads: the running agent, or its store when none runs.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { localUrl } from '../../config/listen.ts'
import type { Config } from '../../config/schema.ts'
import { heldOf, MOST_WASTE_JOBS, wasteOf } from '../../jobs/ledger/waste.ts'
import type { JobFilter, JobGroup, JobGroupRow, JobRow, Run } from '../../model/job.ts'
import type { WasteGroup, WasteSummary } from '../../model/ledger.ts'
import { JOBS_FILE, openJobFile } from '../../store/jobs/file.ts'
import { openLedgerFile } from '../../store/ledger/file.ts'
import { LEDGER_FILE } from '../../store/ledger/schema.ts'
import { groupsWithUse } from '../../store/ledger/groups.ts'
import { messageOf } from '../../text/error.ts'
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
const MAX_RUNS = 100
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

function overFile({ data_dir: directory, costs, host_name: host }: Config): JobReader {
  const spanTo = (since: number) => ({ host, from: since, to: Date.now() })
  const path = join(directory, JOBS_FILE)
  if (!existsSync(path))
    return {
      from: `${path}, which does not exist; no agent runs`,
      list: async () => [],
      groups: async () => [],
      runs: async () => [],
      waste: async (since) => ({ ...spanTo(since), rows: [] }),
      progress: async () => [],
      close: () => {},
    }
  try {
    const file = openJobFile(directory)
    const ledger = existsSync(join(directory, LEDGER_FILE)) ? openLedgerFile(directory) : undefined
    return {
      from: `${path} (no agent runs)`,
      list: async (filter) => file.list(filter),
      groups: async (by, filter) => groupsWithUse(by, file.groups(by, filter), ledger?.sums(by, filter.since ?? 0, Number.MAX_SAFE_INTEGER) ?? []),
      runs: async (job) => file.runs(job, MAX_RUNS),
      async waste(since, by) {
        const span = spanTo(since)
        return wasteOf((ledger?.held(since, span.to, by) ?? []).map(heldOf), file.list({ since, limit: MOST_WASTE_JOBS }), costs, span, by)
      },
      progress: async () => [],
      close() {
        file.close()
        ledger?.close()
      },
    }
  } catch (error) {
    throw new UsageError(`jobs: ${path}: the jobs cannot be read: ${messageOf(error)}`, { cause: error })
  }
}

export async function openJobs(config: Config): Promise<JobReader> {
  const { http } = config
  const isAlive =
    !http.listen.endsWith(':0') &&
    (await fetch(`${localUrl(http.listen)}/healthz`, { signal: AbortSignal.timeout(2_000) }).then(
      () => true,
      () => false,
    ))
  return isAlive ? overHttp(config) : overFile(config)
}
