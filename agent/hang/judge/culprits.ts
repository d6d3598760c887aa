// Who holds up the job: the ways to find it, the surest first. Each says nothing where its evidence does not decide.
import type { Cause, Confidence, Op } from '../model.ts'
import { countsOf } from './counts.ts'
import { blockersOf, isAway, missingRanks } from './graph.ts'
import { hotRank, ranksIn, readingRank } from './gpus.ts'
import type { Job } from './job.ts'
import { firstMismatch, type Mismatch } from './mismatch.ts'
import { deviatingRanks } from './order.ts'
import { circle, unequalTransfer } from './pairs.ts'
import { standingOf, waitsForOthers, withThoseBeside } from './places.ts'
import { minority, sidesBy } from './signature.ts'

export type Suspects = {
  readonly cause: Cause
  readonly ranks: readonly number[]
  readonly confidence: Confidence
  /** A predicate: "has not joined …". */
  readonly reason: string
  readonly mismatch?: Mismatch
  /** The place in the sequence of each process at which they left that of the others. */
  readonly record?: number
  /** The calls that do not fit together, by rank, where it is not known which of them is wrong. */
  readonly calls?: ReadonlyMap<number, Op>
}
type Way = (job: Job) => Suspects | undefined

const sorted = (ranks: Iterable<number>): number[] => [...new Set(ranks)].toSorted((a, b) => a - b)
type Reason = string | ((many: boolean) => string)
const suspects = (cause: Cause, ranks: Iterable<number>, confidence: Confidence, reason: Reason): Suspects | undefined => {
  const list = sorted(ranks)
  return list.length === 0 ? undefined : { cause, ranks: list, confidence, reason: typeof reason === 'string' ? reason : reason(list.length > 1) }
}
const have = (many: boolean): string => (many ? 'have' : 'has')

const causeOf = (job: Job, ranks: readonly number[]): Cause =>
  ranks.some((rank) => job.dead(rank)) ? 'dead' : ranks.some((rank) => job.of(rank)?.exception !== undefined) ? 'exception' : 'missing'

/** A library names the ranks itself. */
const named: Way = (job) => {
  const said = (what: string): number[] => job.evidence.statements.flatMap(({ statement }) => (statement.what === what ? statement.ranks : []))
  const missing = said('missing')
  return suspects(causeOf(job, missing), missing, 'read', (many) => `${many ? 'were' : 'was'} named by the library that waited`)
}

/** A library compared the calls. It names two ranks at a time, and the one that differs from several others is wrong. */
const compared: Way = (job) => {
  const said = job.evidence.statements.flatMap(({ statement: { what, ranks } }) => (what === 'mismatch' ? [ranks] : []))
  if (said.length === 0) return undefined
  const pairs = new Map(said.flatMap((ranks) => (ranks.length === 2 ? [[sorted(ranks).join(' '), ranks]] : [])))
  const [first = []] = pairs.values()
  const always = pairs.size < 2 ? [] : first.filter((rank) => [...pairs.values()].every((pair) => pair.includes(rank)))
  return {
    cause: 'mismatch',
    ranks: sorted(always),
    confidence: 'read',
    reason: 'called something else than the others, says the library that compared the calls',
  }
}

const graph: Way = (job) => {
  const missing = withThoseBeside(job, missingRanks(job))
  return suspects(causeOf(job, missing), missing, 'computed', (many) => `${have(many)} not joined the collective that the others wait in`)
}

const mismatch: Way = (job) => {
  const found = firstMismatch(job)
  if (found === undefined) return undefined
  const issued = [...found.sides.keys()].map((side) => side.split(' ')[0] ?? '')
  return {
    cause: 'mismatch',
    ranks: found.wrong ?? [],
    confidence: 'computed',
    reason: new Set(issued).size > 1 ? 'issued another operation than the others at the same place' : 'passed another size or type than the others',
    mismatch: found,
  }
}

