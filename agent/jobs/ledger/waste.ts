// What was held and not used, by user, namespace or account: told once, with the figures, for whoever can change it. Pure.
import type { JobRow } from '../../model/job.ts'
import type { Use, WasteGroup, WasteRow, WasteSummary } from '../../model/ledger.ts'
import { costOf, type CostFactors } from './costs.ts'

/** What a user (namespace, account: `key`) held in a span of time, by the ledger. `wholeHours`: in which no kernel ran on the GPU at all, so another job could have had it. */
export type HeldBy = {
  readonly key: string | undefined
  readonly heldMs: number
  readonly activeMs: number
  readonly idleMs: number
  readonly wholeHoursMs: number
  readonly joules: number
}
/** As the ledger's file gives it. */
export const heldOf = ({ key, use, wholeMs }: { readonly key: string | undefined; readonly use: Use; readonly wholeMs: number }): HeldBy => ({
  key,
  heldMs: use.heldMs,
  activeMs: use.activeMs,
  idleMs: use.idleMs,
  wholeHoursMs: wholeMs,
  joules: use.joules,
})

/** So many jobs are looked at. */
export const MOST_WASTE_JOBS = 5_000
const MAX_ROWS = 200
const MAX_JOBS = 5
const HOUR_S = 3_600
/** Less is no waste worth a word. */
const LEAST_HOURS = 0.1
const FAR_BELOW = 0.25
const BAD = new Set(['failed', 'killed', 'out_of_memory', 'lost_gpu', 'time_limit', 'preempted'])

const hours = (seconds: number): number => Math.round((seconds / HOUR_S) * 100) / 100
const badRuns = ({ outcomes }: JobRow): number => Object.entries(outcomes).reduce((sum, [outcome, count]) => sum + (BAD.has(outcome) ? count : 0), 0)

function oversizedText({ last: { gpus, gpus_requested: asked } }: JobRow): string | undefined {
  const used = new Set(gpus.filter(({ active_seconds: active }) => active === undefined || active >= 1).map(({ uuid }) => uuid)).size
  if (asked !== undefined && used < asked) return `used ${used} of ${asked} GPUs`
  const fullest = gpus.reduce(
    (most, { memory_peak_bytes: peak, memory_total_bytes: total }) => (peak === undefined || total === undefined ? 1 : Math.max(most, peak / total)),
    0,
  )
  return gpus.length > 0 && fullest < FAR_BELOW ? `at most ${Math.round(fullest * 100)} % of the GPU memory used` : undefined
}

const GROUP_OF: Readonly<Record<WasteGroup, (job: JobRow) => string | undefined>> = {
  user: ({ user }) => user,
  namespace: ({ namespace }) => namespace,
  account: ({ last: { account } }) => account,
}

/** Other views know a Slurm job by its number. */
const named = ({ job, job_id: id, last: { slurm_job: slurm } }: JobRow) => ({ job, job_id: id, ...(slurm === undefined ? {} : { slurm_job: slurm }) })

type About = Omit<WasteSummary, 'rows'>
export function wasteOf(held: readonly HeldBy[], jobs: readonly JobRow[], factors: CostFactors, about: About, by: WasteGroup = 'user'): WasteSummary {
  const rows = held.map(({ key, heldMs, idleMs, wholeHoursMs, activeMs, joules }): WasteRow => {
    const own = jobs.filter((job) => GROUP_OF[by](job) === key)
    const lost = own.reduce((sum, { gpu_seconds: seconds }) => sum + seconds.lost, 0)
    const wasted = idleMs / 1_000 + lost
    const share = activeMs + idleMs === 0 ? 0 : Math.min(1, (wasted * 1_000) / (activeMs + idleMs))
    const { price, currency } = costOf(factors, wasted, joules * share)
    return {
      ...(key === undefined ? {} : { [by]: key }),
      gpu_hours_held: hours(heldMs / 1_000),
      gpu_hours_idle: hours(idleMs / 1_000),
      gpu_hours_queueable: hours(wholeHoursMs / 1_000),
      gpu_hours_lost: hours(lost),
      died: own
        .filter((job) => badRuns(job) > 0 && job.gpu_seconds.lost > 0)
        .toSorted((a, b) => b.gpu_seconds.lost - a.gpu_seconds.lost)
        .slice(0, MAX_JOBS)
        .map((job) => ({ ...named(job), runs: badRuns(job), gpu_hours_lost: hours(job.gpu_seconds.lost) })),
      oversized: own
        .flatMap((job) => {
          // Of the newest run alone it is known what it used: one that has just begun still loads.
          const { active, idle } = job.last.gpu_seconds
          const text = active + idle < LEAST_HOURS * HOUR_S ? undefined : oversizedText(job)
          return text === undefined ? [] : [{ ...named(job), text }]
        })
        .slice(0, MAX_JOBS),
      ...(price === undefined ? {} : { price }),
      ...(currency === undefined ? {} : { currency }),
    }
  })
  const worth = ({ gpu_hours_idle: idle, gpu_hours_lost: lost }: WasteRow): number => idle + lost
  return {
    ...about,
    rows: rows
      .filter((row) => worth(row) >= LEAST_HOURS || row.oversized.length > 0)
      .toSorted((a, b) => worth(b) - worth(a))
      .slice(0, MAX_ROWS),
  }
}
