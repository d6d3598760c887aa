// Who held a GPU between two looks, and for how much of that time. Who came or went in between is counted for half of it: neither too much nor too little on average, however late a look is. Pure.
import type { CardHolder } from '../../model/ledger.ts'
import { seatKey } from '../usage.ts'

/** `weight`: the part of the time in which it held its seat. */
export type Present = { readonly holder: CardHolder; readonly weight: number; readonly isGone: boolean }
/** What holds one seat: how many there are at the later look, all their weights, and the part of the time in which anybody held it. */
export type SeatUse = { readonly now: number; readonly weights: number; readonly occupied: number }

const HALF = 0.5
const keyOf = ({ run, card }: CardHolder): string => `${run}\n${seatKey(card)}`

export function presenceOf(before: readonly CardHolder[], now: readonly CardHolder[]): readonly Present[] {
  const [earlier, later] = [before.map(keyOf), now.map(keyOf)]
  const [was, is] = [new Set(earlier), new Set(later)]
  return [
    ...now.map((holder, at): Present => ({ holder, weight: was.has(later[at] ?? '') ? 1 : HALF, isGone: false })),
    ...before.flatMap((holder, at): Present[] => (is.has(earlier[at] ?? '') ? [] : [{ holder, weight: HALF, isGone: true }])),
  ]
}
/** As it was, for the whole time. */
export const allTheTime = (holders: readonly CardHolder[]): readonly Present[] => holders.map((holder) => ({ holder, weight: 1, isGone: false }))

export function seatsOf(present: readonly Present[]): ReadonlyMap<string, SeatUse> {
  const seats = new Map<string, { now: number; weights: number; came: number; went: number }>()
  for (const { holder, weight, isGone } of present) {
    const key = seatKey(holder.card)
    const seat = seats.get(key) ?? { now: 0, weights: 0, came: 0, went: 0 }
    seats.set(key, seat)
    if (!isGone) seat.now++
    seat.weights += weight
    if (isGone) seat.went = Math.max(seat.went, weight)
    else seat.came = Math.max(seat.came, weight)
  }
  return new Map([...seats].map(([key, { now, weights, came, went }]) => [key, { now, weights, occupied: Math.min(1, came + went) }]))
}
