// Ranks that make the others wait again and again, from when each rank issued the same collectives. Clocks of hosts are put right
// by the ends of collectives, which all members see at once.
import type { Op } from '../model.ts'
import type { Job } from './job.ts'

/** So much of its time a rank must cost the others, above what the middle rank costs, to be worth naming. */
export const STRAGGLER_SHARE = 0.05
/** Less is worth naming where it is out: so many times what the next one costs, and more than ranks of healthy jobs differ by chance. */
const LEAST_SHARE = 0.03
/** Beside one that is slow, another one costs less, as its delays hide behind those of the first. */
const SECOND_SHARE = 0.02
const TIMES_THE_NEXT = 3
/** A difference of this size between two ranks says nothing. */
const CHANCE_SHARE = 0.005
const CHUNKS = 8
const LEAST_SLOTS = 12
/** So many operations must be the same one step later; savings and evaluations are the rest. */
const REPEATS = 0.8

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted.length === 0 ? 0 : ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2
}

type Slot = Map<number, Op>

/** The same collective of all ranks that do it alike: of all groups of a name, but of one group only in a pipeline, whose stages are shifted. */
function slotsOf(job: Job): Map<string, Slot> {
  const slots = new Map<string, Slot>()
  const pipeline = job.ranks.some((rank) => job.of(rank)?.ops?.some(({ p2p }) => p2p) === true)
  for (const rank of job.ranks)
    for (const op of job.of(rank)?.ops ?? []) {
      const desc = job.group(op.group)?.desc ?? ''
      // At a barrier everybody may wait for one that saves: rare, and no matter of speed.
      if (op.p2p || op.name === 'barrier' || op.issued === undefined || (pipeline && desc === 'default_pg')) continue
      const key = `${pipeline || desc === '' ? op.group : desc}#${op.seq}`
      const slot = slots.get(key)
      if (slot === undefined) slots.set(key, new Map([[rank, op]]))
      else slot.set(rank, op)
    }
  return slots
}

/** How far each clock is ahead, by the ends of the collectives of each group. */
function clockErrors(job: Job): ReadonlyMap<number, number> {
  const ends = new Map<string, (readonly [rank: number, at: number])[]>()
  for (const rank of job.ranks)
    for (const { p2p, group, seq, completed } of job.of(rank)?.ops ?? []) {
      if (p2p || completed === undefined) continue
      const known = ends.get(`${group}#${seq}`)
      if (known === undefined) ends.set(`${group}#${seq}`, [[rank, completed]])
      else known.push([rank, completed])
    }
  const errors = new Map<number, number[]>()
  for (const list of ends.values()) {
    if (list.length < 2) continue
    const middle = median(list.map(([, at]) => at))
    for (const [rank, at] of list) {
      const known = errors.get(rank)
      if (known === undefined) errors.set(rank, [at - middle])
      else known.push(at - middle)
    }
  }
  return new Map([...errors].map(([rank, values]) => [rank, median(values)]))
}

/** Time of one step: the distance after which the operations of a rank repeat. */
function stepSeconds(ops: readonly Op[]): number | undefined {
  const names = ops.map(({ group, name, elements }) => `${group} ${name} ${elements.inputs}`)
  const alike = (period: number): number => names.filter((name, i) => i >= period && name === names[i - period]).length / (names.length - period)
  for (let period = 1; period <= Math.min(400, names.length / 3); period += 1) {
    if (alike(period) < REPEATS) continue
    return median(ops.flatMap((op, i) => (i < period ? [] : [(op.issued ?? 0) - (ops[i - period]?.issued ?? 0)])))
  }
  return undefined
}

type Lateness = { readonly at: number; readonly late: number }

/** By how much each rank issued each collective after the middle rank. */
function latenessOf(job: Job): ReadonlyMap<number, readonly Lateness[]> {
  const slots = slotsOf(job)
  const errors = clockErrors(job)
  const late = new Map<number, Lateness[]>()
  for (const slot of slots.values()) {
    if (slot.size < 2) continue
    const times = [...slot].map(([rank, op]) => [rank, (op.issued ?? 0) - (errors.get(rank) ?? 0)] as const)
    const middle = median(times.map(([, at]) => at))
    for (const [rank, at] of times) {
      // The earlier of two is as early as the other one is late, and would seem to fall behind in its next operation with others.
      const one = { at, late: slot.size === 2 ? Math.max(0, at - middle) : at - middle }
      const known = late.get(rank)
      if (known === undefined) late.set(rank, [one])
      else known.push(one)
    }
  }
  return late
}

/** It falls behind within each step: the share of the time, in the middle one of eight parts of the record. */
function falling(list: readonly Lateness[]): number {
  const length = Math.ceil(list.length / CHUNKS)
  const parts: number[] = []
  for (let begin = 0; begin + 1 < list.length; begin += length) {
    const part = list.slice(begin, begin + length + 1)
    const span = (part.at(-1)?.at ?? 0) - (part[0]?.at ?? 0)
    let lost = 0
    for (let i = 1; i < part.length; i += 1) lost += Math.max(0, (part[i]?.late ?? 0) - (part[i - 1]?.late ?? 0))
    if (span > 0) parts.push(lost / span)
  }
  return median(parts)
}

/** For each rank, the share of its time that it costs the others: it falls behind again and again, or begins each step late. */
function sharesOf(job: Job): ReadonlyMap<number, number> {
  const step = median(job.ranks.flatMap((rank) => stepSeconds(job.of(rank)?.ops?.filter(({ name }) => name !== 'barrier') ?? []) ?? []))
  return new Map(
    [...latenessOf(job)].flatMap(([rank, list]): [number, number][] => {
      if (list.length < LEAST_SLOTS) return []
      const sorted = list.toSorted((a, b) => a.at - b.at)
      const least = list.map(({ late }) => late).toSorted((a, b) => a - b)[Math.floor(list.length / 5)] ?? 0
      const behind = step > 0 ? least / step : 0
      return [[rank, Math.max(falling(sorted), behind)]]
    }),
  )
}

export function stragglersOf(job: Job): readonly { readonly rank: number; readonly share: number }[] {
  const shares = sharesOf(job)
  if (shares.size < 3) return []
  const usual = median([...shares.values()])
  const above = [...shares].map(([rank, share]) => ({ rank, share: share - usual })).toSorted((a, b) => b.share - a.share)
  const costly = above.filter(({ share }) => share >= STRAGGLER_SHARE).length
  const slow = above.slice(0, Math.max(costly, standingOut(above.map(({ share }) => share))))
  return slow.length * 2 < shares.size ? slow.toSorted((a, b) => a.rank - b.rank) : []
}

/** How many of the first cost far more than the next one; `shares` from the highest down. */
function standingOut(shares: readonly number[]): number {
  if ((shares[0] ?? 0) < LEAST_SHARE) return 0
  for (let count = Math.ceil(shares.length / 2) - 1; count > 0; count -= 1) {
    const least = shares[count - 1] ?? 0
    if (least >= SECOND_SHARE && least >= TIMES_THE_NEXT * Math.max(CHANCE_SHARE, shares[count] ?? 0)) return count
  }
  return 0
}
