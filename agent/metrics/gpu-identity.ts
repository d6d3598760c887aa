// Which GPU it is, whether it is there and answers, and the settings that matter when something is slow or refused.
import { defineMetric } from '../model/metric.ts'
import { dcgmGauge, renamed } from './dcgm.ts'
import { GPU_LABELS } from './labels.ts'

export const gpuInfo = defineMetric({
  name: 'warpwatch_gpu_info',
  subject: 'gpu',
  field: 'info',
  kind: 'info',
  unit: '1',
  help: 'Always 1; the labels identify the GPU. vendor: nvidia, amd or intel. memory="unified": it shares the memory of the host. Labels that the driver does not report are absent (serial on GeForce, minor in WSL2).',
  labels: [...GPU_LABELS, 'name', 'vendor', 'pci_bus_id', 'driver_version', 'cuda_version', 'vbios_version', 'serial', 'minor', 'memory'],
  history: false,
})
export const gpuPresent = defineMetric({
  name: 'warpwatch_gpu_present',
  subject: 'gpu',
  field: 'present',
  kind: 'gauge',
  unit: '1',
  help: '1 for a GPU that the driver lists, also while it hangs; 0 for one that was here and is not listed any more. Absent while the driver does not answer.',
  labels: GPU_LABELS,
})
export const gpuSampleAgeSeconds = defineMetric({
  name: 'warpwatch_gpu_sample_age_seconds',
  subject: 'gpu',
  field: 'sample_age_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Age of the newest reading of this GPU; goes on rising while its driver hangs.',
  labels: GPU_LABELS,
})
export const gpuPersistenceMode = defineMetric({
  name: 'warpwatch_gpu_persistence_mode',
  subject: 'gpu',
  field: 'persistence_mode',
  kind: 'gauge',
  unit: '1',
  help: 'Whether the driver stays loaded without clients (1); without it every first client waits for seconds.',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_PERSISTENCE_MODE', 'Persistence mode (0 off, 1 on).'), 'DCGM_FI_DEV_GPU_PERSISTENCE_MODE'),
  history: false,
})
export const gpuComputeMode = defineMetric({
  name: 'warpwatch_gpu_compute_mode',
  subject: 'gpu',
  field: 'compute_mode',
  kind: 'gauge',
  unit: '1',
  help: 'Who may use the GPU: 0 any number of processes, 2 none, 3 one process.',
  labels: GPU_LABELS,
  dcgm: renamed(dcgmGauge('DCGM_FI_DEV_COMPUTE_MODE', 'Compute mode (0 default, 2 prohibited, 3 exclusive process).'), 'DCGM_FI_DEV_GPU_COMPUTE_MODE'),
  history: false,
})
export const gpuPerformanceState = defineMetric({
  name: 'warpwatch_gpu_performance_state',
  subject: 'gpu',
  field: 'performance_state',
  kind: 'gauge',
  unit: '1',
  help: 'Performance state: 0 is P0, the fastest, 15 the slowest.',
  labels: GPU_LABELS,
  dcgm: { classic: [dcgmGauge('DCGM_FI_DEV_PSTATE', 'Current performance state (0-15).')] },
})
export const gpuRecoveryAction = defineMetric({
  name: 'warpwatch_gpu_recovery_action',
  subject: 'gpu',
  field: 'recovery_action',
  kind: 'gauge',
  unit: '1',
  help: 'What must be done: 0 nothing, 1 reset the GPU, 2 reboot, 3 drain P2P, 4 drain and reset, 5 recover the IMEX domain, 6 bus reset, 7 system reboot (R565 and newer).',
  labels: GPU_LABELS,
})
export const gpuAsleep = defineMetric({
  name: 'warpwatch_gpu_asleep',
  subject: 'gpu',
  field: 'asleep',
  kind: 'gauge',
  unit: '1',
  help: 'Whether the kernel has suspended the card (1): its sensors are not read then, since that would wake it. AMD, Intel, Jetson, and NVIDIA GPUs of laptops.',
  labels: GPU_LABELS,
})
export const gpuPartitionInfo = defineMetric({
  name: 'warpwatch_gpu_partition_info',
  subject: 'gpu',
  field: 'partition_info',
  kind: 'info',
  unit: '1',
  help: 'Always 1; how a card is divided: compute mode (SPX, DPX, TPX, QPX, CPX), memory mode (NPS1 to NPS8), and how many partitions it shows (AMD Instinct).',
  labels: [...GPU_LABELS, 'compute', 'memory', 'partitions'],
  history: false,
})
