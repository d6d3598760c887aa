// What each holder of one GPU used between two looks: time held, time active, idle time, memory, energy. The parts sum to the GPU's own counters. Pure.
import { NO_USE, type CardCheckpoint, type CardHolder, type Use } from '../../model/ledger.ts'
import { seatKey } from '../usage.ts'
import { allTheTime, holderKey, presenceOf, presenceOverGap, seatsOf, type Present, type SeatUse } from './presence.ts'

/** One look at a GPU. What could not be read is absent. */
export type CardLook = {
  readonly t: number
  /** Utilization, 0 to 1; under MIG by instance, in `instances`. */
  readonly ratio?: number
  readonly instances?: ReadonlyMap<string, number>
  readonly instancesAt?: number
  /** The counter of joules, and the power now, which is in where there is none. */
  readonly counter?: number
  readonly watts?: number
  /** One for each run and instance. */
  readonly holders: readonly CardHolder[]
}
/** Without a holder: energy of the time in which nobody held the GPU (`isUnheld`), or of processes that came and went between two looks. */
export type CardPart = { readonly holder?: CardHolder; readonly isUnheld?: true; readonly use: Use; readonly held?: HeldPart }
/** Of a holder's part. `ms`: since the look before. `seatMs`: its share of the time in which its seat was held. */
export type HeldPart = { readonly ms: number; readonly seatMs: number; readonly hasActive: boolean; readonly hasEnergy: boolean }
export type CardMeter = {
  /** `endOf`: when a run of the look before ended, as far as that is known; asked after a long time without looks. */
  readonly look: (look: CardLook, endOf: (run: string) => number | undefined) => readonly CardPart[]
  readonly checkpoint: () => CardCheckpoint | undefined
}

/** Looks come each second; what is read after a longer time says nothing of all of it. */
const GAP_MS = 15_000
/** An agent that was killed is back within this: who came or went counts for half of it. Of a longer time the start of a run counts where it is known. */
const HALF_MS = 60_000
/** For longer than that without a look nobody's time is counted, and the energy is nobody's. */
const MAX_GAP_MS = 10 * 60_000
/** Between two looks. */
const LOOK_MS = 1_000
/** No GPU of today takes half of it, so that looks that come unevenly are within it. */
const MOST_WATTS = 4_000
const LEAST_PART = 0.2
/** Less is the rounding of whole percents. */
const IDLE = 0.005
/** How much one look at an idle GPU moves its idle power. */
const LEARNING = 0.05

type Interval = { readonly ms: number; readonly present: readonly Present[] }
type Busy = Pick<CardLook, 'ratio' | 'instances' | 'instancesAt'>
type Before = { readonly t: number; readonly holders: readonly CardHolder[]; readonly busy?: Busy }
const NO_SEAT: SeatUse = { now: 0, weights: 1, occupied: 0 }
const beforeOf = ({ t, holders, ratio, instances }: CardCheckpoint): Before => ({
  t,
  holders,
  busy: { ...(ratio === undefined ? {} : { ratio }), ...(instances === undefined ? {} : { instances: new Map(Object.entries(instances)) }) },
})
/** A time without looks counts as busy as halfway between the looks before and after it. */
const between = (a: number | undefined, b: number | undefined): number | undefined => (a === undefined || b === undefined ? (b ?? a) : (a + b) / 2)
function busyBetween({ busy = {} }: Before, { ratio: now, instances: nowBy }: Busy): Busy {
  const ratio = between(busy.ratio, now)
  const instances = nowBy === undefined ? busy.instances : new Map([...nowBy].map(([gi, of]) => [gi, between(busy.instances?.get(gi), of) ?? of]))
  return { ...(ratio === undefined ? {} : { ratio }), ...(instances === undefined ? {} : { instances }) }
}

/** While it holds the GPU: the driver's figure of one that has just come is a mean over a second of which it was there for a part, on average for half. */
function whilePresent({ holder, weight, isGone }: Present, isGap: boolean, t: number): CardHolder {
  const { ratio, since } = holder
  if (isGone || weight === 1 || ratio === undefined) return holder
  const part = !isGap ? weight : since === undefined ? 1 : Math.max(LEAST_PART, Math.min(1, (t - since) / LOOK_MS))
  return part === 1 ? holder : { ...holder, ratio: Math.min(1, ratio / part) }
}

