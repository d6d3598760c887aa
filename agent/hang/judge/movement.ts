// Whether the job does not move or goes on, and by what that is known.
import type { Confidence } from '../model.ts'
import { countsOf } from './counts.ts'
import { gpuState, ranksIn } from './gpus.ts'
import type { Job } from './job.ts'
import { standingOf, waitsForOthers } from './places.ts'
import { andList, counted } from '../../text/grammar.ts'

export type Movement = {
  /** `ended`: watchdogs or libraries gave up; `still`: no rank moves; `moves`: a rank works; `open`: cannot be known. */
  readonly state: 'ended' | 'still' | 'moves' | 'open'
  readonly confidence: Confidence
  readonly evidence: readonly string[]
  /** Only GPUs that wait say so, and were seen once: now and then a running job shows the same. */
  readonly once?: true
}

const figure = (seconds: number): string => (seconds < 10 ? seconds.toFixed(1) : String(Math.round(seconds)))
const ranksText = (ranks: readonly number[]): string =>
  `${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.length > 8 ? `${ranks.slice(0, 8).join(', ')} and ${ranks.length - 8} more` : andList(ranks.map(String))}`

export function movementOf(job: Job): Movement {
  const ended: string[] = []
  const { statements } = job.evidence
  const timedOut = job.ranks.filter((rank) => (job.of(rank)?.timeouts.length ?? 0) > 0)
  if (timedOut.length > 0) ended.push(`the ${timedOut.length === 1 ? 'watchdog' : 'watchdogs'} of ${ranksText(timedOut)} timed out`)
  const dead = job.ranks.filter((rank) => job.dead(rank))
  if (dead.length > 0 && dead.length < job.ranks.length) ended.push(`${ranksText(dead)} ended while the others went on`)
  const waits = statements.filter(({ statement: { what } }) => what !== 'stalled')
  if (waits[0] !== undefined) ended.push(waits[0].statement.text)
  const stalled = statements.find(({ statement: { what } }) => what === 'stalled')
  if (stalled !== undefined) ended.push(stalled.statement.text)
  if (ended.length > 0) return { state: 'ended', confidence: 'read', evidence: ended }

  const counts = countsOf(job)
  const working = ranksIn(job, 'works')
  if (counts?.moved === true) return { state: 'moves', confidence: 'computed', evidence: ['collectives were launched between two RAS answers'] }
  if (working.length > 0)
    return {
      state: 'moves',
      confidence: 'likely',
      evidence: [`the ${working.length === 1 ? 'GPU' : 'GPUs'} of ${ranksText(working)} ${working.length === 1 ? 'computes' : 'compute'}`],
    }
  if (counts !== undefined && counts.dead.length > 0)
    return { state: 'ended', confidence: 'read', evidence: [`${ranksText(counts.dead)} ${counts.dead.length === 1 ? 'does' : 'do'} not answer NCCL (RAS)`] }
  if (counts?.unchanged === true)
    return { state: 'still', confidence: 'likely', evidence: ['no collective was launched between two RAS answers, as far as they say'] }
  const timers = job.ranks.flatMap((rank) => job.of(rank)?.stalledSeconds ?? [])
  const looked = job.ranks.filter((rank) => job.of(rank)?.still !== undefined)
  const still = looked.filter((rank) => job.of(rank)?.still === true)
  if (counts?.frozenSeconds !== undefined && counts.frozenSeconds > 0)
    return { state: 'still', confidence: 'computed', evidence: [`no collective was launched between two RAS answers ${counts.frozenSeconds} s apart`] }
  if (timers.length > 0 && timers.length * 2 >= job.ranks.length)
    return {
      state: 'still',
      confidence: 'computed',
      evidence: [`the timers of ${counted(timers.length, 'rank')} ran out after ${Math.min(...timers)} s without a step`],
    }
  const { silence } = job.evidence
  // Nobody's GPU computes, and the job's own counter stands.
  if (silence?.usualSeconds !== undefined)
    return {
      state: 'still',
      confidence: 'computed',
      evidence: [
        silence.by === 'log'
          ? `no progress for ${Math.round(silence.seconds)} s; before, the job reported some every ${figure(silence.usualSeconds)} s`
          : `its GPUs have computed nothing for ${Math.round(silence.seconds)} s`,
      ],
    }
  // One that loops is at another line in each look; the others wait for it.
  if (still.length > 0 && still.length * 2 >= looked.length && looked.every((rank) => still.includes(rank) || !waitsForOthers(standingOf(job.of(rank)))))
    return {
      state: 'still',
      confidence: 'likely',
      evidence: [
        ...(silence === undefined ? [] : [`no progress for ${Math.round(silence.seconds)} s`]),
        `${ranksText(still)} ${still.length === 1 ? 'is' : 'are'} at the same place in every look`,
      ],
    }
  const spinning = ranksIn(job, 'spins')
  const known = job.ranks.filter((rank) => job.of(rank)?.figures !== undefined)
  if (
    spinning.length > 0 &&
    known.every((rank) => {
      const figures = job.of(rank)?.figures
      return figures !== undefined && gpuState(figures) !== 'works'
    })
  )
    return {
      state: 'still',
      confidence: 'likely',
      once: true,
      evidence: [`no GPU computes: ${counted(spinning.length, 'GPU')} of ${known.length} only ${spinning.length === 1 ? 'waits' : 'wait'} in a kernel`],
    }
  return { state: 'open', confidence: 'likely', evidence: [] }
}
