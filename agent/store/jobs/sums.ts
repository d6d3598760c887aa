// Sums over the runs of a job, a user, a GPU: what SQLite is asked to add up, and what the answers mean.
import { OUTCOMES, type JobRow, type Outcome } from '../../model/job.ts'

/** Of the runs of one job, user, … with one outcome; null: running. */
export type Sums = {
  readonly grouped: string | null
  readonly outcome: Outcome | null
  readonly runs: number
  readonly last: number
  readonly active: number
  readonly idle: number
  readonly lost: number
  readonly energy: number | null
  readonly memory_peak: number | null
  readonly gpu_memory_peak: number | null
}
/** Of all runs of one job; `outcomes`: how many ended in each of OUTCOMES, as JSON. */
export type SumsOfJob = Omit<Sums, 'grouped' | 'outcome'> & { readonly outcomes: string }
export type Totals = Pick<JobRow, 'runs' | 'running' | 'outcomes' | 'gpu_seconds' | 'energy_joules' | 'memory_peak_bytes' | 'gpu_memory_peak_bytes'>
const most = (a: number | undefined, b: number | null): number | undefined => (b === null ? a : Math.max(a ?? 0, b))

/** SQLite adds up for each outcome in one pass, as nine sums for each row would cost three times that. */
export function totalsOf(sums: readonly Sums[]): ReadonlyMap<string | null, Totals> {
  const totals = new Map<string | null, Totals>()
  for (const { grouped, outcome, runs, active, idle, lost, energy, memory_peak: memory, gpu_memory_peak: gpuMemory } of sums) {
    const before = totals.get(grouped)
    const seconds = before?.gpu_seconds ?? { active: 0, idle: 0, lost: 0 }
    const energySum = energy === null ? before?.energy_joules : (before?.energy_joules ?? 0) + energy
    const [memoryPeak, gpuMemoryPeak] = [most(before?.memory_peak_bytes, memory), most(before?.gpu_memory_peak_bytes, gpuMemory)]
    totals.set(grouped, {
      runs: (before?.runs ?? 0) + runs,
      running: (before?.running ?? 0) + (outcome === null ? runs : 0),
      outcomes: outcome === null ? (before?.outcomes ?? {}) : { ...before?.outcomes, [outcome]: runs },
      gpu_seconds: { active: seconds.active + active, idle: seconds.idle + idle, lost: seconds.lost + lost },
      ...(energySum === undefined ? {} : { energy_joules: energySum }),
      ...(memoryPeak === undefined ? {} : { memory_peak_bytes: memoryPeak }),
      ...(gpuMemoryPeak === undefined ? {} : { gpu_memory_peak_bytes: gpuMemoryPeak }),
    })
  }
  return totals
}
function countsIn(text: string): Partial<Record<Outcome, number>> {
  const counts: readonly number[] = JSON.parse(text)
  const found: Partial<Record<Outcome, number>> = {}
  for (const [at, count] of counts.entries()) {
    const outcome = OUTCOMES[at]
    if (count > 0 && outcome !== undefined) found[outcome] = count
  }
  return found
}

export function totalOf({ runs, active, idle, lost, energy, memory_peak: memory, gpu_memory_peak: gpuMemory, outcomes: counted }: SumsOfJob): Totals {
  const outcomes = countsIn(counted)
  return {
    runs,
    running: runs - Object.values(outcomes).reduce((sum, count) => sum + count, 0),
    outcomes,
    gpu_seconds: { active, idle, lost },
    ...(energy === null ? {} : { energy_joules: energy }),
    ...(memory === null ? {} : { memory_peak_bytes: memory }),
    ...(gpuMemory === null ? {} : { gpu_memory_peak_bytes: gpuMemory }),
  }
}
export const SUMS = 'count(*) AS runs, max(run) AS last'
export const FIGURES =
  'sum(active) AS active, sum(idle) AS idle, sum(lost) AS lost, sum(energy) AS energy, max(memory_peak) AS memory_peak, max(gpu_memory_peak) AS gpu_memory_peak'
export const COUNTS = `json_array(${OUTCOMES.map((outcome) => `count(*) FILTER (WHERE outcome = '${outcome}')`).join(', ')}) AS outcomes`
