// A window of time that does not move, as the address says it (`?from=…&to=…`, Unix seconds): reading it, zooming, moving. Pure.

/** Unix seconds. */
export type Window = { readonly from: number; readonly to: number }

/** Less cannot be distinguished: readings come once a second. */
export const SHORTEST_S = 20
/** History keeps a year and more of hours. */
export const LONGEST_S = 400 * 86_400

/** Undefined: there is none, or none that could be shown. */
export function windowOf(params: ReadonlyMap<string, string>): Window | undefined {
  const [from = NaN, to = NaN] = ['from', 'to'].map((name) => Number(params.get(name)))
  return Number.isInteger(from) && Number.isInteger(to) && from > 0 && to - from >= SHORTEST_S && to - from <= LONGEST_S && to < 1e11 ? { from, to } : undefined
}

/** Steps of the history (agent/store/history/query.ts). */
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400]
/** The finest step with at most so many of them in the span. */
export const stepFor = (seconds: number, most: number): number => STEPS.find((step) => seconds / step <= most) ?? 172_800

/** As long as allowed, in whole seconds, and not after `now`. */
export function fitted({ from, to }: Window, now: number): Window {
  const length = Math.round(Math.min(LONGEST_S, Math.max(SHORTEST_S, to - from)))
  const middle = (from + to) / 2
  const end = Math.max(length + 1, Math.min(Math.floor(now), Math.round(middle + length / 2)))
  return { from: end - length, to: end }
}

/** So many times as long, with the second `at` in its place. */
export function zoomed({ from, to }: Window, factor: number, at: number, now: number): Window {
  return fitted({ from: at - (at - from) * factor, to: at + (to - at) * factor }, now)
}

/** Moved by a part of its length: 0.5 is half of it later. */
export const moved = ({ from, to }: Window, part: number, now: number): Window => fitted({ from: from + (to - from) * part, to: to + (to - from) * part }, now)
