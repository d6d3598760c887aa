// Sends and receives: whether the rank at the other end has issued its part, and ranks that wait for each other in a circle.
import type { Op } from '../model.ts'
import type { Job } from './job.ts'
import type { Blocker } from './graph.ts'
import { standingOf, waitsForOthers } from './places.ts'

/** One send or receive, alone or in a batch: `of` is the operation that ends with it. */
export type Transfer = { readonly op: Op; readonly of: Op }

export const transfersIn = (ops: readonly Op[]): Transfer[] =>
  ops.flatMap((op): Transfer[] => (op.batch === undefined ? (op.p2p ? [{ op, of: op }] : []) : op.batch.map((one) => ({ op: one, of: op }))))

const alike = (one: Op, other: Op): boolean => one.group === other.group && one.from === other.from && one.to === other.to
const ended = ({ of }: Transfer): boolean => of.state === 'done'

/** The other end of a transfer: NCCL joins the first send from one rank to another with the first receive of the same two, and so on. */
function counterpart(job: Job, rank: number, mine: Transfer, other: number): Transfer | 'absent' | undefined {
  const whole = [rank, other].every((one) => job.of(one)?.lostOldest !== true)
  // Where old entries are lost, only those that still wait can be joined from the first on.
  const counts = (one: Transfer): boolean => whole || !ended(one)
  const ours = job.transfers(rank).filter((one) => counts(one) && one.op.name === mine.op.name && alike(one.op, mine.op))
  const theirs = job.transfers(other).filter((one) => counts(one) && one.op.name !== mine.op.name && alike(one.op, mine.op))
  const found = theirs[ours.findIndex(({ op }) => op === mine.op)]
  // In a batch the part of this peer may have ended long ago, while the batch waits for another one.
  return found ?? (whole || mine.of.batch === undefined ? 'absent' : undefined)
}

/** Whoever the send or receive waits for. */
function blockerOf(job: Job, rank: number, mine: Transfer): Blocker[] {
  const { from, to } = mine.op
  const other = from === rank ? to : from
  if (other === undefined || other === rank) return []
  if (job.dead(other)) return [{ rank: other, why: 'dead' }]
  // Of a rank without a dump nobody knows what it has issued; where it is may say it.
  if ((job.of(other)?.ops?.length ?? 0) === 0) return standingOf(job.of(other)) === undefined ? [] : [{ rank: other, why: 'absent' }]
  const theirs = counterpart(job, rank, mine, other)
  if (theirs === undefined) return []
  if (theirs === 'absent') return [{ rank: other, why: 'absent' }]
  if (theirs.op.inputs !== mine.op.inputs) return [{ rank: other, why: 'disagrees' }]
  return [{ rank: other, why: ended(theirs) || job.head(other) === theirs.of ? 'joined' : 'behind' }]
}

export const ofPeers = (job: Job, rank: number, op: Op): Blocker[] => transfersIn([op]).flatMap((mine) => blockerOf(job, rank, mine))

/** A send and a receive of another size, by rank. */
export function unequalTransfer(job: Job): ReadonlyMap<number, Op> | undefined {
  for (const rank of job.ranks) {
    const head = job.head(rank)
    for (const mine of head?.p2p === true && !job.dead(rank) ? transfersIn([head]) : [])
      for (const { rank: other, why } of blockerOf(job, rank, mine)) {
        const theirs = why === 'disagrees' ? counterpart(job, rank, mine, other) : undefined
        if (theirs !== undefined && theirs !== 'absent')
          return new Map([
            [rank, mine.op],
            [other, theirs.op],
          ])
      }
  }
  return undefined
}

/** Ranks each of which waits for the next in a send or receive, and the last for the first: nobody is missing. */
export function circle(job: Job, blockers: (rank: number) => readonly Blocker[]): readonly number[] | undefined {
  const next = new Map<number, number>()
  for (const rank of job.ranks) {
    if (job.head(rank)?.p2p !== true || job.dead(rank)) continue
    const waited = blockers(rank).find(
      ({ rank: other, why }) => job.head(other)?.p2p === true && (why === 'behind' || (why === 'absent' && waitsForOthers(standingOf(job.of(other))))),
    )
    if (waited !== undefined) next.set(rank, waited.rank)
  }
  for (const start of next.keys()) {
    const path: number[] = []
    for (let at: number | undefined = start; at !== undefined && !path.includes(at); at = next.get(at)) path.push(at)
    const back = next.get(path.at(-1) ?? -1)
    if (back !== undefined && path.includes(back)) return path.slice(path.indexOf(back))
  }
  return undefined
}
