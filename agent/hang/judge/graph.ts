// Who waits for whom: from what each rank waits in, over groups, to those that wait for nobody.
import type { Job } from './job.ts'
import { ofPeers } from './pairs.ts'
import { standingOf, waitsForOthers } from './places.ts'
import { agree } from './signature.ts'

export type Blocker = {
  readonly rank: number
  /** `absent`: it has not issued the operation; `behind`: it has, and an earlier one of its own has not ended; `disagrees`: it issued another at this place. */
  readonly why: 'dead' | 'absent' | 'behind' | 'disagrees' | 'joined'
}

/** A rank that is in something of its own, by its stack: it does not wait for the others whatever its GPU has left to do. */
export function isAway(job: Job, rank: number): boolean {
  const standing = standingOf(job.of(rank))
  return standing !== undefined && !waitsForOthers(standing) && standing.kind !== 'code'
}

/** Everybody that the oldest operation of a rank needs. */
export function blockersOf(job: Job, rank: number): readonly Blocker[] {
  const op = job.head(rank)
  if (op === undefined || op.uncounted === true) return []
  if (op.p2p) return ofPeers(job, rank, op)
  return job.members(op.group).flatMap((member): Blocker[] => {
    if (member === rank) return []
    if (job.dead(member)) return [{ rank: member, why: 'dead' }]
    const theirs = job.at(member, op.group, op.seq)
    if (theirs !== undefined) {
      if (!agree(theirs, op)) return [{ rank: member, why: 'disagrees' }]
      return [{ rank: member, why: theirs.state === 'done' || job.head(member) === theirs ? 'joined' : 'behind' }]
    }
    const issued = job.issued(member, op.group)
    // Of a rank without a dump only its stack may be known.
    if (issued === undefined) return isAway(job, member) ? [{ rank: member, why: 'absent' }] : []
    return [{ rank: member, why: issued >= op.seq ? 'joined' : 'absent' }]
  })
}

/** Ranks that others wait for, directly or over groups, and that themselves wait in no collective. */
export function missingRanks(job: Job): readonly number[] {
  const missing = new Set<number>()
  for (const rank of job.ranks) {
    if (job.head(rank) === undefined || job.dead(rank)) continue
    for (const { rank: other, why } of blockersOf(job, rank)) {
      if (why === 'dead') missing.add(other)
      else if (
        why === 'absent' &&
        (job.head(other) === undefined ? !waitsForOthers(standingOf(job.of(other))) || (job.of(other)?.ops?.length ?? 0) > 0 : isAway(job, other))
      )
        missing.add(other)
      else if (why === 'behind' && isAway(job, other)) missing.add(other)
    }
  }
  return [...missing].toSorted((a, b) => a - b)
}
