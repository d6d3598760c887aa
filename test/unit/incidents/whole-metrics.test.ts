// Of too many series whole metrics are kept.
import { expect, test } from 'vitest'
import { wholeMetrics } from '../../../agent/diagnosis/incidents/whole-metrics.ts'
import type { IncidentSeries } from '../../../agent/model/incident.ts'

const GPUS = 8
const MOST = 64
const of = (metric: string, labels: Readonly<Record<string, string>> = {}): readonly IncidentSeries[] =>
  Array.from({ length: GPUS }, (_, gpu) => ({ metric: `warpwatch_${metric}`, labels: { gpu: String(gpu), ...labels }, t: [1], value: [1] }))
const countsOf = (series: readonly IncidentSeries[]): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const { metric, labels } of series) {
    const key = `${metric.replace('warpwatch_', '')}${labels['domain'] ?? ''}`
    counts[key] = (counts[key] ?? 0) + 1
  }
  return counts
}

test('of a job on eight GPUs none is left out of a metric, and what is reserved and in use stay together', () => {
  const series = [
    ...of('gpu_clock_hertz', { domain: 'video' }),
    ...of('gpu_memory_used_peak_bytes'),
    ...of('gpu_memory_used_bytes'),
    ...of('gpu_utilization_ratio'),
    ...of('gpu_power_watts'),
    ...of('gpu_temperature_celsius'),
    ...of('process_gpu_memory_bytes'),
    ...of('container_gpu_memory_bytes'),
    ...of('allocator_allocated_bytes'),
    ...of('allocator_reserved_bytes'),
  ]
  expect(countsOf(wholeMetrics(series, MOST))).toEqual({
    gpu_memory_used_bytes: GPUS,
    container_gpu_memory_bytes: GPUS,
    process_gpu_memory_bytes: GPUS,
    allocator_allocated_bytes: GPUS,
    allocator_reserved_bytes: GPUS,
    gpu_utilization_ratio: GPUS,
    gpu_power_watts: GPUS,
    gpu_temperature_celsius: GPUS,
  })
  expect(countsOf(wholeMetrics(series, 4 * GPUS - 1))).toEqual({
    gpu_memory_used_bytes: GPUS,
    container_gpu_memory_bytes: GPUS,
    process_gpu_memory_bytes: GPUS,
  })
})

test('few series stay as they are, a crowd of one metric is cut', () => {
  const few = of('gpu_power_watts')
  expect(wholeMetrics(few, MOST)).toBe(few)
  expect(wholeMetrics(few, 3)).toEqual(few.slice(0, 3))
})
