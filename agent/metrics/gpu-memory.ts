// Memory of GPUs and MIG instances, and the window (BAR1) through which CPU and other devices reach it.
import { defineMetric } from '../model/metric.ts'
import { dcgmGauge, renamed } from './dcgm.ts'
import { GPU_LABELS, MIG_LABELS } from './labels.ts'

const MIB = 1024 ** 2
const perMib = (name: string, help: string) => [{ name, kind: 'gauge', help, scale: 1 / MIB }] as const
const asBytes = (name: string, help: string) => [{ name, kind: 'gauge', help, scale: 1 }] as const
const mebibytes = (name: string, help: string) => ({ classic: [dcgmGauge(name, help, 1 / MIB)] })

export const gpuMemoryTotalBytes = defineMetric({
  name: 'warpwatch_gpu_memory_total_bytes',
  subject: 'gpu',
  field: 'memory_total_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Memory of the GPU or MIG instance, reserved memory included.',
  labels: MIG_LABELS,
  dcgm: {
    classic: perMib('DCGM_FI_DEV_FB_TOTAL', 'Total framebuffer memory (in MiB).'),
    current: asBytes('DCGM_FI_DEV_FB_CAPACITY_BYTES', 'Total framebuffer memory (in bytes).'),
  },
  otel: [{ name: 'hw.gpu.memory.limit', upDown: true }],
})
export const gpuMemoryUsedBytes = defineMetric({
  name: 'warpwatch_gpu_memory_used_bytes',
  subject: 'gpu',
  field: 'memory_used_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Memory in use, without what the driver reserves (drivers before R510: with it, then no reserved series exists).',
  labels: MIG_LABELS,
  dcgm: {
    classic: perMib('DCGM_FI_DEV_FB_USED', 'Framebuffer memory used (in MiB).'),
    current: asBytes('DCGM_FI_DEV_FB_USED_BYTES', 'Framebuffer memory used (in bytes).'),
  },
  otel: [{ name: 'hw.gpu.memory.usage', upDown: true }],
})
export const gpuMemoryFreeBytes = defineMetric({
  name: 'warpwatch_gpu_memory_free_bytes',
  subject: 'gpu',
  field: 'memory_free_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Memory that can still be allocated.',
  labels: MIG_LABELS,
  dcgm: {
    classic: perMib('DCGM_FI_DEV_FB_FREE', 'Framebuffer memory free (in MiB).'),
    current: asBytes('DCGM_FI_DEV_FB_FREE_BYTES', 'Framebuffer memory free (in bytes).'),
  },
})
export const gpuMemoryReservedBytes = defineMetric({
  name: 'warpwatch_gpu_memory_reserved_bytes',
  subject: 'gpu',
  field: 'memory_reserved_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Memory that driver and firmware keep for themselves.',
  labels: MIG_LABELS,
  dcgm: {
    classic: perMib('DCGM_FI_DEV_FB_RESERVED', 'Framebuffer memory reserved (in MiB).'),
    current: asBytes('DCGM_FI_DEV_FB_RESERVED_BYTES', 'Framebuffer memory reserved (in bytes).'),
  },
})
export const gpuMemoryUsedRatio = defineMetric({
  name: 'warpwatch_gpu_memory_used_ratio',
  subject: 'gpu',
  field: 'memory_used_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Memory in use as a share of what programs can have: the total without what driver and firmware keep.',
  labels: MIG_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_FB_USED_PERCENT', 'Framebuffer memory used as a share of total minus reserved (0 to 1).'), 'DCGM_FI_DEV_FB_USED_RATIO'),
  history: false,
})
export const gpuMemoryUsedPeakBytes = defineMetric({
  name: 'warpwatch_gpu_memory_used_peak_bytes',
  subject: 'gpu',
  field: 'memory_used_peak_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Highest memory use within the last 60 seconds, of all samples between the readings too.',
  labels: GPU_LABELS,
})
export const gpuMemoryUnattributedBytes = defineMetric({
  name: 'warpwatch_gpu_memory_unattributed_bytes',
  subject: 'gpu',
  field: 'memory_unattributed_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Used memory of the GPU that no listed process holds: other namespaces, the driver itself, processes that ended badly.',
  labels: GPU_LABELS,
})
export const gpuBar1TotalBytes = defineMetric({
  name: 'warpwatch_gpu_bar1_total_bytes',
  subject: 'gpu',
  field: 'bar1_total_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Size of the BAR1 window.',
  labels: MIG_LABELS,
  dcgm: mebibytes('DCGM_FI_DEV_BAR1_TOTAL', 'Total BAR1 memory (in MiB).'),
  history: false,
})
export const gpuBar1UsedBytes = defineMetric({
  name: 'warpwatch_gpu_bar1_used_bytes',
  subject: 'gpu',
  field: 'bar1_used_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Mapped part of the BAR1 window.',
  labels: MIG_LABELS,
  dcgm: mebibytes('DCGM_FI_DEV_BAR1_USED', 'Used BAR1 memory (in MiB).'),
})
export const gpuBar1FreeBytes = defineMetric({
  name: 'warpwatch_gpu_bar1_free_bytes',
  subject: 'gpu',
  field: 'bar1_free_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Part of the BAR1 window that nothing is mapped into.',
  labels: MIG_LABELS,
  dcgm: mebibytes('DCGM_FI_DEV_BAR1_FREE', 'Free BAR1 memory (in MiB).'),
  history: false,
})
export const gpuGttTotalBytes = defineMetric({
  name: 'warpwatch_gpu_gtt_total_bytes',
  subject: 'gpu',
  field: 'gtt_total_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Host memory that the GPU may map (GTT). AMD only.',
  labels: GPU_LABELS,
  history: false,
})
export const gpuGttUsedBytes = defineMetric({
  name: 'warpwatch_gpu_gtt_used_bytes',
  subject: 'gpu',
  field: 'gtt_used_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Host memory that the GPU has mapped (GTT); it counts in no process and in no container limit. AMD only.',
  labels: GPU_LABELS,
})
export const gpuMemoryEvictedBytes = defineMetric({
  name: 'warpwatch_gpu_memory_evicted_bytes',
  subject: 'gpu',
  field: 'memory_evicted_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Memory that processes asked for on the GPU and that the driver moved to host memory because the GPU is full. AMD only.',
  labels: GPU_LABELS,
})
