// The last minutes of the series that explain a fault, in memory at full resolution: what evidence is cut from.
import { containerGpuMemoryBytes, containerMemoryBytes, containerMemoryLimitBytes, containerOomKillsTotal } from '../../metrics/container.ts'
import { gpuClockHertz, gpuThrottleReasons } from '../../metrics/gpu-clocks.ts'
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { gpuMemoryUsedBytes, gpuMemoryUsedPeakBytes } from '../../metrics/gpu-memory.ts'
import { gpuPowerWatts } from '../../metrics/gpu-power.ts'
import { gpuMemoryTemperatureCelsius, gpuTemperatureCelsius } from '../../metrics/gpu-temperature.ts'
import { hostMemoryAvailableBytes, hostShmUsedBytes } from '../../metrics/host.ts'
import { allocatorAllocatedBytes, allocatorReservedBytes, processGpuMemoryBytes } from '../../metrics/process.ts'
import type { Event } from '../../model/event.ts'
import type { IncidentSeries } from '../../model/incident.ts'
import type { Labels, Series } from '../../model/series.ts'

/** 120 s before a fault and 30 s after it, and a little for the tick on which it is cut out. */
const SLOTS = 160
const SPAN_MS = SLOTS * 1_000
const SWEEP_EVERY_MS = 10_000

/** What an operator looks at after a crash, by full name; the short-lived and the constant ones are elsewhere. */
const KEPT: ReadonlySet<string> = new Set([
  gpuMemoryUsedBytes.name,
  gpuMemoryUsedPeakBytes.name,
  gpuUtilizationRatio.name,
  gpuTemperatureCelsius.name,
  gpuMemoryTemperatureCelsius.name,
  gpuPowerWatts.name,
  gpuClockHertz.name,
  gpuThrottleReasons.name,
  processGpuMemoryBytes.name,
  containerGpuMemoryBytes.name,
  containerMemoryBytes.name,
  containerMemoryLimitBytes.name,
  containerOomKillsTotal.name,
  hostMemoryAvailableBytes.name,
  hostShmUsedBytes.name,
])

export type RingBuffer = {
  readonly metric: string
  readonly labels: Labels
  readonly t: Float64Array
  readonly value: Float64Array
  next: number
  length: number
  lastT: number
}

export type RecentSeries = {
  readonly ingest: (event: Event) => void
  /** Rings that hold something after `since`. */
  readonly living: (since: number) => Iterable<RingBuffer>
  readonly cut: (wanted: (ring: RingBuffer) => boolean, from: number, to: number) => readonly IncidentSeries[]
  readonly size: () => number
}

export const lastValue = (ring: RingBuffer): number => ring.value[(ring.next + SLOTS - 1) % SLOTS] ?? 0

function put(ring: RingBuffer, t: number, value: number): void {
  ring.t[ring.next] = t
  ring.value[ring.next] = value
  ring.next = (ring.next + 1) % SLOTS
  if (ring.length < SLOTS) ring.length++
  ring.lastT = t
}

function cutOne(ring: RingBuffer, from: number, to: number): IncidentSeries | undefined {
  const t: number[] = []
  const value: number[] = []
  for (let i = ring.length; i > 0; i--) {
    const at = (ring.next + SLOTS - i) % SLOTS
    const when = ring.t[at] ?? 0
    if (when < from || when > to) continue
    t.push(when)
    value.push(ring.value[at] ?? 0)
  }
  return t.length === 0 ? undefined : { metric: ring.metric, labels: ring.labels, t, value }
}

/** Of GPUs and the host there are as many as the hardware has; of processes and containers as many as users start. */
const OF_HARDWARE = /^warpwatch_(gpu|host)_/
/** These are kept for GPUs and the host, so that no crowd of processes takes the place of a GPU that comes later. */
const FOR_HARDWARE = 1_000

export type RecentSeriesOptions = {
  /** 2.6 KB each. */
  readonly maxSeries?: number
  /** Called once each time that the room for processes and containers is used up; evidence then lacks the series of those that come later. */
  readonly onFull?: (maxSeries: number) => void
}

/** 200 series (8 GPUs, 40 processes, 20 containers) take half a megabyte; a reading costs one look-up. */
export function createRecentSeries({ maxSeries = 5_000, onFull = () => {} }: RecentSeriesOptions = {}): RecentSeries {
  // By identity first: sources use the same Series object in each tick. The same key under another object (a source that was made again) finds its ring by the key.
  const bySeries = new Map<Series, RingBuffer>()
  const byKey = new Map<string, RingBuffer>()
  let sweptAt = Number.NEGATIVE_INFINITY
  const maxOfOthers = maxSeries - FOR_HARDWARE
  let isFull = false

  const ringFor = (key: string, metric: string, labels: Labels): RingBuffer | undefined => {
    const known = byKey.get(key)
    if (known !== undefined) return known
    const hardware = OF_HARDWARE.test(metric)
    if (byKey.size >= (hardware ? maxSeries : maxOfOthers)) {
      if (!isFull && !hardware) onFull(maxOfOthers)
      isFull ||= !hardware
      return undefined
    }
    const made: RingBuffer = { metric, labels, t: new Float64Array(SLOTS), value: new Float64Array(SLOTS), next: 0, length: 0, lastT: 0 }
    byKey.set(key, made)
    return made
  }
  /** Also after a clock that was set back: what is in the future is as dead as what is far back. */
  const sweep = (now: number): void => {
    sweptAt = now
    for (const [key, ring] of byKey) if (Math.abs(now - ring.lastT) > SPAN_MS) byKey.delete(key)
    for (const [series, ring] of bySeries) if (byKey.get(series.key) !== ring) bySeries.delete(series)
    // Half empty: what comes and goes at the limit is logged once.
    if (byKey.size < maxOfOthers / 2) isFull = false
  }
  const record = (metric: string, labels: Labels, t: number, value: number | undefined): void => {
    if (value === undefined) return
    const ring = ringFor(`${metric} ${Object.values(labels).join(' ')}`, metric, labels)
    if (ring !== undefined) put(ring, t, value)
  }
  return {
    ingest(event) {
      if (event.type === 'allocator') {
        const labels = { uuid: event.uuid, pid: String(event.pid), ...(event.container === undefined ? {} : { container: event.container }) }
        record(allocatorAllocatedBytes.name, labels, event.t, event.stats.allocated_bytes)
        record(allocatorReservedBytes.name, labels, event.t, event.stats.reserved_bytes)
        return
      }
      if (event.type !== 'scrape') return
      const { readings } = event
      for (let at = 0; at < readings.length; at++) {
        const reading = readings[at]
        if (reading === undefined) continue
        const { series, value } = reading
        let ring = bySeries.get(series)
        if (ring === undefined) {
          if (!KEPT.has(series.metric.name)) continue
          ring = ringFor(series.key, series.metric.name, series.labels)
          if (ring === undefined) continue
          bySeries.set(series, ring)
        }
        put(ring, event.t, value)
      }
      if (Math.abs(event.t - sweptAt) >= SWEEP_EVERY_MS) sweep(event.t)
    },
    *living(since) {
      for (const ring of byKey.values()) if (ring.lastT >= since) yield ring
    },
    cut(wanted, from, to) {
      const found: IncidentSeries[] = []
      for (const ring of byKey.values()) {
        if (!wanted(ring)) continue
        const series = cutOne(ring, from, to)
        if (series !== undefined) found.push(series)
      }
      return found
    },
    size: () => byKey.size,
  }
}
