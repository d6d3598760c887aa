// Ranks that compute while the GPUs of all others wait: seen once, and so only likely slower than these.
import { gpuState } from './gpus.ts'
import type { Job } from './job.ts'
import { isAway } from './graph.ts'

const LEAST_RANKS = 4
/** More of them are a stage of a pipeline, or one half of a group. */
const MOST_SHARE = 0.25
const MOST_RANKS = 2

/**
 * GPU figures are means of about a second: a job in step has all of its GPUs at work, or all of them waiting. Rank 0 alone is no sign, since it
 * evaluates, logs and saves for all; nor is a stage of a pipeline, which works in turn.
 */
export function loneWorkers(job: Job): readonly number[] {
  const states = job.ranks.map((rank) => {
    const figures = job.of(rank)?.figures
    return figures === undefined ? undefined : gpuState(figures)
  })
  const working = job.ranks.filter((_, i) => states[i] === 'works')
  const waiting = states.filter((state) => state === 'spins').length
  if (job.ranks.length < LEAST_RANKS || working.length + waiting < job.ranks.length || working.length > Math.min(MOST_RANKS, MOST_SHARE * job.ranks.length))
    return []
  // A recorder says better who is late again and again.
  const recorded = job.ranks.some((rank) => (job.of(rank)?.ops?.length ?? 0) > 0)
  return recorded || working.includes(0) || working.some((rank) => isAway(job, rank)) ? [] : working
}
