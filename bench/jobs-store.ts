// The runs of all jobs: how long the list of jobs, one job's runs and a report take with 10,000 runs on disk, as the agent and `warpwatch jobs` ask for them.
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jobReport } from '../agent/jobs/report.ts'
import type { Outcome, StoredRun } from '../agent/model/job.ts'
import { createJobStore, type JobStore } from '../agent/store/jobs.ts'
import { openJobFile } from '../agent/store/jobs/file.ts'
import { percentile, printTable, type Row } from './lib/table.ts'

const QUIET = { info() {}, warn() {}, error() {} }
const RUNS = 10_000
const LIMIT_MS = 20
const TURNS = 25
const START = Date.UTC(2026, 9, 1)
const OUTCOMES: readonly Outcome[] = ['completed', 'failed', 'killed', 'out_of_memory', 'cancelled']

const idOf = (job: number): string => job.toString(16).padStart(16, '0')
function runOf(job: number, run: number, at: number): StoredRun {
  const outcome = OUTCOMES[at % OUTCOMES.length] ?? 'completed'
  const [startedAt, held] = [START + at * 60_000, 3_000 + (at % 500)]
  const gpus = [0, 1].map((gpu) => ({
    uuid: `GPU-00000000-0000-4000-8000-00000000000${gpu}`,
    gpu: String(gpu),
    share: 1,
    held_seconds: held,
    active_seconds: held * 0.8,
    idle_seconds: held * 0.2,
    energy_joules: held * 400,
    memory_peak_bytes: 60 * 2 ** 30,
  }))
  return {
    key: `c:${idOf(job)}${run}`,
    roots: [{ pid: 1_000 + at, startTicks: at }],
    row: {
      job_id: idOf(job),
      job: `finetune-${job}`,
      kind: 'container',
      user: `user-${job % 20}`,
      container: `finetune-${job}`,
      command: 'python train.py',
      run,
      started_at: startedAt,
      seen_at: startedAt + held * 1_000,
      ended_at: startedAt + held * 1_000,
      outcome,
      reason: 'KeyError at train.py:188',
      gpus,
      gpu_seconds: { active: held * 1.6, idle: held * 0.4, lost: outcome === 'failed' ? held : 0 },
      energy_joules: held * 800,
      memory_peak_bytes: 100 * 2 ** 30,
      gpu_memory_peak_bytes: 120 * 2 ** 30,
      incidents: outcome === 'failed' ? [{ id: idOf(at), kind: 'python_exception', title: 'KeyError at train.py:188' }] : [],
    },
  }
}

/** The work is all of one thread without waiting, so its CPU time is what it takes on a machine that does nothing else. */
function row(what: string, ask: () => unknown): Row {
  const turns = Array.from({ length: TURNS }, () => {
    const [begun, cpu] = [performance.now(), process.cpuUsage()]
    ask()
    const { user, system } = process.cpuUsage(cpu)
    return { wall: performance.now() - begun, cpu: (user + system) / 1_000 }
  })
  const [wall, cpu] = [turns.map((turn) => turn.wall), turns.map((turn) => turn.cpu)].map((times) => percentile(times, 0.5))
  return { what, figure: `${cpu?.toFixed(1)} ms of CPU (${wall?.toFixed(1)} ms)`, limit: `${LIMIT_MS} ms`, ok: (cpu ?? Infinity) <= LIMIT_MS }
}
function reportIn(store: Pick<JobStore, 'runs'>, job: string): string {
  const [newest, ...before] = store.runs(job, 100)
  if (newest === undefined) throw new Error(`no runs of ${job}`)
  return jobReport([newest, ...before], 'gpu-node-01')
}

function measure(jobs: number): readonly Row[] {
  const directory = mkdtempSync(join(tmpdir(), 'warpwatch-jobs-bench-'))
  const store = createJobStore({ directory, log: QUIET })
  const each = RUNS / jobs
  for (let at = 0; at < RUNS; at += 500) store.save(Array.from({ length: 500 }, (_, n) => runOf(Math.floor((at + n) / each), ((at + n) % each) + 1, at + n)))
  const of = `${jobs.toLocaleString('en')} job${jobs === 1 ? '' : 's'}`
  const rows = [
    row(`${of}: the list (100)`, () => store.list({ limit: 100 })),
    row(`${of}: the list (1,000)`, () => store.list({ limit: 1_000 })),
    row(`${of}: by user`, () => store.groups('user', {})),
    row(`${of}: report of a job`, () => reportIn(store, idOf(jobs >> 1))),
    row(`${of}: one run changes`, () => store.save([runOf(0, 1, 0)])),
    row(`${of}: the command opens the file and lists`, () => {
      const file = openJobFile(directory)
      file.list({ limit: 100 })
      file.close()
    }),
  ]
  const bytes = statSync(join(directory, 'jobs.db')).size / RUNS
  store.close()
  rmSync(directory, { recursive: true })
  return [...rows, { what: `${of}: on disk`, figure: `${(bytes / 1_024).toFixed(2)} KiB a run` }]
}

export function run(): void {
  printTable([1, 100, RUNS].flatMap(measure))
}
