// Processes on GPUs: what the driver counts, and what the allocator of PyTorch says of itself through the probe.
import { defineMetric } from '../model/metric.ts'
import { CONTAINER_LABELS, MIG_LABELS } from './labels.ts'

export const processGpuMemoryBytes = defineMetric({
  name: 'warpwatch_process_gpu_memory_bytes',
  subject: 'process',
  field: 'gpu_memory_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'GPU memory that one process holds, as the driver counts it.',
  labels: [...MIG_LABELS, 'pid', 'process', 'type', 'inner_pid', ...CONTAINER_LABELS, 'slurm_job', 'unit'],
})

const PROCESS_LABELS = processGpuMemoryBytes.labels
export const processGpuUtilizationRatio = defineMetric({
  name: 'warpwatch_process_gpu_utilization_ratio',
  subject: 'process',
  field: 'gpu_utilization_ratio',
  kind: 'gauge',
  unit: '1',
  help: "Share of the time in which kernels of this process ran: the GPU's utilization divided by the driver's samples of each process, or all of it where one process holds the GPU. Not with MIG.",
  labels: PROCESS_LABELS,
})
export const processInfo = defineMetric({
  name: 'warpwatch_process_info',
  subject: 'process',
  field: 'info',
  kind: 'info',
  unit: '1',
  help: 'A process that holds GPU memory: user (the name on the host, in a container that of its image), uid, and its command line, in which secrets are masked (host.command_lines: false leaves it out).',
  labels: [...MIG_LABELS, 'pid', 'process', 'container_id', 'user', 'uid', 'command'],
  history: false,
})
export const processStartTimestampSeconds = defineMetric({
  name: 'warpwatch_process_start_timestamp_seconds',
  subject: 'process',
  field: 'start_timestamp_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'When a process that holds GPU memory started, in Unix seconds.',
  labels: [...MIG_LABELS, 'pid', 'process'],
  history: false,
})

const ALLOCATOR_LABELS = [...MIG_LABELS, 'pid', 'process', 'inner_pid', ...CONTAINER_LABELS, 'slurm_job', 'unit'] as const
const gauge = (field: string, help: string, unit = 'By') =>
  defineMetric({ name: `warpwatch_allocator_${field}`, subject: 'allocator', field, kind: 'gauge', unit, help, labels: ALLOCATOR_LABELS })
const counter = (field: string, unit: string, help: string) =>
  defineMetric({ name: `warpwatch_allocator_${field}`, subject: 'allocator', field, kind: 'counter', unit, help, labels: ALLOCATOR_LABELS })

export const allocatorAllocatedBytes = gauge('allocated_bytes', 'In use by tensors, in blocks of the allocator.')
export const allocatorReservedBytes = gauge('reserved_bytes', 'Taken from the driver: in use, cached and in pieces.')
export const allocatorActiveBytes = gauge('active_bytes', 'In use, or freed but still awaited by a stream.')
export const allocatorInactiveSplitBytes = gauge(
  'inactive_split_bytes',
  'Free, but beside live blocks, so that it cannot be given back; 0 with expandable segments.',
)
export const allocatorRequestedBytes = gauge('requested_bytes', 'What the program asked for, before rounding.')
export const allocatorRetriesTotal = counter(
  'retries_total',
  '{retry}',
  'Requests for which the whole cache had to be given back first. The program can reset it.',
)
export const allocatorOomsTotal = counter('ooms_total', '{error}', 'Out-of-memory errors that the allocator threw, caught ones too. The program can reset it.')
export const allocatorUnreleasableBytes = gauge('unreleasable_bytes', 'Active and inactive split: what giving the cache back would not free.')
export const allocatorHeadroomBytes = gauge(
  'headroom_bytes',
  'The largest single request that can still be met after giving the cache back, within the memory fraction; with expandable segments an upper bound.',
)
export const allocatorStrandedRatio = gauge(
  'stranded_ratio',
  'Share of the memory that the process may use which was stranded after its cache was last given back; absent before that.',
  '1',
)
