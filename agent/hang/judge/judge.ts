// The judgement: from the evidence of a job to who holds it up, since when, and how sure that is. Pure.
import type { Answer, Cause, Doing, Evidence, Frame, Op, Waiting } from '../model.ts'
import { ownFrame } from '../frames.ts'
import { findSuspects, type Suspects } from './culprits.ts'
import { blockersOf } from './graph.ts'
import { jobOf, type Job } from './job.ts'
import { movementOf, type Movement } from './movement.ts'
import { doingOf, standingOf, waitsForOthers } from './places.ts'
import { opText } from './signature.ts'
import { stragglersOf } from './straggler.ts'
import { loneWorkers } from './lone.ts'
import { undecidedOf, waitsApart, type Undecided } from './undecided.ts'
import { andList } from '../../text/grammar.ts'

const waitingOf = (job: Job): Waiting[] =>
  job.ranks.flatMap((rank) => {
    const head = job.head(rank)
    if (head === undefined || job.dead(rank)) return []
    const group = job.group(head.group)
    return [
      {
        rank,
        group: group?.name ?? head.group,
        desc: group?.desc ?? '',
        seq: head.seq,
        op: head.name,
        ...(head.issued === undefined ? {} : { since: head.issued }),
      },
    ]
  })

const earliest = (ops: readonly Op[]): Op | undefined =>
  ops.toSorted((a, b) => (a.issued ?? Number.POSITIVE_INFINITY) - (b.issued ?? Number.POSITIVE_INFINITY))[0]

/** The first collective, among those that the others wait in, that a culprit should have joined; without culprits, the first of all. */
function rootOf(job: Job, culprits: readonly number[]): Op | undefined {
  const wanted = new Set(culprits)
  const heads = job.ranks.flatMap((rank) => {
    const head = job.head(rank)
    return head === undefined || wanted.has(rank) || job.dead(rank) ? [] : [head]
  })
  if (culprits.length === 0) {
    // Nobody is missing: it is where all members of a group wait, not where some wait for these.
    const whole = heads.filter(
      ({ group, seq, p2p }) => !p2p && job.members(group).every((rank) => job.head(rank)?.group === group && job.head(rank)?.seq === seq),
    )
    if (whole.length > 0) return earliest(whole)
  }
  // Of a group that no line describes, nobody knows the members.
  const concerned = heads.filter(({ group }) => {
    const members = job.members(group)
    return members.length === 0 || job.group(group)?.partial === true || members.some((rank) => wanted.has(rank))
  })
  return earliest(concerned.length > 0 ? concerned : heads)
}

/** What each rank issued where the two sides part: in its sequence of operations, else at the place of the group. */
function callSitesOf(job: Job, { mismatch, record, ranks, calls }: Suspects, root: Op | undefined): Answer['callSites'] {
  const place = mismatch ?? root
  const group = (op: Op): string => job.group(op.group)?.desc ?? ''
  const sides = new Map<string, { ranks: number[]; what: string; at?: Frame }>()
  for (const rank of calls !== undefined ? calls.keys() : place === undefined || record !== undefined ? job.ranks : job.members(place.group)) {
    const op =
      calls !== undefined
        ? calls.get(rank)
        : record === undefined
          ? place === undefined
            ? undefined
            : job.at(rank, place.group, place.seq)
          : job.of(rank)?.ops?.find((one) => one.record === record)
    if (op === undefined) continue
    const at = ownFrame(op.frames)
    const what = record === undefined ? opText(op) : `${opText(op)} of ${group(op)}`
    const key = `${ranks.includes(rank) ? '0' : '1'} ${what} ${at?.file ?? ''}:${at?.line ?? ''}`
    const known = sides.get(key)
    if (known === undefined) sides.set(key, { ranks: [rank], what, ...(at === undefined ? {} : { at }) })
    else known.ranks.push(rank)
  }
  return [...sides]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, side]) => side)
    .slice(0, 8)
}

function standsOf(job: Job, culprits: readonly number[]): ReadonlyMap<number, Frame> {
  return new Map(
    culprits.flatMap((rank): [number, Frame][] => {
      const me = job.of(rank)
      const at = standingOf(me)?.at ?? me?.raisedAt
      return at === undefined ? [] : [[rank, at]]
    }),
  )
}

const doingsOf = (job: Job, ranks: readonly number[]): ReadonlyMap<number, Doing> =>
  new Map(ranks.map((rank) => [rank, doingOf(job.of(rank), standingOf(job.of(rank)))]))

const LONG_BY_NATURE: ReadonlySet<Doing> = new Set(['save', 'compile', 'evaluate'])
/** What a rank may do for long while it works, where the job has said that it begins a long phase. */
const WORK: ReadonlySet<Doing> = new Set(['code', 'loop', 'sleep', 'unknown'])