const order: Way = (job) => {
  const found = deviatingRanks(job)
  return found === undefined
    ? undefined
    : {
        cause: 'order',
        ranks: found.ranks,
        confidence: 'computed',
        reason: 'issued collectives in another sequence than the others',
        record: found.record,
      }
}

/** A receive of another size than the send: both know only their own. */
const unequal: Way = (job) => {
  const calls = unequalTransfer(job)
  return calls === undefined
    ? undefined
    : { cause: 'mismatch', ranks: [], confidence: 'computed', reason: 'sends another size than the other one receives', calls }
}

const inCircle: Way = (job) => {
  const ranks = circle(job, (rank) => blockersOf(job, rank))
  if (ranks === undefined) return undefined
  const calls = new Map(ranks.flatMap((rank): [number, Op][] => [job.head(rank)].flatMap((op) => (op === undefined ? [] : [[rank, op]]))))
  return { cause: 'order', ranks: [], confidence: 'computed', reason: 'waits for the next, and the last for the first', calls }
}

/** Ended, or standing in something of their own while others wait; for runs without a recorder. */
const stacks: Way = (job) => {
  const dead = job.ranks.filter((rank) => job.dead(rank))
  if (dead.length > 0 && dead.length < job.ranks.length) return suspects('dead', dead, 'read', 'ended')
  const threw = job.ranks.filter((rank) => job.of(rank)?.exception !== undefined && !waitsForOthers(standingOf(job.of(rank))))
  const waiting = job.ranks.filter((rank) => waitsForOthers(standingOf(job.of(rank))))
  const away = job.ranks.filter((rank) => isAway(job, rank))
  const elsewhere = job.ranks.filter((rank) => standingOf(job.of(rank))?.kind === 'code')
  const all = sorted([...threw, ...away, ...(waiting.length > 0 ? elsewhere : [])])
  if (all.length === 0 || all.length * 2 > job.ranks.length) return undefined
  return suspects(
    causeOf(job, all),
    all,
    waiting.length > 0 ? 'computed' : 'likely',
    (many) => `${many ? 'are' : 'is'} in no collective, by the stack, while others wait in one`,
  )
}

/** A GPU that idles while the others spin has no kernel of the collective: that rank did not launch it. */
const idleGpu: Way = (job) => {
  const idle = ranksIn(job, 'idle').filter((rank) => !job.dead(rank))
  return ranksIn(job, 'spins').length > idle.length
    ? suspects('missing', idle, 'likely', (many) => `${have(many)} an idle GPU while the GPUs of the others wait in a kernel`)
    : undefined
}

const launched: Way = (job) => {
  const counts = countsOf(job)
  if (counts === undefined || counts.moved) return undefined
  const few = (ranks: readonly number[]): readonly number[] => (ranks.length * 2 < job.ranks.length ? ranks : [])
  return (
    suspects('dead', counts.dead, 'read', (many) => `${many ? 'do' : 'does'} not answer NCCL (RAS)`) ??
    suspects('missing', few(counts.behind), 'computed', 'launched fewer collectives than the others (NCCL RAS)') ??
    suspects('order', few(counts.ahead), 'computed', 'launched more collectives than the others (NCCL RAS)') ??
    suspects('mismatch', counts.differing, 'computed', 'launched other collectives than the others (NCCL RAS)')
  )
}

/** Ranks whose watchdog saw no time-out, where nearly all others did: they waited for nothing. */
const silentWatchdog: Way = (job) => {
  const silent = job.ranks.filter((rank) => (job.of(rank)?.timeouts.length ?? 0) === 0)
  return silent.length * 3 <= job.ranks.length
    ? suspects(causeOf(job, silent), silent, 'likely', 'did not time out, while the watchdogs of the others did')
    : undefined
}

