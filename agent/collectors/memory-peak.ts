// The highest memory use of the last minute, from samples taken several times a second: a scrape every 15 s misses no peak.
import { gpuMemoryUsedPeakBytes } from '../metrics/gpu-memory.ts'
import { SUCCESS, failureOf } from '../nvml/codes.ts'
import type { Device } from '../nvml/device.ts'
import { makeSeries } from '../model/series.ts'
import type { Attached, Collector } from './collector.ts'
import { MEMORY, memoryQuery } from './parts/memory-query.ts'

const WINDOW_S = 60

/** Highest value of each of the last 60 seconds, in a ring. */
export function createPeaks(): { readonly add: (nowMs: number, value: number) => void; readonly highest: (nowMs: number) => number | undefined } {
  const highest = new Float64Array(WINDOW_S)
  const second = new Float64Array(WINDOW_S).fill(-1)
  return {
    add(nowMs, value) {
      const now = Math.floor(nowMs / 1000)
      const at = now % WINDOW_S
      if (second[at] !== now) {
        second[at] = now
        highest[at] = value
      } else if (value > (highest[at] ?? 0)) highest[at] = value
    },
    highest(nowMs) {
      const oldest = Math.floor(nowMs / 1000) - WINDOW_S
      let found: number | undefined
      for (let at = 0; at < WINDOW_S; at++) {
        const value = highest[at] ?? 0
        if ((second[at] ?? -1) > oldest && (second[at] ?? -1) >= 0 && (found === undefined || value > found)) found = value
      }
      return found
    },
  }
}

function attach(device: Device): Attached {
  const query = memoryQuery(device)
  const series = makeSeries(gpuMemoryUsedPeakBytes, device.labels)
  const peaks = createPeaks()
  const sample = (nowMs: number): number => {
    const code = query.ask()
    if (code === SUCCESS) peaks.add(nowMs, query.values()[MEMORY.used] ?? 0)
    return code
  }
  return {
    sample,
    read: (out, nowMs) => {
      // What cannot be read now has no peak either: an old one would look like a fresh one.
      const code = sample(nowMs)
      const highest = code === SUCCESS ? peaks.highest(nowMs) : undefined
      if (highest === undefined) out.gap(gpuMemoryUsedPeakBytes, device.labels, failureOf(query.name(), code))
      else out.reading(series, highest)
    },
  }
}

export const memoryPeak: Collector = { id: 'memory-peak', rate: 'fast', metrics: [gpuMemoryUsedPeakBytes], attach }
