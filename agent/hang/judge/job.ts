// The evidence put in order for the judgement: who is in which group, what each rank waits for, and how far it has come.
import type { Evidence, Group, Op, RankEvidence } from '../model.ts'
import { transfersIn, type Transfer } from './pairs.ts'

export type Job = {
  readonly evidence: Evidence
  /** Every rank that is known, or must exist because a group names it. */
  readonly ranks: readonly number[]
  readonly of: (rank: number) => RankEvidence | undefined
  readonly group: (key: string) => Group | undefined
  readonly members: (key: string) => readonly number[]
  /** The oldest operation of a rank that has not ended; from its recorder, else from what its watchdog printed. */
  readonly head: (rank: number) => Op | undefined
  /** The operation of a rank at a place in a group. */
  readonly at: (rank: number, group: string, seq: number) => Op | undefined
  /** The sends and receives of a rank, those in batches too, in the order of issue. */
  readonly transfers: (rank: number) => readonly Transfer[]
  /** The last collective that the rank issued in a group; undefined where that is not known. */
  readonly issued: (rank: number, group: string) => number | undefined
  readonly dead: (rank: number) => boolean
}

/** How a launcher ends the ranks that were well: not a cause. */
const ENDED_BY_LAUNCHER = /^(?:SIGTERM|SIGINT|-15|-2|143|130|0)$/

function keyOf(evidence: Evidence, rank: number, name: string): string {
  for (const group of evidence.groups.values()) if (group.name === name && group.members.includes(rank)) return group.key
  return name
}

/** What the watchdog of a rank without a recorder said, in the form of the recorder. */
function headOfTimeouts(evidence: Evidence, rank: RankEvidence, clock: number): Op | undefined {
  const oldest = rank.timeouts.filter(({ seq }) => seq !== undefined).toSorted((a, b) => (a.since ?? 0) - (b.since ?? 0))[0]
  if (oldest?.seq === undefined) return undefined
  return {
    record: 0,
    group: oldest.group === undefined ? '' : keyOf(evidence, rank.rank, oldest.group),
    seq: oldest.seq,
    name: oldest.name ?? 'collective',
    p2p: oldest.name === 'send' || oldest.name === 'recv',
    inputs: '',
    elements: { inputs: oldest.inputs ?? '', outputs: oldest.outputs ?? '' },
    dtypes: '',
    state: 'waiting',
    ...(oldest.since === undefined ? {} : { issued: oldest.since + clock }),
    frames: oldest.frames,
  }
}

/** The recorder keeps the newest only: where its first entry waits, the watchdog may have named an older one. */
function headOf(evidence: Evidence, me: RankEvidence, clock: number): Op | undefined {
  const [first] = me.ops ?? []
  const recorded = me.ops?.find(({ state }) => state !== 'done')
  if (first !== undefined && (recorded !== first || first.record === 0)) return recorded
  const said = headOfTimeouts(evidence, me, clock)
  if (recorded === undefined || said === undefined) return recorded ?? said
  const older = said.group === recorded.group && said.p2p === recorded.p2p ? said.seq < recorded.seq : (said.issued ?? 0) < (recorded.issued ?? 0)
  return older ? said : recorded
}

/** Groups that no recorder described, from the lines of the ranks that are in them. */
function addGroupsOfLogs(evidence: Evidence, world: readonly number[]): void {
  for (const me of evidence.ranks.values())
    for (const { group, desc } of me.timeouts) {
      if (group === undefined || Array.from(evidence.groups.values()).some((known) => known.name === group && known.members.includes(me.rank))) continue
      const everybody = desc === 'default_pg' || group === '0'
      const known = evidence.groups.get(group)
      const members = everybody ? world : [...new Set([...(known?.members ?? []), me.rank])].toSorted((a, b) => a - b)
      evidence.groups.set(group, {
        key: group,
        name: group,
        desc: desc ?? known?.desc ?? (everybody ? 'default_pg' : ''),
        members,
        ...(everybody ? {} : { partial: true as const }),
      })
    }
}

