// The jobs' database: one row for each run, its figures as columns for sums over thousands of runs, the whole of it as text.
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import type { JobFilter, JobGroup, JobGroupRow, JobRow, JobsView, Run, StoredRun } from '../../model/job.ts'
import { openReadOnly } from '../open-database.ts'
import type { Schema } from '../schema.ts'
import { takeRows } from '../take-over.ts'
import { COUNTS, FIGURES, SUMS, totalOf, totalsOf, type Sums, type SumsOfJob, type Totals } from './sums.ts'

export const JOBS_FILE = 'jobs.db'
export const JOBS_SCHEMA: Schema = {
  what: 'jobs',
  // WwJo
  applicationId: 0x57_77_4a_6f,
  steps: [
    `
CREATE TABLE runs (
  job_id TEXT NOT NULL,
  run INTEGER NOT NULL,
  job TEXT NOT NULL,
  user TEXT,
  namespace TEXT,
  started_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL,
  outcome TEXT,
  active REAL NOT NULL,
  idle REAL NOT NULL,
  lost REAL NOT NULL,
  energy REAL,
  memory_peak INTEGER,
  gpu_memory_peak INTEGER,
  PRIMARY KEY (job_id, run)
) STRICT, WITHOUT ROWID;
CREATE TABLE run_rows (
  job_id TEXT NOT NULL,
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  roots TEXT NOT NULL,
  row TEXT NOT NULL,
  PRIMARY KEY (job_id, run)
) STRICT;
CREATE INDEX runs_by_start ON runs (started_at);
CREATE INDEX runs_by_name ON runs (job, started_at);
CREATE INDEX runs_open ON runs (started_at) WHERE outcome IS NULL;
`,
    'ALTER TABLE runs ADD COLUMN account TEXT;',
  ],
}

type WholeRow = { readonly [column: string]: string | number | null }

export type JobFile = JobsView & {
  readonly put: (runs: readonly StoredRun[]) => void
  readonly nextRun: (jobId: string) => number
  readonly open: () => readonly StoredRun[]
  readonly rows: () => IterableIterator<WholeRow>
  /** Adds what another file holds, as far as it can be read; returns how many runs. */
  readonly takeOver: (from: JobFile) => number
  /** Deletes the oldest runs that have ended. */
  readonly trim: (maxCount: number) => void
}

// Only we write this file; what a broken disk makes of it fails in JSON.parse.
const runIn = (text: string): Run => JSON.parse(text)
const rootsIn = (text: string): StoredRun['roots'] => JSON.parse(text)

/** For readers, beside the agent or without one. Throws when it cannot be read. */
export function openJobFile(directory: string): JobsView & { readonly close: () => void } {
  const db = openReadOnly(join(directory, JOBS_FILE))
  try {
    return { ...jobsIn(db), close: () => void db.close() }
  } catch (error) {
    db.close()
    throw error
  }
}

const COLUMN: Readonly<Record<Exclude<JobGroup, 'gpu'>, string>> = { user: 'user', job: 'job', namespace: 'namespace', account: 'account' }
const MAX_GROUPS = 1_000

/** Runs of a span of time: those that go on, and those that began and ended in it. */
const WITHIN = 'seen_at >= :since AND started_at < :until AND (outcome IS NULL OR seen_at < :until)'

