// Rows and frames for the dashboard's tests.
import type { ContainerRow, FrameMessage, GpuRow, ProcessRow } from '../../../agent/model/live.ts'

export const GIB = 2 ** 30

export const gpu = (index: number, more: Partial<GpuRow> = {}): GpuRow => ({
  uuid: `GPU-${index}`,
  index,
  name: 'NVIDIA H100',
  memory_total_bytes: 80 * GIB,
  memory_used_bytes: 10 * GIB,
  memory_unattributed_bytes: GIB,
  utilization_ratio: 0.5,
  power_watts: 300,
  temperature_celsius: 50,
  sample_age_seconds: 0.1,
  ...more,
})

/** A GPU of which nothing could be read. */
export const silentGpu = (index: number, reason: string, more: Partial<GpuRow> = {}): GpuRow => ({
  uuid: `GPU-${index}`,
  index,
  gaps: [{ measure: 'memory_used_bytes', reason }],
  ...more,
})

export const container = (name: string, gpuMemory: Record<string, number>, more: Partial<ContainerRow> = {}): ContainerRow => ({
  container_id: `${name}-id`,
  container: name,
  gpu_memory_bytes: gpuMemory,
  ...more,
})

export const frame = (t: number, gpus: readonly GpuRow[], containers: readonly ContainerRow[] = [], processes: readonly ProcessRow[] = []): FrameMessage => ({
  type: 'frame',
  t,
  gpus,
  containers,
  processes,
  allocators: [],
  servers: [],
  progress: [],
  jobs: [],
  host: { hostname: 'host' },
})