/**
 * A phase that is long by nature: what the missing rank does says so, or the job's own last words. While others wait, one that prepares data does
 * so within its step, and should not take long.
 */
function isSlowPhase(job: Job, movement: Movement, ranks: readonly number[]): boolean {
  if (movement.state === 'ended' || ranks.length === 0) return false
  const said = job.evidence.silence?.busyWith !== undefined
  return [...doingsOf(job, ranks).values()].every(
    (doing) => LONG_BY_NATURE.has(doing) || (doing === 'prepare' && ranks.length === job.ranks.length) || (said && WORK.has(doing)),
  )
}

function answer(job: Job, parts: Partial<Answer> & Pick<Answer, 'verdict' | 'cause'>): Answer {
  const culprits = parts.culprits ?? []
  return { culprits, waiting: [], stands: standsOf(job, culprits), doing: doingsOf(job, culprits), callSites: [], confidence: 'likely', evidence: [], ...parts }
}

/** All joined: most likely the connection. Else no rank can be named, and which of the others it is stays open. */
const CAUSE_WITHOUT_CULPRITS: Readonly<Record<Undecided['state'], Cause>> = { joined: 'transport', unread: 'transport', open: 'missing', elsewhere: 'order' }

const LOOK_AGAIN = 'they were looked at once, and a running job shows the same for a moment: look again after 10 s; if nothing has moved, it hangs'

function reasonText({ ranks, cause, calls, reason }: Suspects): string {
  if (ranks.length > 0) return `${ranks.length === 1 ? 'rank' : 'ranks'} ${andList(ranks.map(String))} ${reason}`
  return cause === 'order' && calls !== undefined
    ? `each of ranks ${andList([...calls.keys()].map(String))} ${reason}`
    : `the calls of the ranks differ: one side ${reason}`
}

function rootPart(job: Job, root: Op | undefined): Pick<Answer, 'root'> {
  if (root === undefined) return {}
  const group = job.group(root.group)
  return {
    root: {
      group: group?.name ?? root.group,
      desc: group?.desc ?? '',
      seq: root.seq,
      op: root.name,
      ...(root.issued === undefined ? {} : { since: root.issued }),
    },
  }
}

/** The job goes on: is one rank slow, or do all wait for one that does something alone? */
function whileMoving(job: Job, movement: Movement): Answer {
  const stragglers = stragglersOf(job)
  const slow = stragglers.map(({ rank }) => rank)
  if (slow.length > 0)
    return answer(job, {
      verdict: 'straggler',
      cause: 'straggler',
      culprits: slow,
      confidence: 'computed',
      evidence: [
        ...movement.evidence,
        ...stragglers.map(({ rank, share }) => `rank ${rank} issues its collectives late and costs the others ${Math.round(share * 100)} % of their time`),
      ],
    })
  const alone = loneWorkers(job)
  // At any moment of a healthy job one rank is the last to join: only a second look shows whether it is slow or just came last.
  if (alone.length > 0)
    return answer(job, {
      verdict: 'slow_phase',
      cause: 'straggler',
      culprits: alone,
      evidence: [...movement.evidence, 'the GPUs of all other ranks only wait in a kernel'],
    })
  const waiting = waitingOf(job)
  const barrier = waiting.find(({ op }) => op === 'barrier')
  const absent = barrier === undefined ? [] : blockersOf(job, barrier.rank).filter(({ why }) => why === 'absent')
  const [one] = absent
  if (one !== undefined && absent.length === 1)
    return answer(job, {
      verdict: 'slow_phase',
      cause: 'slow_phase',
      culprits: [one.rank],
      waiting,
      evidence: [...movement.evidence, `the others wait for rank ${one.rank} at a barrier`],
    })
  return answer(job, { verdict: 'healthy', cause: 'none', confidence: movement.confidence, evidence: movement.evidence })
}

/** What a rank seems to do, too, that waits for others in a library that nobody here knows. */
const MAY_WAIT: ReadonlySet<Doing> = new Set(['lock', 'network', 'code', 'unknown'])
/** Ranks on other hosts are not seen, and all that are are at one line. */
function mayWaitForUnseen(job: Job): boolean {
  if ((job.evidence.worldSize ?? 0) <= job.evidence.ranks.size) return false
  const places = new Set([...standsOf(job, job.ranks).values()].map(({ file, line }) => `${file}:${line}`))
  return places.size === 1 && [...doingsOf(job, job.ranks).values()].every((doing) => MAY_WAIT.has(doing))
}

/** A server idles; that its GPUs compute nothing is no sign of a hang. Only a job whose own steps have stopped should be elsewhere. */
function isIdleServer(job: Job, ranks: readonly number[]): boolean {
  const { silence } = job.evidence
  if (ranks.length === 0 || silence === undefined || (silence.by === 'log' && silence.usualSeconds !== undefined)) return false
  return [...doingsOf(job, ranks).values()].every((doing) => doing === 'requests')
}