/** What to add to the clock of the logs, which has no year, to get that of the recorders; by ranks of which both are known. */
function logClock(evidence: Evidence): number {
  const apart = [...evidence.ranks.values()].flatMap((me) => {
    const head = me.ops?.find(({ state }) => state !== 'done')
    const said = me.timeouts.find(({ seq, name, since }) => since !== undefined && seq === head?.seq && name === head?.name)
    return head?.issued === undefined || said?.since === undefined ? [] : [head.issued - said.since]
  })
  return apart.toSorted((a, b) => a - b)[apart.length >> 1] ?? 0
}

/** Ranks between those that are known, where few are missing: more of them are those of another host, whose log is not here. */
const MOST_BETWEEN = 0.125
function addBetween(named: Set<number>): void {
  const known = [...named]
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const missing = most - least + 1 - known.length
  if (known.length < 2 || missing > Math.max(1, MOST_BETWEEN * known.length)) return
  for (let rank = least; rank < most; rank++) named.add(rank)
}

export function jobOf(read: Evidence): Job {
  // What follows from the lines of logs is for this judgement: evidence that comes later may describe the same groups.
  const evidence: Evidence = { ...read, groups: new Map(read.groups) }
  const named = new Set(evidence.ranks.keys())
  for (const { members } of evidence.groups.values()) for (const rank of members) named.add(rank)
  for (const { statement } of evidence.statements) for (const rank of statement.ranks) named.add(rank)
  if (evidence.sharedLog === true) addBetween(named)
  const ranks = [...named].toSorted((a, b) => a - b)
  addGroupsOfLogs(evidence, ranks)
  const clock = logClock(evidence)
  const heads = new Map<number, Op>()
  const places = new Map<number, Map<string, Op>>()
  for (const me of evidence.ranks.values()) {
    const head = headOf(evidence, me, clock)
    if (head !== undefined) heads.set(me.rank, head)
    const countable = (me.ops ?? []).filter(({ p2p, uncounted }) => !p2p && uncounted !== true)
    places.set(me.rank, new Map(countable.map((op) => [`${op.group}#${op.seq}`, op])))
    if (head !== undefined && !head.p2p && head.uncounted !== true) places.get(me.rank)?.set(`${head.group}#${head.seq}`, head)
  }
  const uncounted = new Set([...evidence.ranks.values()].flatMap(({ rank, ops = [] }) => ops.flatMap((op) => (op.uncounted ? [`${rank} ${op.group}`] : []))))
  const transfers = new Map<number, readonly Transfer[]>()
  const inGroup = new Map<string, number[]>()
  for (const me of evidence.ranks.values())
    for (const key of new Set(me.ops?.map(({ group }) => group))) inGroup.set(key, [...(inGroup.get(key) ?? []), me.rank])
  return {
    evidence,
    ranks,
    of: (rank) => evidence.ranks.get(rank),
    group: (key) => evidence.groups.get(key),
    members(key) {
      const group = evidence.groups.get(key)
      if (group !== undefined && group.members.length > 0) return group.members
      return group?.desc === 'default_pg' ? ranks : (inGroup.get(key) ?? [])
    },
    head: (rank) => heads.get(rank),
    transfers(rank) {
      const known = transfers.get(rank)
      if (known !== undefined) return known
      const made = transfersIn(evidence.ranks.get(rank)?.ops ?? [])
      transfers.set(rank, made)
      return made
    },
    at: (rank, group, seq) => places.get(rank)?.get(`${group}#${seq}`),
    issued(rank, key) {
      const me = evidence.ranks.get(rank)
      if (me === undefined || uncounted.has(`${rank} ${key}`)) return undefined
      const known = me.issued.get(key) ?? me.issued.get(evidence.groups.get(key)?.name ?? key)
      // A recorder that holds something holds everything the rank issued last, so a group that it lacks was never used.
      return known ?? (me.ops !== undefined && me.ops.length > 0 ? 0 : undefined)
    },
    dead(rank) {
      const me = evidence.ranks.get(rank)
      return me?.alive === false && !ENDED_BY_LAUNCHER.test(me.exit ?? '')
    },
  }
}
