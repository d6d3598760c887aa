// GPM (Hopper and newer): how busy the parts of the GPU are, between this reading and the previous one; for MIG instances too.
import { defineMetric, type DcgmName } from '../model/metric.ts'
import { dcgmGauge } from './dcgm.ts'
import { GPU_LABELS } from './labels.ts'

const ratio = (what: string, help: string, classic: DcgmName, current?: string) =>
  defineMetric({
    name: `warpwatch_gpu_gpm_${what}_ratio`,
    subject: 'gpu',
    field: `gpm_${what}_ratio`,
    kind: 'gauge',
    unit: '1',
    help,
    labels: [...GPU_LABELS, 'gi'],
    dcgm: { classic: [classic], ...(current === undefined ? {} : { current: [{ ...classic, name: current }] }) },
  })

export const gpuGpmEngineActiveRatio = ratio(
  'engine_active',
  'Share of the time in which the graphics or compute engine worked.',
  dcgmGauge('DCGM_FI_PROF_GR_ENGINE_ACTIVE', 'Ratio of time the graphics engine is active.'),
  'DCGM_FI_PROF_GR_ENGINE_UTIL_RATIO',
)
export const gpuGpmSmActiveRatio = ratio(
  'sm_active',
  'Share of the time in which multiprocessors had work, averaged over all of them.',
  dcgmGauge('DCGM_FI_PROF_SM_ACTIVE', 'The ratio of cycles an SM has at least 1 warp assigned.'),
)
export const gpuGpmSmOccupancyRatio = ratio(
  'sm_occupancy',
  'Warps resident on the multiprocessors as a share of the most possible.',
  dcgmGauge('DCGM_FI_PROF_SM_OCCUPANCY', 'The ratio of number of warps resident on an SM.'),
)
export const gpuGpmTensorActiveRatio = ratio(
  'tensor_active',
  'Share of the time in which the tensor cores worked.',
  dcgmGauge('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 'Ratio of cycles the tensor (HMMA) pipe is active.'),
  'DCGM_FI_PROF_TENSOR_UTIL_RATIO',
)
export const gpuGpmMemoryActiveRatio = ratio(
  'memory_active',
  'Share of the memory bandwidth in use.',
  dcgmGauge('DCGM_FI_PROF_DRAM_ACTIVE', 'Ratio of cycles the device memory interface is active sending or receiving data.'),
  'DCGM_FI_PROF_DRAM_UTIL_RATIO',
)
export const gpuGpmFp64ActiveRatio = ratio(
  'fp64_active',
  'Share of the time in which the FP64 pipes worked.',
  dcgmGauge('DCGM_FI_PROF_PIPE_FP64_ACTIVE', 'Ratio of cycles the fp64 pipes are active.'),
)
export const gpuGpmFp32ActiveRatio = ratio(
  'fp32_active',
  'Share of the time in which the FP32 pipes worked.',
  dcgmGauge('DCGM_FI_PROF_PIPE_FP32_ACTIVE', 'Ratio of cycles the fp32 pipes are active.'),
)
export const gpuGpmFp16ActiveRatio = ratio(
  'fp16_active',
  'Share of the time in which the FP16 pipes worked.',
  dcgmGauge('DCGM_FI_PROF_PIPE_FP16_ACTIVE', 'Ratio of cycles the fp16 pipes are active.'),
)