export function jobsIn(db: Database): JobFile {
  const upsert = db.prepare(
    'INSERT INTO runs VALUES (:job_id, :run, :job, :user, :namespace, :started_at, :seen_at, :outcome, :active, :idle, :lost, :energy, :memory_peak, :gpu_memory_peak, :account) ' +
      'ON CONFLICT (job_id, run) DO UPDATE SET job = excluded.job, user = excluded.user, namespace = excluded.namespace, seen_at = excluded.seen_at, outcome = excluded.outcome, ' +
      'active = excluded.active, idle = excluded.idle, lost = excluded.lost, energy = excluded.energy, memory_peak = excluded.memory_peak, gpu_memory_peak = excluded.gpu_memory_peak, account = excluded.account',
  )
  const upsertRow = db.prepare('INSERT INTO run_rows VALUES (?, ?, ?, ?, ?) ON CONFLICT (job_id, run) DO UPDATE SET roots = excluded.roots, row = excluded.row')
  // Of a run that goes on, once a second for each: no column of an index, because setting one writes its entry in the index again, the same value too.
  const move = db.prepare(
    'UPDATE runs SET seen_at = ?, active = ?, idle = ?, lost = ?, energy = ?, memory_peak = ?, gpu_memory_peak = ? ' +
      'WHERE job_id = ? AND run = ? AND outcome IS NULL AND job = ? AND user IS ? AND namespace IS ? AND account IS ?',
  )
  const sumsBy = (column: string) =>
    db.prepare<{ since: number }, Sums>(
      `SELECT ${column} AS grouped, outcome, ${SUMS}, ${FIGURES} FROM runs WHERE seen_at >= :since GROUP BY ${column}, outcome`,
    )
  // First which jobs are wanted, then their sums: thousands of jobs cost no more than those that are shown. Along the primary key nothing is sorted. All in one
  // statement: asked job by job it takes twice as long.
  const newest = db.prepare<{ since: number; until: number; limit: number }, SumsOfJob & { readonly row: string }>(
    `WITH wanted AS MATERIALIZED (SELECT job_id, row_number() OVER () AS place FROM (
       SELECT job_id FROM runs WHERE ${WITHIN} GROUP BY job_id ORDER BY count(*) = count(outcome), max(started_at) DESC LIMIT :limit)),
     summed AS MATERIALIZED (SELECT place, job_id, ${SUMS}, ${FIGURES}, ${COUNTS} FROM wanted CROSS JOIN runs USING (job_id) WHERE ${WITHIN} GROUP BY place)
     SELECT summed.*, row FROM summed CROSS JOIN run_rows ON run_rows.job_id = summed.job_id AND run_rows.run = summed.last ORDER BY place`,
  )
  // Loss is not kept for each GPU, so it is split evenly between those that the run held.
  const byGpu = db.prepare<{ since: number }, Sums>(
    `SELECT json_extract(gpu.value, '$.gpu') AS grouped, outcome, ${SUMS}, total(json_extract(gpu.value, '$.active_seconds')) AS active, ` +
      `total(json_extract(gpu.value, '$.idle_seconds')) AS idle, total(lost / json_array_length(row, '$.gpus')) AS lost, ` +
      `sum(json_extract(gpu.value, '$.energy_joules')) AS energy, NULL AS memory_peak, NULL AS gpu_memory_peak ` +
      "FROM runs JOIN run_rows USING (job_id, run), json_each(row, '$.gpus') AS gpu WHERE seen_at >= :since GROUP BY grouped, outcome",
  )
  const idNamed = db.prepare<{ job: string }, string>('SELECT job_id FROM runs WHERE job = :job ORDER BY started_at DESC LIMIT 1').pluck()
  const runs = db.prepare<{ job_id: string; limit: number }, { row: string }>('SELECT row FROM run_rows WHERE job_id = :job_id ORDER BY run DESC LIMIT :limit')
  const last = db.prepare<{ job_id: string }, number | null>('SELECT max(run) FROM runs WHERE job_id = :job_id').pluck()
  const open = db.prepare<[], { key: string; roots: string; row: string }>(
    'SELECT key, roots, row FROM runs JOIN run_rows USING (job_id, run) WHERE outcome IS NULL ORDER BY started_at DESC LIMIT 1000',
  )
  const all = db.prepare<[], WholeRow>('SELECT * FROM runs JOIN run_rows USING (job_id, run)')
  const add = db.prepare(
    'INSERT INTO runs VALUES (:job_id, :run, :job, :user, :namespace, :started_at, :seen_at, :outcome, :active, :idle, :lost, :energy, :memory_peak, :gpu_memory_peak, :account) ON CONFLICT DO NOTHING',
  )
  const addRow = db.prepare('INSERT INTO run_rows VALUES (:job_id, :run, :key, :roots, :row) ON CONFLICT DO NOTHING')
  const count = db.prepare<[], number>('SELECT count(*) FROM runs').pluck()
  const oldest = db.prepare<[number], { job_id: string; run: number }>('SELECT job_id, run FROM runs WHERE outcome IS NOT NULL ORDER BY started_at LIMIT ?')
  const drop = (['runs', 'run_rows'] as const).map((table) => db.prepare(`DELETE FROM ${table} WHERE job_id = :job_id AND run = :run`))
  const put = db.transaction((changed: readonly StoredRun[]) => {
    for (const { key, roots, row, former = [] } of changed) {
      for (const one of former) for (const statement of drop) statement.run(one)
      const { job_id, run, job, user = null, namespace = null, account = null, started_at, seen_at, outcome = null, gpu_seconds: seconds } = row
      const { energy_joules: energy = null, memory_peak_bytes: memory = null, gpu_memory_peak_bytes: gpuMemory = null } = row
      const { active, idle, lost } = seconds
      const figures = [seen_at, active, idle, lost, energy, memory, gpuMemory]
      const hasMoved = outcome === null && move.run(...figures, job_id, run, job, user, namespace, account).changes > 0
      if (!hasMoved)
        upsert.run({
          job_id,
          run,
          job,
          user,
          namespace,
          started_at,
          seen_at,
          outcome,
          ...seconds,
          energy,
          memory_peak: memory,
          gpu_memory_peak: gpuMemory,
          account,
        })
      upsertRow.run(job_id, run, key, JSON.stringify(roots), JSON.stringify(row))
    }
  })
  return {
    put: (changed) => put.immediate(changed),
    list({ since = 0, until = Number.MAX_SAFE_INTEGER, limit }: JobFilter): readonly JobRow[] {
      return newest.all({ since, until, limit }).map((sums) => {
        const row = runIn(sums.row)
        const { job_id, job, kind, user, namespace } = row
        return { job_id, job, kind, ...(user === undefined ? {} : { user }), ...(namespace === undefined ? {} : { namespace }), ...totalOf(sums), last: row }
      })
    },
    groups(by: JobGroup, { since = 0 }): readonly JobGroupRow[] {
      const totals = totalsOf((by === 'gpu' ? byGpu : sumsBy(COLUMN[by])).all({ since }))
      const used = ({ gpu_seconds: { active, idle } }: Totals): number => active + idle
      return [...totals]
        .sort(([a, one], [b, other]) => (by === 'gpu' ? Number(a) - Number(b) : used(other) - used(one) || other.runs - one.runs))
        .slice(0, MAX_GROUPS)
        .map(([key, { runs: count, running, outcomes, gpu_seconds, energy_joules }]) => ({
          by,
          ...(key === null ? {} : { key }),
          runs: count,
          running,
          outcomes,
          gpu_seconds,
          ...(energy_joules === undefined ? {} : { energy_joules }),
        }))
    },
    runs(job, limit) {
      const id = /^[0-9a-f]{16}$/.test(job) && last.get({ job_id: job }) !== null ? job : idNamed.get({ job })
      return id === undefined ? [] : runs.all({ job_id: id, limit }).map(({ row }) => runIn(row))
    },
    nextRun: (jobId) => (last.get({ job_id: jobId }) ?? 0) + 1,
    open: () => open.all().map(({ key, roots, row }) => ({ key, roots: rootsIn(roots), row: runIn(row) })),
    rows: () => all.iterate(),
    takeOver: (from) =>
      takeRows(db, from.rows(), ({ job_id, run, key, roots, row, ...rest }) => {
        const { changes } = add.run({ job_id, run, ...rest })
        if (changes > 0) addRow.run({ job_id, run, key, roots, row })
        return changes
      }),
    trim(maxCount) {
      const over = (count.get() ?? 0) - maxCount
      if (over > 0)
        db.transaction(() => {
          for (const found of oldest.all(over)) for (const one of drop) one.run(found)
        }).immediate()
      db.pragma('incremental_vacuum(64)')
    },
  }
}
