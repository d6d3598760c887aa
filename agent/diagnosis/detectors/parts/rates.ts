// How fast counters rose over the last minutes, each known by a key. One that fell started over.

export type Rates = {
  readonly note: (t: number, key: string, value: number) => void
  /** Per second; undefined where less than half of the window is known, or nothing new came lately. */
  readonly of: (t: number, key: string) => number | undefined
}

const POINTS = 32
const STALE_MS = 45_000
const MAX_KEYS = 10_000

type Counter = { readonly t: Float64Array; readonly sum: Float64Array; at: number; size: number; last: number; lastT: number; total: number }

export function createRates(windowMs: number): Rates {
  const everyMs = windowMs / (POINTS - 2)
  const counters = new Map<string, Counter>()
  return {
    note(t, key, value) {
      let counter = counters.get(key)
      if (counter === undefined) {
        if (counters.size >= MAX_KEYS) counters.clear()
        counter = { t: new Float64Array(POINTS), sum: new Float64Array(POINTS), at: -1, size: 0, last: value, lastT: t, total: 0 }
        counters.set(key, counter)
      }
      // A pause of the agent, or a jump of the clock: what rose meanwhile belongs to no time that is known.
      if (t < counter.lastT || t - counter.lastT > windowMs) counter.size = 0
      counter.total += value < counter.last ? value : value - counter.last
      counter.last = value
      counter.lastT = t
      if (counter.size > 0 && t - (counter.t[counter.at] ?? 0) < everyMs * 0.9) return
      counter.at = (counter.at + 1) % POINTS
      counter.size = Math.min(POINTS, counter.size + 1)
      counter.t[counter.at] = t
      counter.sum[counter.at] = counter.total
    },
    of(t, key) {
      const counter = counters.get(key)
      if (counter === undefined || counter.size < 2 || Math.abs(t - counter.lastT) > STALE_MS) return undefined
      const { at, size } = counter
      for (let back = size - 1; back > 0; back--) {
        const place = (at - back + POINTS) % POINTS
        const since = counter.t[place] ?? 0
        if (t - since > windowMs + everyMs) continue
        const span = counter.lastT - since
        return span < windowMs / 2 ? undefined : ((counter.total - (counter.sum[place] ?? 0)) * 1_000) / span
      }
      return undefined
    },
  }
}
