// Which lanes of the timeline a frame and a history answer fill: used, unattributed and per-container memory, what PyTorch keeps of it, and the small
// charts of a card.
import type { FrameMessage, SeriesRow } from '../../../../agent/model/live.ts'
import { containerKey, outsideKey } from '../../text/names.ts'
import { jobOf } from '../job/identity.ts'
import type { PastFigures } from './gpu-view.ts'
import type { Timeline } from './timeline.ts'
import {
  containerGpuMemoryBytes,
  gpuMemoryTotalBytes,
  gpuMemoryUnattributedBytes,
  gpuMemoryUsedBytes,
  gpuPowerWatts,
  gpuTemperatureCelsius,
  gpuUtilizationRatio,
  processGpuMemoryBytes,
} from '../../text/metric-names.ts'

export const ALLOCATOR_MEASURES = ['reserved_bytes', 'active_bytes', 'inactive_split_bytes'] as const
export type AllocatorMeasure = (typeof ALLOCATOR_MEASURES)[number]

export const LANE = {
  used: (uuid: string): string => `used ${uuid}`,
  /** Of history alone: of a GPU that is not read its rows say no total. */
  total: (uuid: string): string => `total ${uuid}`,
  unattributed: (uuid: string): string => `unattributed ${uuid}`,
  /** `container`: its key, or of processes outside containers that of their job (`outsideKey`). */
  container: (uuid: string, container: string): string => `container ${uuid} ${container}`,
  containers: (uuid: string): string => `container ${uuid} `,
  utilization: (uuid: string): string => `utilization ${uuid}`,
  /** What the processes of one job did of it, where the driver tells them apart. */
  job: (uuid: string, job: string): string => `job ${uuid} ${job}`,
  power: (uuid: string): string => `power ${uuid}`,
  temperature: (uuid: string): string => `temperature ${uuid}`,
  /** Of a container's processes with a probe, what their allocators say. */
  allocator: (measure: AllocatorMeasure, uuid: string, container: string): string => `allocator ${measure} ${uuid} ${container}`,
} as const

export const secondOf = (ms: number): number => Math.round(ms / 1000)

/** Writes a live frame at its second. */
export function recordFrame(timeline: Timeline, frame: FrameMessage): void {
  const second = secondOf(frame.t)
  timeline.advance(second)
  const put = (key: string, value: number | undefined): void => {
    if (value !== undefined) timeline.put(key, second, value)
  }
  for (const gpu of frame.gpus) {
    put(LANE.used(gpu.uuid), gpu.memory_used_bytes)
    put(LANE.unattributed(gpu.uuid), gpu.memory_unattributed_bytes)
    put(LANE.utilization(gpu.uuid), gpu.utilization_ratio)
    put(LANE.power(gpu.uuid), gpu.power_watts)
    put(LANE.temperature(gpu.uuid), gpu.temperature_celsius)
  }
  for (const container of frame.containers) {
    for (const uuid in container.gpu_memory_bytes) put(LANE.container(uuid, containerKey(container)), container.gpu_memory_bytes[uuid])
  }
  const sums = new Map<string, number>()
  const add = (lane: string, value: number | undefined): void => {
    if (value !== undefined) sums.set(lane, (sums.get(lane) ?? 0) + value)
  }
  for (const row of frame.processes) if (row.container === undefined) add(LANE.container(row.uuid, outsideKey(row)), row.gpu_memory_bytes)
  for (const row of frame.processes) if (row.gpu_utilization_ratio !== undefined) add(LANE.job(row.uuid, jobOf(row).key), row.gpu_utilization_ratio)
  for (const row of frame.allocators) for (const measure of ALLOCATOR_MEASURES) add(LANE.allocator(measure, row.uuid, containerKey(row)), row[measure])
  for (const [lane, sum] of sums) timeline.put(lane, second, sum)
}

export type HistoryMetric = {
  readonly metric: string
  /** Steps of the 15 minutes; undefined: by the second. */
  readonly points?: number
  /** Only series of these labels, as the query of the request has it. */
  readonly query?: string
  /** undefined: this series has no lane. */
  readonly lane: (labels: SeriesRow['labels'], uuid: string) => string | undefined
}

/** A lane of whole GPUs: the series of their MIG instances, which carry `gi`, are not part of it. */
const ofGpu =
  (lane: (uuid: string) => string) =>
  (labels: SeriesRow['labels'], uuid: string): string | undefined =>
    (labels['gi'] ?? '') === '' ? lane(uuid) : undefined

