// GPM (Hopper and newer): how busy the parts of the GPU are, between this reading and the previous one; for MIG instances too.
import { SUCCESS, failureOf } from '../nvml/codes.ts'
import { NOT_YET } from '../nvml/device.ts'
import type { Device } from '../nvml/device.ts'
import { defineMetric } from '../model/metric.ts'
import type { DcgmName } from '../model/metric.ts'
import { makeSeries } from '../model/series.ts'
import type { Labels } from '../model/series.ts'
import type { Collector, ReadGpu } from './collector.ts'
import { dcgmGauge } from './parts/dcgm.ts'
import { all, convert } from './parts/gauges.ts'

const ratio = (what: string, help: string, classic: DcgmName, current?: string) =>
  defineMetric({
    name: `warpwatch_gpu_gpm_${what}_ratio`,
    kind: 'gauge',
    unit: '1',
    help,
    labels: ['gpu', 'uuid', 'gi'],
    dcgm: { classic: [classic], ...(current === undefined ? {} : { current: [{ ...classic, name: current }] }) },
  })

/** By nvmlGpmMetricId_t; NVML gives percent. */
const RATIOS = [
  {
    id: 1,
    metric: ratio(
      'engine_active',
      'Share of the time in which the graphics or compute engine worked.',
      dcgmGauge('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'Ratio of time the graphics engine is active.'),
      'DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO',
    ),
  },
  {
    id: 2,
    metric: ratio(
      'sm_active',
      'Share of the time in which multiprocessors had work, averaged over all of them.',
      dcgmGauge('DCGM_FI_PROF_SM_ACTIVE', 'The ratio of cycles an SM has at least 1 warp assigned.'),
    ),
  },
  {
    id: 3,
    metric: ratio(
      'sm_occupancy',
      'Warps resident on the multiprocessors as a share of the most possible.',
      dcgmGauge('DCGM_FI_PROF_SM_OCCUPANCY', 'The ratio of number of warps resident on an SM.'),
    ),
  },
  {
    id: 5,
    metric: ratio(
      'tensor_active',
      'Share of the time in which the tensor cores worked.',
      dcgmGauge('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 'Ratio of cycles the tensor (HMMA) pipe is active.'),
      'DCGM_FI_PROF_TENSOR_UTIL_RATIO',
    ),
  },
  {
    id: 10,
    metric: ratio(
      'memory_active',
      'Share of the memory bandwidth in use.',
      dcgmGauge('DCGM_FI_PROF_DRAM_ACTIVE', 'Ratio of cycles the device memory interface is active sending or receiving data.'),
      'DCGM_FI_PROF_DRAM_UTIL_RATIO',
    ),
  },
  {
    id: 11,
    metric: ratio(
      'fp64_active',
      'Share of the time in which the FP64 pipes worked.',
      dcgmGauge('DCGM_FI_PROF_PIPE_FP64_ACTIVE', 'Ratio of cycles the fp64 pipes are active.'),
    ),
  },
  {
    id: 12,
    metric: ratio(
      'fp32_active',
      'Share of the time in which the FP32 pipes worked.',
      dcgmGauge('DCGM_FI_PROF_PIPE_FP32_ACTIVE', 'Ratio of cycles the fp32 pipes are active.'),
    ),
  },
  {
    id: 13,
    metric: ratio(
      'fp16_active',
      'Share of the time in which the FP16 pipes worked.',
      dcgmGauge('DCGM_FI_PROF_PIPE_FP16_ACTIVE', 'Ratio of cycles the fp16 pipes are active.'),
    ),
  },
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
