// Containers: what the kernel and the engine count, which GPUs they were given, and what they hold there.
import { defineMetric } from '../model/metric.ts'
import { CONTAINER_LABELS, GPU_LABELS, MIG_LABELS } from './labels.ts'

export const containerInfo = defineMetric({
  name: 'warpwatch_container_info',
  subject: 'container',
  field: 'info',
  kind: 'info',
  unit: '1',
  help: 'A running container: runtime, host pid of its first process, state in the words of the engine, start time in Unix seconds; user: who uses it, where a label of the container says so (containers.user_labels).',
  labels: [...CONTAINER_LABELS, 'runtime', 'pid', 'state', 'started', 'user'],
  history: false,
})
export const containerCpuSecondsTotal = defineMetric({
  name: 'warpwatch_container_cpu_seconds_total',
  subject: 'container',
  field: 'cpu_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'CPU time of all processes of the container (cgroup v2 cpu.stat usage_usec, v1 cpuacct.usage); starts over when the container restarts.',
  labels: CONTAINER_LABELS,
  otel: [{ name: 'container.cpu.time' }],
})
export const containerCpuModeSecondsTotal = defineMetric({
  name: 'warpwatch_container_cpu_mode_seconds_total',
  subject: 'container',
  kind: 'counter',
  unit: 's',
  help: 'CPU time of the container by mode, user and system, every 10 s (cgroup v2 cpu.stat user_usec and system_usec, v1 cpuacct.stat); the sum is that of container_cpu_seconds_total.',
  labels: [...CONTAINER_LABELS, 'mode'],
  otel: [{ name: 'container.cpu.time', labels: { mode: 'cpu.mode' }, partsOf: containerCpuSecondsTotal }],
  history: false,
})
export const containerCpuLimitCores = defineMetric({
  name: 'warpwatch_container_cpu_limit_cores',
  subject: 'container',
  field: 'cpu_limit_cores',
  kind: 'gauge',
  unit: '{cpu}',
  help: "CPU limit of the container's own cgroup in cores (cgroup v2 cpu.max, v1 cpu.cfs_quota_us by cpu.cfs_period_us); absent when unlimited, limits of a pod or slice above it are not included.",
  labels: CONTAINER_LABELS,
})
export const containerMemoryBytes = defineMetric({
  name: 'warpwatch_container_memory_bytes',
  subject: 'container',
  field: 'memory_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Working set as docker stats computes it: memory usage minus inactive_file, the page cache that the kernel gives back first.',
  labels: CONTAINER_LABELS,
  otel: [{ name: 'container.memory.working_set', upDown: true }],
})
export const containerMemoryLimitBytes = defineMetric({
  name: 'warpwatch_container_memory_limit_bytes',
  subject: 'container',
  field: 'memory_limit_bytes',
  kind: 'gauge',
  unit: 'By',
  help: "Memory limit of the container's own cgroup (memory.max, v1 memory.limit_in_bytes); absent when unlimited, limits of a pod or slice above it are not included.",
  labels: CONTAINER_LABELS,
})
export const containerOomKillsTotal = defineMetric({
  name: 'warpwatch_container_oom_kills_total',
  subject: 'container',
  field: 'oom_kills_total',
  kind: 'counter',
  unit: '{kill}',
  help: 'Processes of the container that the kernel OOM killer killed, children too: cgroup v2 memory.events oom_kill (with all cgroups below), v1 memory.oom_control oom_kill (this cgroup only); starts over when the container restarts.',
  labels: CONTAINER_LABELS,
})
export const containerRestartsTotal = defineMetric({
  name: 'warpwatch_container_restarts_total',
  subject: 'container',
  field: 'restarts_total',
  kind: 'counter',
  unit: '{restart}',
  help: "Restarts by the engine's restart policy since the container was created, as the engine counts them.",
  labels: CONTAINER_LABELS,
})
export const containerPids = defineMetric({
  name: 'warpwatch_container_pids',
  subject: 'container',
  field: 'pids',
  kind: 'gauge',
  unit: '{process}',
  help: 'Processes and threads of the container, from pids.current.',
  labels: CONTAINER_LABELS,
})
export const containerPressureWaitingSecondsTotal = defineMetric({
  name: 'warpwatch_container_pressure_waiting_seconds_total',
  subject: 'container',
  field: 'pressure_waiting_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'Time in which some, or all (full), tasks of the container waited for the resource (cgroup v2 *.pressure, PSI); there is none with cgroup v1.',
  labels: [...CONTAINER_LABELS, 'resource', 'kind'],
})
export const containerGpuRequested = defineMetric({
  name: 'warpwatch_container_gpu_requested',
  subject: 'container',
  field: 'gpu_requested',
  by: 'uuid',
  kind: 'gauge',
  unit: '1',
  help: '1 for each GPU that the container asked for or was given, whether it uses it or not; `by` says how: device_nodes, cdi, device_request, runtime_env, privileged.',
  labels: [...CONTAINER_LABELS, ...GPU_LABELS, 'by'],
  history: false,
})
export const containerGpuAssigned = defineMetric({
  name: 'warpwatch_container_gpu_assigned',
  subject: 'container',
  kind: 'gauge',
  unit: '1',
  help: '1 for each GPU or MIG instance that the kubelet gave to a container of a pod, used or not; `resource` is the name it was asked for by, such as nvidia.com/gpu.',
  labels: [...MIG_LABELS, 'container', 'namespace', 'pod', 'resource'],
  history: false,
})
export const containerGpuAccessible = defineMetric({
  name: 'warpwatch_container_gpu_accessible',
  subject: 'container',
  field: 'gpu_accessible',
  by: 'uuid',
  kind: 'gauge',
  unit: '1',
  help: '1 while a container can reach a GPU that it was given, 0 when its device node or the permission of its device cgroup is gone; absent where that cannot be determined (cgroup v2 hides its rules).',
  labels: [...CONTAINER_LABELS, ...GPU_LABELS],
})
export const containerGpuNode = defineMetric({
  name: 'warpwatch_container_gpu_node',
  subject: 'container',
  field: 'gpu_node',
  by: 'uuid',
  kind: 'gauge',
  unit: '1',
  help: 'Whether the device node of a GPU that the container was given is in its /dev.',
  labels: [...CONTAINER_LABELS, ...GPU_LABELS],
  history: false,
})
export const containerGpuMemoryBytes = defineMetric({
  name: 'warpwatch_container_gpu_memory_bytes',
  subject: 'container',
  field: 'gpu_memory_bytes',
  by: 'uuid',
  kind: 'gauge',
  unit: 'By',
  help: 'GPU memory that the processes of one container hold together.',
  labels: [...MIG_LABELS, ...CONTAINER_LABELS],
})
export const containerGpuUtilizationRatio = defineMetric({
  name: 'warpwatch_container_gpu_utilization_ratio',
  subject: 'container',
  field: 'gpu_utilization_ratio',
  by: 'uuid',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the time in which kernels of the processes of one container ran on a GPU. Not with MIG.',
  labels: [...MIG_LABELS, ...CONTAINER_LABELS],
})