export function createCardMeter(uuid: string, restored?: CardCheckpoint): CardMeter {
  let before: Before | undefined = restored === undefined ? undefined : beforeOf(restored)
  /** The first look after a restart: what the driver says then is not of all the time since the look before. */
  let isFirst = restored !== undefined
  let counter = restored?.counter
  /** When it was read: not each look has it, the first one after a start least of all. */
  let counterAt = restored?.t
  let idleWatts = restored?.idleWatts

  const read = (now: number | undefined, t: number): void => {
    if (now !== undefined) [counter, counterAt] = [now, t]
  }
  /** Energy since it was last known; undefined where neither counter nor power says. */
  const joulesOf = ({ t, counter: now, watts }: CardLook, ms: number): number | undefined => {
    const [known, sinceMs] = [counter, t - (counterAt ?? t)]
    read(now, t)
    const byPower = watts !== undefined && ms <= GAP_MS ? (watts * ms) / 1_000 : undefined
    if (now !== undefined && known !== undefined) {
      // A counter that fell has started over with the driver.
      const joules = now >= known ? now - known : now
      // One that stepped says nothing of what was used meanwhile, which may be years of another host.
      return joules <= (MOST_WATTS * Math.max(sinceMs, LOOK_MS)) / 1_000 ? joules : (byPower ?? 0)
    }
    return known === undefined ? byPower : 0
  }
  /** The part that the GPU takes anyway, and learns from. */
  const idlePart = (joules: number, ms: number, ratio: number | undefined): number => {
    if (ratio === undefined) return joules
    if (ratio < IDLE) {
      const watts = (joules * 1_000) / ms
      if (ms <= GAP_MS) idleWatts = idleWatts === undefined ? watts : idleWatts + LEARNING * (watts - idleWatts)
      return joules
    }
    return idleWatts === undefined ? joules * (1 - ratio) : Math.min(joules, (idleWatts * ms) / 1_000)
  }
  /** How busy each of those keeps the GPU who hold it now. */
  const ratiosOf = (present: readonly Present[], seats: ReadonlyMap<string, SeatUse>, { ratio, instances }: Busy): ReadonlyMap<CardHolder, number> => {
    const ratios = new Map<CardHolder, number>()
    for (const { holder, isGone } of present) {
      const { card, ratio: own } = holder
      const all = card.gi === undefined ? ratio : instances?.get(card.gi)
      const known = own ?? (all === undefined ? undefined : all / (seats.get(seatKey(card))?.now ?? 1))
      if (!isGone && known !== undefined) ratios.set(holder, known)
    }
    return ratios
  }
  const ratiosBefore = ({ holders }: Before, busy: Busy): ReadonlyMap<CardHolder, number> => {
    const all = allTheTime(holders)
    return ratiosOf(all, seatsOf(all), busy)
  }
  /** The part of the time in which the kernels of each ran. */
  const activeOf = (
    present: readonly Present[],
    ratios: ReadonlyMap<CardHolder, number>,
    last: Before | undefined,
    isGap: boolean,
  ): { readonly parts: readonly number[]; readonly bySeat: ReadonlyMap<string, number> } => {
    const bySeat = new Map<string, number>()
    let before: ReadonlyMap<CardHolder, number> | undefined
    const lastRatio = (holder: CardHolder): number | undefined => {
      if (last?.busy === undefined) return holder.ratio
      before ??= ratiosBefore(last, last.busy)
      return before.get(holder) ?? holder.ratio
    }
    const formerly = new Map(isGap ? last?.holders.map((holder) => [holderKey(holder), lastRatio(holder)]) : [])
    const parts = present.map(({ holder, weight, isGone }) => {
      const key = seatKey(holder.card)
      const seat = bySeat.get(key) ?? 0
      if (isGap && !isGone) {
        // Of one without a figure of its own the GPU's is halfway already.
        const mean = holder.ratio === undefined ? ratios.get(holder) : between(formerly.get(holderKey(holder)), holder.ratio)
        const part = Math.min((mean ?? 0) * weight, Math.max(0, 1 - seat))
        bySeat.set(key, seat + part)
        return part
      }
      // The driver's own figure is of all the time since the look before; what ended worked on as it did, in what the others leave.
      const part = isGone
        ? Math.min((lastRatio(holder) ?? 0) * weight, Math.max(0, 1 - seat))
        : holder.ratio === undefined
          ? (ratios.get(holder) ?? 0) * weight
          : Math.min(holder.ratio, weight)
      bySeat.set(key, seat + part)
      return part
    })
    return { parts, bySeat }
  }
  const split = ({ ms, present }: Interval, energy: number | undefined, look: Busy, last?: Before, isGap = false): readonly CardPart[] => {
    const joules = energy ?? 0
    if (present.length === 0) return joules === 0 ? [] : [{ isUnheld: true, use: { ...NO_USE, joules } }]
    const { instances } = look
    const seats = seatsOf(present)
    const { parts: actives, bySeat } = activeOf(present, ratiosOf(present, seats, look), last, isGap)
    // The GPU is at least as busy as those who say so; with MIG only the instances are known.
    const sum = actives.reduce((total, part) => total + part, 0)
    const isPartitioned = look.ratio === undefined && instances !== undefined
    const ratio = look.ratio ?? (isPartitioned ? Math.min(1, sum) : undefined)
    const idleJoules = idlePart(joules, ms, ratio)
    const activeJoules = joules - idleJoules
    // What came and went since the last look did the rest of the work.
    const whole = isPartitioned ? sum : Math.max(sum, ratio ?? 0)
    let unheld = joules
    const parts = present.map(({ holder, weight }, at): CardPart => {
      const { weights, occupied } = seats.get(seatKey(holder.card)) ?? NO_SEAT
      const active = actives[at] ?? 0
      const share = weight / weights
      const free = holder.card.gi === undefined ? ratio : instances?.get(holder.card.gi)
      const idle = free === undefined ? 0 : Math.min(occupied * (1 - free), occupied - (bySeat.get(seatKey(holder.card)) ?? 0)) * share
      const held = (share * occupied) / seats.size
      const own = idleJoules * held + (whole < IDLE ? activeJoules * held : (activeJoules * active) / whole)
      unheld -= own
      return {
        holder,
        held: { ms, seatMs: share * occupied * ms, hasActive: holder.ratio !== undefined || free !== undefined, hasEnergy: energy !== undefined },
        use: {
          heldMs: weight * ms,
          activeMs: active * ms,
          idleMs: Math.max(0, Math.min(idle, weight - active)) * ms,
          mibSeconds: (holder.mib * weight * ms) / 1_000,
          joules: own,
          tokens: 0,
        },
      }
    })
    const rest = whole < IDLE ? 0 : (activeJoules * (whole - sum)) / whole
    unheld -= rest
    // Less is the rounding of the sums.
    if (rest > 0) parts.push({ use: { ...NO_USE, joules: rest } })
    if (unheld > joules * 1e-9) parts.push({ isUnheld: true, use: { ...NO_USE, joules: unheld } })
    return parts
  }

  return {
    look(look, endOf) {
      const last = before
      const ms = last === undefined ? 0 : look.t - last.t
      const isGap = isFirst || ms > GAP_MS
      isFirst = false
      before = { t: look.t, holders: look.holders, busy: look }
      if (last === undefined || ms <= 0) {
        read(look.counter, look.t)
        return []
      }
      const joules = joulesOf(look, ms)
      if (ms > MAX_GAP_MS) return split({ ms, present: [] }, joules, look)
      const present = ms <= HALF_MS ? presenceOf(last.holders, look.holders) : presenceOverGap(last.holders, look.holders, { from: last.t, to: look.t, endOf })
      const rates = present.some(({ weight }) => weight < 1) ? present.map((one): Present => ({ ...one, holder: whilePresent(one, isGap, look.t) })) : present
      if (rates !== present) before = { ...before, holders: rates.flatMap(({ holder, isGone }) => (isGone ? [] : [holder])) }
      return isGap ? split({ ms, present: rates }, joules, busyBetween(last, look), last, isGap) : split({ ms, present }, joules, look, last)
    },
    checkpoint: () =>
      before === undefined
        ? undefined
        : {
            uuid,
            t: before.t,
            ...(counter === undefined ? {} : { counter }),
            ...(idleWatts === undefined ? {} : { idleWatts }),
            holders: before.holders,
            ...(before.busy?.ratio === undefined ? {} : { ratio: before.busy.ratio }),
            ...(before.busy?.instances === undefined ? {} : { instances: Object.fromEntries(before.busy.instances) }),
            ...(before.busy?.instancesAt === undefined ? {} : { instancesAt: before.busy.instancesAt }),
          },
  }
}