/** One process has nobody to be compared with: where it is and what it does there is the answer. */
function ofOne(job: Job, movement: Movement): Answer | undefined {
  const [rank, ...others] = job.ranks
  if (rank === undefined || others.length > 0 || movement.state === 'ended' || standingOf(job.of(rank)) === undefined) return undefined
  // Without a word of its progress nobody knows whether it should be elsewhere.
  const { silence } = job.evidence
  if (isIdleServer(job, [rank])) return answer(job, { verdict: 'healthy', cause: 'none', evidence: movement.evidence })
  if (silence !== undefined && movement.state === 'still') {
    const slow = isSlowPhase(job, movement, [rank])
    return answer(job, {
      verdict: slow ? 'slow_phase' : 'hang',
      cause: slow ? 'slow_phase' : 'stuck',
      culprits: [rank],
      confidence: 'likely',
      evidence: movement.evidence,
    })
  }
  return answer(job, {
    verdict: 'unknown',
    cause: 'none',
    stands: standsOf(job, [rank]),
    doing: doingsOf(job, [rank]),
    confidence: 'read',
    evidence: job.of(rank)?.still === false ? ['it moved between two looks'] : movement.evidence,
  })
}

/** Without anything that says that it does not move, a rank that waits is what every running job shows. */
export function judge(evidence: Evidence): Answer {
  const job = jobOf(evidence)
  const movement = movementOf(job)
  if (job.ranks.length === 0) return answer(job, { verdict: 'unknown', cause: 'none', evidence: ['no rank was found in the evidence'] })
  const one = ofOne(job, movement)
  if (one !== undefined) return one
  if (movement.state === 'moves') return whileMoving(job, movement)
  const waiting = waitingOf(job)
  const found = findSuspects(job)
  const culprits = found?.ranks ?? []
  const root = rootOf(job, culprits)
  const waitsByStack = job.ranks.filter((rank) => waitsForOthers(standingOf(job.of(rank)))).length
  const nobodyWaits = waitsByStack < 2 && waiting.length === 0 && movement.state !== 'ended' && found === undefined
  // All of them are in something of their own, as when the storage of all is gone.
  if (nobodyWaits && job.evidence.silence !== undefined && movement.state === 'still') {
    const slow = isSlowPhase(job, movement, job.ranks)
    return answer(job, {
      verdict: slow ? 'slow_phase' : 'hang',
      cause: slow ? 'slow_phase' : 'stuck',
      ...(!slow && mayWaitForUnseen(job) ? { stands: standsOf(job, job.ranks) } : { culprits: job.ranks }),
      confidence: 'likely',
      evidence: [...movement.evidence, 'no rank waits for another'],
    })
  }
  if (nobodyWaits)
    return answer(job, {
      verdict: movement.state === 'still' ? 'unknown' : 'healthy',
      cause: 'none',
      evidence: [...movement.evidence, 'no rank waits for another'],
    })
  const undecided = found === undefined ? undecidedOf(job, root) : undefined
  const cause: Cause = found?.cause ?? CAUSE_WITHOUT_CULPRITS[undecided?.state ?? 'unread']
  const common = {
    culprits,
    waiting,
    ...rootPart(job, root),
    evidence: [...movement.evidence, ...(undecided === undefined ? [] : [undecided.text]), ...(found === undefined ? [] : [reasonText(found)])],
    callSites: found !== undefined && (found.cause === 'mismatch' || found.cause === 'order') ? callSitesOf(job, found, root) : [],
    confidence: found === undefined || movement.confidence === 'likely' ? ('likely' as const) : found.confidence,
  }
  if (isSlowPhase(job, movement, culprits)) return answer(job, { ...common, verdict: 'slow_phase', cause: 'slow_phase' })
  if (isIdleServer(job, culprits)) return answer(job, { ...common, verdict: 'healthy', cause: 'none', culprits: [] })
  // A disagreement is no state of a healthy job, whenever it is seen.
  const sure = (found?.cause === 'mismatch' || found?.cause === 'late') && culprits.length > 0
  // Seen once, groups without a common rank wait at the same time: a running job shows that now and then, and no one connection explains it.
  const seenOnce = movement.once === true && undecided !== undefined && waitsApart(job)
  if (movement.state === 'open' && !sure) return answer(job, { ...common, verdict: 'unknown', cause })
  if (seenOnce && !sure) return answer(job, { ...common, verdict: 'unknown', cause, evidence: [...common.evidence, LOOK_AGAIN] })
  return answer(job, { ...common, verdict: 'hang', cause })
}
