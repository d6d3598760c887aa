// What can be said of a wait without a culprit: whether all joined it, of whom that is not known, or that ranks wait for each other.
import type { Op } from '../model.ts'
import { counted, andList } from '../../text/grammar.ts'
import { blockersOf } from './graph.ts'
import type { Job } from './job.ts'
import { transfersIn } from './pairs.ts'

export type Undecided = {
  /** `open`: of some ranks nothing says whether they joined; `elsewhere`: some wait in something else, and so on in a circle. */
  readonly state: 'joined' | 'open' | 'elsewhere' | 'unread'
  readonly text: string
}

const MOST_NAMED = 12
const named = (ranks: readonly number[]): string =>
  `${ranks.length === 1 ? 'rank' : 'ranks'} ${ranks.length > MOST_NAMED ? `${ranks.slice(0, MOST_NAMED).join(', ')} and ${ranks.length - MOST_NAMED} more` : andList(ranks.map(String))}`

/** Ranks that should be in it and of which the evidence does not say how far they have come. */
function openRanks(job: Job, rank: number, op: Op): readonly number[] {
  const known = new Set(blockersOf(job, rank).map(({ rank: other }) => other))
  const needed = op.p2p ? transfersIn([op]).flatMap(({ op: { from, to } }) => (from === rank ? to : from) ?? []) : job.members(op.group)
  return [...new Set(needed)].filter((other) => other !== rank && !known.has(other)).toSorted((a, b) => a - b)
}

export function undecidedOf(job: Job, root: Op | undefined): Undecided {
  const rank = root === undefined ? undefined : job.ranks.find((one) => job.head(one) === root)
  if (root === undefined || rank === undefined)
    return { state: 'unread', text: 'all ranks wait for others; which collective each is in is not in the evidence' }
  const open = openRanks(job, rank, root)
  const heads = job.ranks.flatMap((one) => job.head(one) ?? [])
  const types = heads.some(({ dtypes }) => dtypes !== '') ? '' : '; element types are not in the evidence'
  const partial = job.group(root.group)?.partial === true
  if (open.length > 0)
    return {
      state: 'open',
      text: `nothing shows whether ${named(open)} joined the operation that the others wait in: no dump, no time-out, no position in a collective`,
    }
  const elsewhere = blockersOf(job, rank).filter(({ why }) => why === 'absent' || why === 'behind')
  if (elsewhere.length > 0)
    return {
      state: 'elsewhere',
      text: `${named([...new Set(elsewhere.map(({ rank: other }) => other))].toSorted((a, b) => a - b))} ${elsewhere.length === 1 ? 'waits' : 'wait'} in another operation, and no rank is known to be missing there`,
    }
  return {
    state: 'joined',
    text: partial
      ? `the known ranks of the group joined the same operation and none finishes it${types}`
      : root.p2p
        ? `both ends of the transfer have issued it and it does not end${types}`
        : `all ${counted(job.members(root.group).length, 'rank')} of the group joined the same operation and none finishes it${types}`,
  }
}

/** Two groups without a common rank in which everybody waits for the end: one broken connection is not the reason, a running job shows it at any moment. */
export function waitsApart(job: Job): boolean {
  const groups = new Set(job.ranks.flatMap((rank) => job.head(rank)?.group ?? []))
  const whole = [...groups].map((key) => job.members(key)).filter((ranks) => joinedByAll(job, ranks))
  return whole.some((ranks) => whole.some((others) => !others.some((rank) => ranks.includes(rank))))
}

function joinedByAll(job: Job, ranks: readonly number[]): boolean {
  const [first] = ranks
  const op = first === undefined ? undefined : job.head(first)
  return op !== undefined && !op.p2p && ranks.length > 1 && ranks.every((rank) => job.head(rank)?.group === op.group && job.head(rank)?.seq === op.seq)
}
