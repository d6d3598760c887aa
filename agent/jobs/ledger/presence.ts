// Who held a GPU between two looks, and for how much of that time. Who came or went in between is counted for half of it: neither too much nor too little on average, however late a look is. Pure.
import type { CardHolder } from '../../model/ledger.ts'
import { seatKey } from '../usage.ts'

/** `weight`: the part of the time in which it held its seat. */
export type Present = { readonly holder: CardHolder; readonly weight: number; readonly isGone: boolean }
/** What holds one seat: how many there are at the later look, all their weights, and the part of the time in which anybody held it. */
export type SeatUse = { readonly now: number; readonly weights: number; readonly occupied: number }

const HALF = 0.5
export const holderKey = ({ run, card }: CardHolder): string => `${run}\n${seatKey(card)}`

/** As nearly always: the same ones, in the driver's order. */
export function areSame(before: readonly CardHolder[], now: readonly CardHolder[]): boolean {
  if (before.length !== now.length) return false
  for (let at = 0; at < now.length; at++) {
    const [a, b] = [before[at], now[at]]
    if (a === undefined || b === undefined || a.run !== b.run || seatKey(a.card) !== seatKey(b.card)) return false
  }
  return true
}

export function presenceOf(before: readonly CardHolder[], now: readonly CardHolder[]): readonly Present[] {
  if (areSame(before, now)) return allTheTime(now)
  const [earlier, later] = [before.map(holderKey), now.map(holderKey)]
  const [was, is] = [new Set(earlier), new Set(later)]
  return [
    ...now.map((holder, at): Present => ({ holder, weight: was.has(later[at] ?? '') ? 1 : HALF, isGone: false })),
    ...before.flatMap((holder, at): Present[] => (is.has(earlier[at] ?? '') ? [] : [{ holder, weight: HALF, isGone: true }])),
  ]
}
/** After a long time without looks: who was started or ended in it, for the part from or to there where that is known. `endOf`: when a run of before ended. */
export function presenceOverGap(
  before: readonly CardHolder[],
  now: readonly CardHolder[],
  { from, to, endOf }: { readonly from: number; readonly to: number; readonly endOf: (run: string) => number | undefined },
): readonly Present[] {
  const within = (t: number | undefined): t is number => t !== undefined && t > from && t < to
  return presenceOf(before, now).map((one) => {
    const { holder, weight, isGone } = one
    const { run, since } = holder
    if (weight === 1) return one
    const end = isGone ? endOf(run) : since
    return within(end) ? { ...one, weight: Math.abs((isGone ? from : to) - end) / (to - from) } : one
  })
}
/** As it was, for the whole time. */
export const allTheTime = (holders: readonly CardHolder[]): readonly Present[] => holders.map((holder) => ({ holder, weight: 1, isGone: false }))

type Seat = { now: number; weights: number; came: number; went: number; occupied: number }
export function seatsOf(present: readonly Present[]): ReadonlyMap<string, SeatUse> {
  const seats = new Map<string, Seat>()
  for (const { holder, weight, isGone } of present) {
    const key = seatKey(holder.card)
    let seat = seats.get(key)
    if (seat === undefined) seats.set(key, (seat = { now: 0, weights: 0, came: 0, went: 0, occupied: 0 }))
    seat.weights += weight
    if (isGone) seat.went = Math.max(seat.went, weight)
    else {
      seat.now++
      seat.came = Math.max(seat.came, weight)
    }
    seat.occupied = Math.min(1, seat.came + seat.went)
  }
  return seats
}
