// What each holder of one GPU used between two looks: time held, time active, idle time, memory, energy. The parts sum to the GPU's own counters. Pure.
import { NO_USE, type CardCheckpoint, type CardHolder, type Use } from '../../model/ledger.ts'
import { seatKey } from '../usage.ts'

/** One look at a GPU. What could not be read is absent. */
export type CardLook = {
  readonly t: number
  /** Utilization, 0 to 1; under MIG by instance, in `instances`. */
  readonly ratio?: number
  readonly instances?: ReadonlyMap<string, number>
  /** The counter of joules, and the power now, which stands in where there is none. */
  readonly counter?: number
  readonly watts?: number
  /** One for each run and instance. */
  readonly holders: readonly CardHolder[]
}
/** Without a holder: energy of a GPU that nobody held, or of processes that ended between two looks. */
export type CardPart = { readonly holder?: CardHolder; readonly use: Use }
export type CardMeter = {
  /** `isRunning`: whether a run of the look before still goes on; asked after a time without looks. */
  readonly look: (look: CardLook, isRunning: (run: string) => boolean) => readonly CardPart[]
  readonly checkpoint: () => CardCheckpoint | undefined
}

/** Looks come each second; after a longer time only those count that held the GPU before it and still run. */
const GAP_MS = 5_000
/** For longer than that without a look nobody's time is counted, and the energy is nobody's. */
const MAX_GAP_MS = 10 * 60_000
/** Less is the rounding of whole percents. */
const IDLE = 0.005
/** How much one look at an idle GPU moves its idle power. */
const LEARNING = 0.05

type Interval = { readonly ms: number; readonly holders: readonly CardHolder[] }
const sharesOf = (holders: readonly CardHolder[]): ReadonlyMap<string, number> => {
  const count = new Map<string, number>()
  for (const { card } of holders) count.set(seatKey(card), (count.get(seatKey(card)) ?? 0) + 1)
  return count
}

export function createCardMeter(uuid: string, restored?: CardCheckpoint): CardMeter {
  let before: { readonly t: number; readonly holders: readonly CardHolder[] } | undefined = restored
  let counter = restored?.counter
  let idleWatts = restored?.idleWatts

  /** Energy since it was last known. */
  const joulesOf = ({ counter: now, watts }: CardLook, ms: number): number => {
    const known = counter
    if (now !== undefined) counter = now
    // A counter that fell has started over with the driver.
    if (now !== undefined && known !== undefined) return now >= known ? now - known : now
    return known === undefined && watts !== undefined && ms <= GAP_MS ? (watts * ms) / 1_000 : 0
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
  const ratiosOf = (holders: readonly CardHolder[], ratio: number | undefined, instances: CardLook['instances']): readonly (number | undefined)[] => {
    const shares = sharesOf(holders)
    return holders.map(({ card, ratio: own }) => {
      if (own !== undefined) return own
      const all = card.gi === undefined ? ratio : instances?.get(card.gi)
      return all === undefined ? undefined : all / (shares.get(seatKey(card)) ?? 1)
    })
  }
  const split = ({ ms, holders }: Interval, joules: number, look: Pick<CardLook, 'ratio' | 'instances'>): readonly CardPart[] => {
    if (holders.length === 0) return joules === 0 ? [] : [{ use: { ...NO_USE, joules } }]
    const { instances } = look
    // The GPU is at least as busy as those who say so; with MIG only the instances are known.
    const ratios = ratiosOf(holders, look.ratio, instances)
    const sum = ratios.reduce<number>((total, ratio) => total + (ratio ?? 0), 0)
    const isPartitioned = look.ratio === undefined && instances !== undefined
    const ratio = look.ratio ?? (isPartitioned ? Math.min(1, sum) : undefined)
    const idleJoules = idlePart(joules, ms, ratio)
    const activeJoules = joules - idleJoules
    const shares = sharesOf(holders)
    const seats = shares.size
    // What ended since the last look did the rest of the work.
    const whole = isPartitioned ? sum : Math.max(sum, ratio ?? 0)
    const parts = holders.map((holder, at): CardPart => {
      const [share, own] = [1 / (shares.get(seatKey(holder.card)) ?? 1), ratios[at]]
      const free = holder.card.gi === undefined ? ratio : instances?.get(holder.card.gi)
      return {
        holder,
        use: {
          heldMs: ms,
          activeMs: own === undefined ? 0 : own * ms,
          idleMs: free === undefined ? 0 : Math.max(0, 1 - free) * share * ms,
          mibSeconds: (holder.mib * ms) / 1_000,
          joules: (idleJoules * share) / seats + (whole < IDLE ? (activeJoules * share) / seats : (activeJoules * (own ?? 0)) / whole),
          tokens: 0,
        },
      }
    })
    const rest = whole < IDLE ? 0 : (activeJoules * (whole - sum)) / whole
    return rest <= 0 ? parts : [...parts, { use: { ...NO_USE, joules: rest } }]
  }

  return {
    look(look, isRunning) {
      const last = before
      const ms = last === undefined ? 0 : look.t - last.t
      before = { t: look.t, holders: look.holders }
      if (last === undefined || ms <= 0) {
        if (look.counter !== undefined) counter = look.counter
        return []
      }
      const joules = joulesOf(look, ms)
      if (ms <= GAP_MS) return split({ ms, holders: look.holders }, joules, look)
      if (ms > MAX_GAP_MS) return split({ ms, holders: [] }, joules, look)
      // Nobody looked: as it was before.
      const holders = last.holders.filter(({ run }) => run === '' || isRunning(run))
      const ratios = holders.map(({ ratio = 0 }) => ratio)
      return split(
        { ms, holders },
        joules,
        holders.length === 0 || look.ratio === undefined
          ? {}
          : {
              ratio: Math.min(
                1,
                ratios.reduce((a, b) => a + b, 0),
              ),
            },
      )
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
          },
  }
}
