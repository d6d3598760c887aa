// What the GPUs of the ranks show: computing, spinning in a collective, idle, or busy with a kernel of their own that does not end.
import type { GpuFigures } from '../model.ts'
import type { Job } from './job.ts'

/** A waiting NCCL kernel counts as 100 % busy and touches no memory; real work reads and writes GPU memory. */
const SPIN_BUSY = 95
const SPIN_MEMORY = 2
const WORK_MEMORY = 5

export type GpuState = 'works' | 'spins' | 'idle'

export function gpuState({ busy, memory }: GpuFigures): GpuState | undefined {
  if (memory >= WORK_MEMORY && busy > 0) return 'works'
  if (busy >= SPIN_BUSY && memory <= SPIN_MEMORY) return 'spins'
  return busy < 5 && memory <= SPIN_MEMORY ? 'idle' : undefined
}

export const ranksIn = (job: Job, state: GpuState): readonly number[] =>
  job.ranks.filter((rank) => {
    const figures = job.of(rank)?.figures
    return figures !== undefined && !job.dead(rank) && gpuState(figures) === state
  })

/** How much more than the next one a GPU draws that does not only wait: cards that wait differ by their idle power, a fifth at most. */
const CLEARLY_MORE = 1.25

/** The one rank that draws clearly more than every other that seems to spin. */
export function hotRank(job: Job): number | undefined {
  const [top, second, ...others] = spinning(job).toSorted((a, b) => b.watts - a.watts)
  return top !== undefined && second !== undefined && others.length >= 2 && top.watts > second.watts * CLEARLY_MORE ? top.rank : undefined
}

/** The one rank whose GPU reads memory and draws no less than the middle one, while all others only wait: a kernel that waits for peers touches no memory. */
export function readingRank(job: Job): number | undefined {
  const known = spinning(job)
  const [one, ...more] = known.filter(({ memory }) => memory > 0)
  if (one === undefined || more.length > 0 || known.length < 4 || known.length < job.ranks.length) return undefined
  const watts = known.map(({ watts: drawn }) => drawn).toSorted((a, b) => a - b)
  return one.watts >= (watts[watts.length >> 1] ?? 0) ? one.rank : undefined
}

const spinning = (job: Job): { readonly rank: number; readonly watts: number; readonly memory: number }[] =>
  ranksIn(job, 'spins').flatMap((rank) => {
    const { watts, memory = 0 } = job.of(rank)?.figures ?? {}
    return watts === undefined ? [] : [{ rank, watts, memory }]
  })