/** What the cards draw of the past: a step for each of their pixels or so; what comes live stays by the second. Of 15 minutes, on a chart of some 350 pixels, and on one of some 110. */
const CARD_POINTS = 452
const TRACE_POINTS = 182
/** What hardly ever changes. */
const FEW_POINTS = 16
export const HISTORY_METRICS: readonly HistoryMetric[] = [
  { metric: gpuMemoryUsedBytes, points: CARD_POINTS, lane: ofGpu(LANE.used) },
  { metric: containerGpuMemoryBytes, points: CARD_POINTS, lane: (labels, uuid) => LANE.container(uuid, containerKey(labels)) },
  // An empty label means none. On a host of containers nothing comes.
  {
    metric: processGpuMemoryBytes,
    points: TRACE_POINTS,
    query: '&container=',
    lane: (labels, uuid) => LANE.container(uuid, outsideKey(labels)),
  },
  { metric: gpuMemoryUnattributedBytes, points: CARD_POINTS, lane: ofGpu(LANE.unattributed) },
  { metric: gpuMemoryTotalBytes, points: FEW_POINTS, lane: ofGpu(LANE.total) },
  { metric: gpuUtilizationRatio, points: TRACE_POINTS, lane: ofGpu(LANE.utilization) },
  { metric: gpuPowerWatts, points: TRACE_POINTS, lane: ofGpu(LANE.power) },
  { metric: gpuTemperatureCelsius, points: TRACE_POINTS, lane: ofGpu(LANE.temperature) },
  ...ALLOCATOR_MEASURES.map((measure): HistoryMetric => ({
    metric: `warpwatch_allocator_${measure}`,
    points: TRACE_POINTS,
    lane: (labels, uuid) => LANE.allocator(measure, uuid, containerKey(labels)),
  })),
]

/**
 * Fills the holes of the timeline from one metric's history. Several series can share a lane (a container on two MIG instances of one GPU);
 * they are summed per step before the lane is written.
 */
export function recordHistory(timeline: Timeline, metric: HistoryMetric, rows: readonly SeriesRow[]): void {
  const lanes = new Map<string, SeriesRow[]>()
  for (const row of rows) {
    const uuid = row.labels['uuid']
    if (uuid === undefined) continue
    const lane = metric.lane(row.labels, uuid)
    if (lane === undefined) continue
    const known = lanes.get(lane)
    if (known === undefined) lanes.set(lane, [row])
    else known.push(row)
  }
  for (const [lane, members] of lanes) {
    const sums = new Map<number, { to: number; mean: number; peak: number }>()
    for (const row of members) {
      for (const [i, t] of row.t.entries()) {
        const mean = row.mean[i]
        if (mean === null || mean === undefined) continue
        const peak = row.max[i] ?? mean
        const from = secondOf(t)
        const known = sums.get(from)
        if (known === undefined) sums.set(from, { to: from + Math.max(1, secondOf(row.step_ms)), mean, peak })
        else {
          known.mean += mean
          known.peak += peak
        }
      }
    }
    for (const [from, { to, mean, peak }] of sums) timeline.fill(lane, from, to, mean, peak)
  }
}

/** How much memory a GPU had when that was last known. */
export function lastTotal(timeline: Timeline, uuid: string): number | undefined {
  const second = timeline.newest(LANE.total(uuid))
  return second === undefined ? undefined : timeline.at(LANE.total(uuid), second)
}

/** What the lanes know of a GPU's newest second. */
export function lastFigures(timeline: Timeline, uuid: string): { readonly figures: PastFigures; readonly t: number } | undefined {
  const second = timeline.newest(LANE.used(uuid)) ?? timeline.newest(LANE.utilization(uuid))
  if (second === undefined) return undefined
  const measures = {
    memory_used_bytes: timeline.at(LANE.used(uuid), second),
    memory_total_bytes: lastTotal(timeline, uuid),
    utilization_ratio: timeline.at(LANE.utilization(uuid), second),
    power_watts: timeline.at(LANE.power(uuid), second),
    temperature_celsius: timeline.at(LANE.temperature(uuid), second),
  }
  return { figures: Object.fromEntries(Object.entries(measures).filter(([, value]) => value !== undefined)), t: second * 1000 }
}
