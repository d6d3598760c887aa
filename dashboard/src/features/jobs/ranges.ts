// How far back the jobs' pages can look, and in which steps of history. Pure.

const HOUR_MS = 3_600_000
export type Range = { readonly id: string; readonly label: string; readonly ms: number; readonly stepMs: number }
/** Steps are those of the store (agent/store/history/query.ts): about 350 in each range. */
export const RANGES: readonly [Range, ...Range[]] = [
  { id: '1h', label: '1 h', ms: HOUR_MS, stepMs: 10_000 },
  { id: '6h', label: '6 h', ms: 6 * HOUR_MS, stepMs: 60_000 },
  { id: '24h', label: '24 h', ms: 24 * HOUR_MS, stepMs: 300_000 },
  { id: '7d', label: '7 d', ms: 7 * 24 * HOUR_MS, stepMs: 1_800_000 },
]

/** From, to and points of a question for history. */
export function spanQuery({ ms, stepMs }: Range, endMs: number): string {
  const to = Math.floor(endMs)
  // One step more at either end, or the store takes coarser ones.
  return `from=${to - ms}&to=${to}&points=${Math.ceil(ms / stepMs) + 2}`
}
