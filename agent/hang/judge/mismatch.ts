// Ranks that issued something else than their peers at the same place of a group.
import type { Op } from '../model.ts'
import type { Job } from './job.ts'
import { agree, minority, sidesBy, signatureOf } from './signature.ts'

export type Mismatch = {
  readonly group: string
  readonly seq: number
  /** Undefined where the sides are equal, so that nobody can say who is wrong. */
  readonly wrong: readonly number[] | undefined
  readonly sides: ReadonlyMap<string, readonly number[]>
  readonly issued: number
}

/** Places at which a rank waits, and the last place of each group: Gloo marks what timed out as ended. */
function placesToCompare(job: Job): readonly (readonly [group: string, seq: number])[] {
  const places = new Map<string, readonly [string, number]>()
  const add = (op: Op | undefined): void => {
    if (op !== undefined && !op.p2p) places.set(`${op.group}#${op.seq}`, [op.group, op.seq])
  }
  for (const rank of job.ranks) {
    add(job.head(rank))
    const last = new Map<string, Op>()
    for (const op of job.of(rank)?.ops ?? []) if (!op.p2p) last.set(op.group, op)
    for (const op of last.values()) add(op)
  }
  return [...places.values()]
}

/** Tensor-parallel groups, stages and the like do the same at the same place: the other groups of that name decide where two ranks disagree. */
function wrongByOtherGroups(job: Job, group: string, seq: number, sides: ReadonlyMap<string, readonly number[]>): readonly number[] | undefined {
  const mine = job.group(group)
  if (mine === undefined || mine.desc === '') return undefined
  const votes = new Map<string, number>()
  for (const other of job.evidence.groups.values()) {
    if (other.key === group || other.desc !== mine.desc) continue
    // Of a group that only lines describe, not all members are known.
    if (other.members.length !== mine.members.length && other.partial !== true && mine.partial !== true) continue
    for (const rank of other.members) {
      const op = job.at(rank, other.key, seq)
      if (op !== undefined) votes.set(signatureOf(op), (votes.get(signatureOf(op)) ?? 0) + 1)
    }
  }
  const [best] = [...votes].toSorted((a, b) => b[1] - a[1])
  const right = best === undefined ? undefined : sides.get(best[0])
  return right === undefined ? undefined : [...sides].flatMap(([signature, ranks]) => (signature === best?.[0] ? [] : ranks)).toSorted((a, b) => a - b)
}

/** How often what a rank issued has followed what it issued just before, of all that did. */
function habit(ops: readonly Op[], at: number): number {
  const text = (op: Op | undefined): string => (op === undefined ? '' : `${op.group} ${signatureOf(op)}`)
  const [before, now] = [text(ops[at - 1]), text(ops[at])]
  let [seen, followed] = [0, 0]
  for (let i = 1; i < at; i += 1) {
    if (text(ops[i - 1]) !== before) continue
    seen += 1
    if (text(ops[i]) === now) followed += 1
  }
  return seen === 0 ? 0 : followed / seen
}

/** A program repeats: of two sides of equal size, the one that leaves what it always did is wrong. */
function wrongByHabit(job: Job, group: string, seq: number, sides: ReadonlyMap<string, readonly number[]>): readonly number[] | undefined {
  const habits = [...sides.values()].map((ranks) => {
    const values = ranks.flatMap((rank) => {
      const ops = job.of(rank)?.ops ?? []
      const at = ops.findIndex((op) => !op.p2p && op.group === group && op.seq === seq)
      return at < 1 ? [] : [habit(ops, at)]
    })
    return { ranks, habit: values.length === ranks.length ? values.reduce((sum, value) => sum + value, 0) / values.length : Number.NaN }
  })
  const [best, next] = habits.toSorted((a, b) => b.habit - a.habit)
  if (best === undefined || next === undefined || habits.some(({ habit }) => Number.isNaN(habit)) || best.habit < 0.5 || next.habit > best.habit / 2)
    return undefined
  return habits
    .filter((side) => side !== best)
    .flatMap(({ ranks }) => ranks)
    .toSorted((a, b) => a - b)
}

/** The earliest place at which ranks disagree. */
export function firstMismatch(job: Job): Mismatch | undefined {
  const found: Mismatch[] = []
  for (const [group, seq] of placesToCompare(job)) {
    const ops = job.members(group).flatMap((rank) => job.at(rank, group, seq) ?? [])
    const typed = ops.filter(({ dtypes }) => dtypes !== '')
    const sides = sidesBy(job.members(group), (rank) => {
      const op = job.at(rank, group, seq)
      return op === undefined ? undefined : signatureOf(typed.find((other) => agree(other, op) && (op.dtypes === '' || other.dtypes === op.dtypes)) ?? op)
    })
    if (sides.size < 2) continue
    const wrong = minority(sides) ?? wrongByOtherGroups(job, group, seq, sides) ?? wrongByHabit(job, group, seq, sides)
    found.push({ group, seq, wrong, sides, issued: Math.min(...ops.map(({ issued }) => issued ?? Number.POSITIVE_INFINITY)) })
  }
  const [first] = found.toSorted((a, b) => a.issued - b.issued)
  return first === undefined ? undefined : withSiblings(job, first, found)
}

/** Ranks of several groups of one kind may all leave the program at the same place: each such group has its own. */
function withSiblings(job: Job, first: Mismatch, found: readonly Mismatch[]): Mismatch {
  const desc = job.group(first.group)?.desc ?? ''
  if (first.wrong === undefined || desc === '') return first
  const calls = ({ sides }: Mismatch): string => [...sides.keys()].toSorted().join('\n')
  const alike = found.filter((other) => job.group(other.group)?.desc === desc && other.seq === first.seq && calls(other) === calls(first))
  const wrong = new Set(alike.flatMap((other) => other.wrong ?? []))
  return { ...first, wrong: [...wrong].toSorted((a, b) => a - b) }
}
