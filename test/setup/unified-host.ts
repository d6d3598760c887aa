// A made-up host with unified memory (120 GiB, as a DGX Spark has): what it says of its memory each five seconds, with known truth about when it is full.
import type { Event } from '../../agent/model/event.ts'
import { CARD, scrapeOf } from './rule-scenes/scene.ts'

const GIB = 1024 ** 3
export const TOTAL = 121.7 * GIB

/** Numbers that look random and are the same in each run (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export type UnifiedHost = {
  readonly seconds: number
  /** When nothing is left; undefined: it stays well. */
  readonly fullAt: number | undefined
  readonly tell: (second: number) => readonly Event[]
}

type Part = (second: number) => number
const held =
  (...parts: readonly Part[]): Part =>
  (second) =>
    parts.reduce((sum, part) => sum + part(second), 0)
const ramp =
  (from: number, seconds: number, bytes: number): Part =>
  (second) =>
    bytes * Math.min(1, Math.max(0, (second - from) / seconds))

/** `fills`: something takes memory until nothing is left; else loads, page cache and requests come and go. */
export function createUnifiedHost(seed: number, fills: boolean): UnifiedHost {
  const random = createRandom(seed)
  const between = (low: number, high: number): number => low + (high - low) * random()
  const base = between(5, 14) * GIB
  const seconds = 3_600
  const loadAt = between(60, 300)
  const loadFor = between(15, 170)
  const model = between(15, fills ? 55 : 85) * GIB
  const noise = between(0.02, 0.4) * GIB
  const jitter = Float64Array.from({ length: seconds / 5 + 1 }, () => (random() - 0.5) * 2 * noise)
  // Key-value cache that fills to what it was given and stays.
  const cacheTo = fills ? 0 : between(0, 12) * GIB
  const leakAt = between(loadAt + loadFor + 60, loadAt + loadFor + 900)
  // From a fill in six minutes to one in forty.
  const leakFor = between(360, 2_400)
  const rest = TOTAL - base - model
  const curve = between(0.85, 1.2)
  const leak: Part = (second) => (fills && second > leakAt ? rest * Math.pow((second - leakAt) / leakFor, curve) : 0)
  // Requests in waves, a second model that is loaded and unloaded, and files that are read into the page cache and dropped.
  const wave = between(0, 3) * GIB
  const period = between(40, 900)
  const secondModel = fills ? 0 : between(0, Math.max(0, 0.92 * TOTAL - base - model - cacheTo - wave))
  const secondAt = between(900, 2_000)
  const secondFor = between(20, 170)
  const unloadAt = secondAt + secondFor + between(120, 900)
  const other: Part = (second) => (second >= unloadAt ? 0 : ramp(secondAt, secondFor, secondModel)(second))
  const [loadModel, fillCache] = [ramp(loadAt, loadFor, model), ramp(loadAt + loadFor, between(10, 120), cacheTo)]
  const taken = held(
    () => base,
    loadModel,
    fillCache,
    other,
    (second) => wave * 0.5 * (1 + Math.sin((2 * Math.PI * second) / period)) * (second > loadAt + loadFor ? 1 : 0),
    leak,
  )
  const dropEvery = between(400, 1_500)
  const readRate = between(0, 0.3) * GIB
  const at = (second: number): { readonly available: number; readonly cached: number } => {
    const now = taken(second) + (jitter[Math.floor(second / 5)] ?? 0)
    const available = Math.max(0, TOTAL - now)
    // Page cache takes what is free, grows with reading and is dropped at times; it is available all the same.
    const files = 2 * GIB + readRate * (second % dropEvery) + ramp(loadAt, loadFor, model)(second)
    return { available, cached: Math.min(files, available) }
  }
  let fullAt: number | undefined
  for (let second = 0; second < seconds && fullAt === undefined; second++) if (at(second).available <= 0.005 * TOTAL) fullAt = second
  return {
    seconds: fullAt ?? seconds,
    fullAt,
    tell(second) {
      if (second % 5 !== 0) return []
      const { available, cached } = at(second)
      return [
        scrapeOf(second, 'host', { host_memory_total_bytes: TOTAL, host_memory_available_bytes: available, host_memory_cached_bytes: cached }, { ttlS: 12 }),
        scrapeOf(
          second,
          'processes',
          {
            'process_gpu_memory_bytes pid=41': second < loadAt ? undefined : Math.round(loadModel(second) + fillCache(second) + leak(second)),
            'process_gpu_memory_bytes pid=42': second < secondAt || second >= unloadAt ? undefined : Math.round(other(second)),
          },
          { labels: CARD, ttlS: 12 },
        ),
        scrapeOf(second, 'gpu', { 'gpu_info name=GB10 vendor=nvidia memory=unified': 1 }, { labels: CARD, ttlS: 120 }),
      ]
    },
  }
}