/** A few ranks wait at another line than all others: they left the loop, or went another way. */
const otherLine: Way = (job) => {
  const sides = sidesBy(job.ranks, (rank) => {
    const at = standingOf(job.of(rank))?.at ?? job.of(rank)?.raisedAt
    return at === undefined ? undefined : `${at.file}:${at.line}`
  })
  const few = minority(sides)
  const largest = Math.max(0, ...[...sides.values()].map((ranks) => ranks.length))
  return few !== undefined && few.length * 4 <= job.ranks.length && largest * 3 >= job.ranks.length * 2
    ? suspects('left_early', few, 'likely', (many) => `${many ? 'wait' : 'waits'} at another line than all others`)
    : undefined
}

/** Gloo: those that timed out are victims; the connection of the one that came late, or ended, was closed. */
const gaveUp: Way = (job) => {
  const ranks = (what: string): Set<number> => new Set(job.evidence.statements.flatMap(({ statement }) => (statement.what === what ? statement.ranks : [])))
  const [victims, lost] = [ranks('waits'), ranks('lost_peer')]
  const other = job.ranks.filter((rank) => !victims.has(rank) && (victims.size > 0 || !lost.has(rank)))
  if ((victims.size === 0 && lost.size === 0) || other.length === 0 || other.length * 2 >= job.ranks.length) return undefined
  return victims.size > 0
    ? other.every((rank) => lost.has(rank))
      ? suspects('late', other, 'likely', 'came after the others had timed out')
      : suspects('missing', other, 'likely', (many) => `${many ? 'are' : 'is'} not among those that timed out`)
    : suspects('dead', other, 'likely', 'closed the connection to the others')
}

/** All issued the same, one of them after the time-out of the others. */
const late: Way = (job) => {
  const lastOps = job.ranks.flatMap((rank) => job.of(rank)?.ops?.findLast(({ p2p }) => !p2p) ?? [])
  const [one] = lastOps
  if (one?.timeoutSeconds === undefined || lastOps.length < 2 || lastOps.some(({ group, seq }) => group !== one.group || seq !== one.seq)) return undefined
  const first = Math.min(...lastOps.map(({ issued }) => issued ?? Number.POSITIVE_INFINITY))
  const limit = first + one.timeoutSeconds
  return suspects(
    'late',
    job.ranks.filter((rank) => (job.of(rank)?.ops?.findLast(({ p2p }) => !p2p)?.issued ?? 0) > limit),
    'computed',
    'joined after the time-out of the others',
  )
}

/** With timing on, a collective that all issued has started on the GPUs of all members but the one that is busy with something else. */
const notStarted: Way = (job) => {
  const waiting = job.ranks.filter((rank) => {
    const head = job.head(rank)
    if (head === undefined || head.state !== 'waiting' || head.p2p) return false
    const others = job.members(head.group).filter((member) => member !== rank)
    return others.length > 0 && others.every((member) => job.at(member, head.group, head.seq)?.state === 'started')
  })
  return suspects(
    'kernel',
    waiting,
    'computed',
    (many) => `${have(many)} not started the collective on the GPU, all others have: a kernel before it does not end`,
  )
}

const hotGpu: Way = (job) => {
  const rank = hotRank(job)
  return rank === undefined ? undefined : suspects('kernel', [rank], 'likely', 'has a GPU that draws clearly more power than those that only wait')
}

const readingGpu: Way = (job) => {
  const rank = readingRank(job)
  return rank === undefined ? undefined : suspects('kernel', [rank], 'likely', 'has the only GPU that reads memory; those of the others only wait')
}

const WAYS: readonly Way[] = [
  named,
  graph,
  mismatch,
  compared,
  unequal,
  late,
  order,
  inCircle,
  stacks,
  launched,
  idleGpu,
  gaveUp,
  silentWatchdog,
  otherLine,
  notStarted,
  hotGpu,
  readingGpu,
]

/** Without ranks: two sides disagree, and nothing says which of them is wrong. */
export function findSuspects(job: Job): Suspects | undefined {
  let undecided: Suspects | undefined
  for (const way of WAYS) {
    const found = way(job)
    if (found === undefined) continue
    if (found.ranks.length > 0) return found
    undecided ??= found
  }
  return undecided
}
