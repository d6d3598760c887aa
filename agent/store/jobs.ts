// Keeps the runs of all jobs: on disk as soon as they change, in memory while the disk cannot be written.
import type { JobsView, StoredAs, StoredRun } from '../model/job.ts'
import type { Log } from '../model/source.ts'
import { openDurable } from './durable.ts'
import { openMemoryDatabase } from './open-database.ts'
import { JOBS_FILE, JOBS_SCHEMA, jobsIn, type JobFile } from './jobs/file.ts'

export type JobStore = JobsView & {
  /** On disk before it returns, unless the disk is lost. */
  readonly save: (runs: readonly StoredRun[]) => void
  /** The number of the next run of a job. */
  readonly nextRun: (jobId: string) => number
  /** Those that were running when the agent ended. */
  readonly open: () => readonly StoredRun[]
  /** Once a second: writes again what could not be written, keeps the bound. */
  readonly maintain: (now: number) => void
  readonly close: () => void
}

/** About 1 KB each. */
const MAX_RUNS = 20_000
/** In memory while there is no disk. */
const MAX_WAITING = 1_000
const TRIM_EVERY_MS = 60_000

const keyOf = ({ job_id: id, run }: StoredAs): string => `${id} ${run}`

export function createJobStore({ directory, log, maxRuns = MAX_RUNS }: { readonly directory: string; readonly log: Log; readonly maxRuns?: number }): JobStore {
  let trimmedAt = 0
  /** What is not on disk, newest last. */
  const waiting = new Map<string, StoredRun>()
  /** Numbers given out: a run that was opened is stored a moment later. */
  const given = new Map<string, number>()
  const durable = openDurable({
    directory,
    file: JOBS_FILE,
    log,
    what: 'jobs',
    schema: JOBS_SCHEMA,
    cacheKib: 256,
    prepare: jobsIn,
    onOpen(file, { previous }) {
      if (previous !== undefined) log.info(`jobs: ${file.takeOver(previous)} runs were taken over into the new file`)
      file.put([...waiting.values()])
      waiting.clear()
    },
  })
  /** Stands in while the disk is lost. */
  let spare: JobFile | undefined
  const ask = <T>(question: (file: JobFile) => T, otherwise: T): T =>
    durable.degraded() !== undefined && spare !== undefined ? question(spare) : durable.read(question, otherwise)
  return {
    save(runs) {
      for (const stored of runs) {
        const key = keyOf(stored.row)
        const former = [...(waiting.get(key)?.former ?? []), ...(stored.former ?? [])]
        for (const one of former) waiting.delete(keyOf(one))
        waiting.delete(key)
        waiting.set(key, former.length === 0 ? stored : { ...stored, former })
      }
      if (waiting.size === 0) return
      if (durable.use((file) => file.put([...waiting.values()]))) {
        waiting.clear()
        spare = undefined
        return
      }
      spare ??= jobsIn(openMemoryDatabase(JOBS_SCHEMA))
      spare.put(runs)
      for (const oldest of waiting.keys()) {
        if (waiting.size <= MAX_WAITING) break
        waiting.delete(oldest)
      }
    },
    nextRun(jobId) {
      const next = Math.max(
        ask((file) => file.nextRun(jobId), 1),
        (given.get(jobId) ?? 0) + 1,
      )
      given.delete(jobId)
      given.set(jobId, next)
      const oldest = given.size > MAX_RUNS ? given.keys().next().value : undefined
      if (oldest !== undefined) given.delete(oldest)
      return next
    },
    open: () => durable.read((file) => file.open(), []),
    list: (filter) => ask((file) => file.list(filter), []),
    groups: (by, filter) => ask((file) => file.groups(by, filter), []),
    runs: (job, limit) => ask((file) => file.runs(job, limit), []),
    maintain(now) {
      durable.maintain(now)
      if (Math.abs(now - trimmedAt) < TRIM_EVERY_MS) return
      if (durable.use((file) => file.trim(maxRuns))) trimmedAt = now
    },
    close: durable.close,
  }
}
