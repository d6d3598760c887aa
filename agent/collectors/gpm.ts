// GPM (Hopper and newer): how busy the parts of the GPU are, between this reading and the previous one; for MIG instances too.
import {
  gpuGpmEngineActiveRatio,
  gpuGpmFp16ActiveRatio,
  gpuGpmFp32ActiveRatio,
  gpuGpmFp64ActiveRatio,
  gpuGpmMemoryActiveRatio,
  gpuGpmSmActiveRatio,
  gpuGpmSmOccupancyRatio,
  gpuGpmTensorActiveRatio,
} from '../metrics/gpm.ts'
import { SUCCESS, failureOf } from '../nvml/codes.ts'
import { NOT_YET } from '../nvml/device.ts'
import type { Device } from '../nvml/device.ts'
import { makeSeries } from '../model/series.ts'
import type { Labels } from '../model/series.ts'
import type { Collector, ReadGpu } from './collector.ts'
import { all, convert } from './parts/gauges.ts'

/** By nvmlGpmMetricId_t; NVML gives percent. */
const RATIOS = [
  { id: 1, metric: gpuGpmEngineActiveRatio },
  { id: 2, metric: gpuGpmSmActiveRatio },
  { id: 3, metric: gpuGpmSmOccupancyRatio },
  { id: 5, metric: gpuGpmTensorActiveRatio },
  { id: 10, metric: gpuGpmMemoryActiveRatio },
  { id: 11, metric: gpuGpmFp64ActiveRatio },
  { id: 12, metric: gpuGpmFp32ActiveRatio },
  { id: 13, metric: gpuGpmFp16ActiveRatio },
] as const
const PERCENT = 0.01

function readRatios(device: Device, labels: Labels, gi?: number): ReadGpu {
  const query = device.gpm(
    RATIOS.map(({ id }) => id),
    gi,
  )
  const parts = RATIOS.map(({ metric }) => ({ metric, series: makeSeries(metric, labels) }))
  return (out) => {
    const code = query.ask()
    if (code === NOT_YET) return
    for (const [at, { metric, series }] of parts.entries()) {
      if (code !== SUCCESS) out.gap(metric, labels, failureOf('nvmlGpmSampleGet', code))
      else if (query.codes[at] === SUCCESS) out.reading(series, convert(query.values[at] ?? Number.NaN, PERCENT))
      else out.gap(metric, labels, query.failure(at))
    }
  }
}

export const gpm: Collector = {
  id: 'gpm',
  rate: 'slow',
  metrics: RATIOS.map(({ metric }) => metric),
  attach: (device) => {
    // Compute instances of one GPU instance share its counters.
    const instances = [...new Set(device.mig.map(({ gi }) => gi))]
    return { read: all([readRatios(device, device.labels), ...instances.map((gi) => readRatios(device, { ...device.labels, gi: String(gi) }, gi))]) }
  },
}
