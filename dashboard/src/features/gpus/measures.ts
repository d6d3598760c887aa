// One GPU at large: which of its measures are charted, and the lanes that frames and history fill with them.
import type { FrameMessage, GpuRow } from '../../../../agent/model/live.ts'
import type { Close } from '../../parts/range/charted.ts'
import { HISTORY_METRICS, recordFrame, secondOf, type HistoryMetric } from '../../parts/live/lanes.ts'
import { gpuMemoryUsedBytes } from '../../text/metric-names.ts'
import type { Timeline } from '../../parts/live/timeline.ts'

/** A measure of the row, or one entry of it (`clock_hertz.sm`). */
export const measureLane = (uuid: string, measure: string): string => `measure ${uuid} ${measure}`

/** What one MIG instance holds. */
export const migLane = (uuid: string, gi: string, ci: string): string => measureLane(uuid, `mig.${gi}/${ci}`)

export const isMeasure = (lane: string): boolean => lane.startsWith('measure ')

/** Beside what the cards show; `by` is the label of which the entries are values. */
const MEASURES: readonly { readonly measure: string; readonly by?: string }[] = [
  { measure: 'memory_utilization_ratio' },
  { measure: 'memory_temperature_celsius' },
  { measure: 'clock_hertz', by: 'domain' },
  { measure: 'throttle_active', by: 'reason' },
  { measure: 'pcie_throughput_bytes_per_second', by: 'direction' },
  { measure: 'nvlink_throughput_bytes_per_second' },
]

const METRICS: readonly HistoryMetric[] = MEASURES.map(({ measure, by }) => ({
  metric: `warpwatch_gpu_${measure}`,
  lane(labels, uuid) {
    if ((labels['gi'] ?? '') !== '') return undefined
    return measureLane(uuid, by === undefined ? measure : `${measure}.${labels[by] ?? ''}`)
  },
}))

/** By the second, and with the lanes of MIG instances: memory of the GPU and of its instances is one metric, those of an instance say which. */
const withInstances = ({ points: _points, ...of }: HistoryMetric): HistoryMetric =>
  of.metric === gpuMemoryUsedBytes
    ? { ...of, lane: (labels, uuid) => ((labels['gi'] ?? '') === '' ? of.lane(labels, uuid) : migLane(uuid, labels['gi'] ?? '', labels['ci'] ?? '')) }
    : of

function recordMeasures(timeline: Timeline, row: GpuRow, second: number): void {
  for (const { measure } of MEASURES) {
    const value = row[measure]
    if (typeof value === 'number') timeline.put(measureLane(row.uuid, measure), second, value)
    else if (typeof value === 'object' && !Array.isArray(value))
      for (const [entry, one] of Object.entries(value)) timeline.put(measureLane(row.uuid, `${measure}.${entry}`), second, one)
  }
}

function recordInstances(timeline: Timeline, { uuid, mig = [] }: GpuRow, second: number): void {
  for (const { gi, ci, memory_used_bytes: used } of mig) if (used !== undefined) timeline.put(migLane(uuid, gi, ci), second, used)
}

export function closeUp(...uuids: readonly string[]): Close {
  return {
    uuids,
    metrics: [...HISTORY_METRICS.map(withInstances), ...METRICS],
    record(timeline, frame: FrameMessage) {
      const gpus = frame.gpus.filter(({ uuid }) => uuids.includes(uuid))
      recordFrame(timeline, { ...frame, gpus })
      for (const row of gpus) {
        recordMeasures(timeline, row, secondOf(frame.t))
        recordInstances(timeline, row, secondOf(frame.t))
      }
    },
  }
}
