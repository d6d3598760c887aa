// The GPUs on which one job runs (a container's or a Slurm job's processes), as far as they do the same: ranks of one data-parallel training.
import type { GpuHolders } from '../parts/holders.ts'

export type JobGpu = { readonly uuid: string; readonly index: number; readonly bytes: number }
export type Job = {
  /** `container 0123456789ab`, `job 17`. */
  readonly owner: string
  readonly ownerText: string
  readonly container: string | undefined
  readonly containerId: string | undefined
  readonly gpus: readonly JobGpu[]
}

/** Of the memory that processes hold on the card: with less, another job uses it too. */
const MAIN_SHARE = 0.8
/** Ranks of one training hold about the same; stages of a pipeline do not. */
const SIMILAR = 0.25

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  const upper = sorted[half] ?? 0
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? upper) + upper) / 2
}

/** Jobs with at least `least` GPUs of similar memory each, MIG instances aside. */
export function jobsOf(gpus: Iterable<GpuHolders>, least: number): readonly Job[] {
  const jobs = new Map<string, { readonly job: Omit<Job, 'gpus'>; readonly gpus: JobGpu[] }>()
  for (const { uuid, index, holders } of gpus) {
    const [main] = holders
    if (main === undefined || holders.some(({ gi }) => gi !== undefined)) continue
    if (!main.owner.startsWith('container ') && !main.owner.startsWith('job ')) continue
    let [all, own] = [0, 0]
    for (const { owner, bytes } of holders) {
      all += bytes
      if (owner === main.owner) own += bytes
    }
    if (own < MAIN_SHARE * all) continue
    const { owner, ownerText, container, containerId } = main
    let entry = jobs.get(owner)
    if (entry === undefined) jobs.set(owner, (entry = { job: { owner, ownerText, container, containerId }, gpus: [] }))
    entry.gpus.push({ uuid, index, bytes: own })
  }
  const found: Job[] = []
  for (const { job, gpus: all } of jobs.values()) {
    if (all.length < least) continue
    const middle = median(all.map(({ bytes }) => bytes))
    const similar = all.filter(({ bytes }) => Math.abs(bytes - middle) <= SIMILAR * middle)
    if (similar.length >= least) found.push({ ...job, gpus: similar })
  }
  return found
}

/** How far a value is below the others' median, and whether that is far for them: more than five robust standard deviations. */
export function below(value: number, others: readonly number[], leastSpread: number): { readonly middle: number; readonly far: boolean } {
  const middle = median(others)
  // 1.4826 times the median of the absolute deviations is the standard deviation of a normal distribution.
  const spread = 1.4826 * median(others.map((other) => Math.abs(other - middle)))
  return { middle, far: middle - value > 5 * Math.max(spread, leastSpread) }
}
