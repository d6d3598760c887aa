// The metrics of containers: what each counts, and where the kernel or the engine says it.
import { defineMetric } from '../../model/metric.ts'

/** Labels that every container series carries, in the order in which they are written. */
export const CONTAINER_LABELS = ['container', 'container_id', 'image', 'compose_project', 'compose_service', 'namespace', 'pod'] as const

export const containerInfo = defineMetric({
  name: 'warpwatch_container_info',
  kind: 'info',
  unit: '1',
  help: 'A running container: runtime, host pid of its first process, state in the words of the engine, start time in Unix seconds.',
  labels: [...CONTAINER_LABELS, 'runtime', 'pid', 'state', 'started'],
  history: false,
})

export const containerCpu = defineMetric({
  name: 'warpwatch_container_cpu_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'CPU time of all processes of the container (cgroup v2 cpu.stat usage_usec, v1 cpuacct.usage); begins anew when the container restarts.',
  labels: CONTAINER_LABELS,
  otel: [{ name: 'container.cpu.time' }],
})

export const containerCpuLimit = defineMetric({
  name: 'warpwatch_container_cpu_limit_cores',
  kind: 'gauge',
  unit: '{cpu}',
  help: "CPU limit of the container's own cgroup in cores (cgroup v2 cpu.max, v1 cpu.cfs_quota_us by cpu.cfs_period_us); absent when unlimited, limits of a pod or slice above it are not included.",
  labels: CONTAINER_LABELS,
})

export const containerMemory = defineMetric({
  name: 'warpwatch_container_memory_bytes',
  kind: 'gauge',
  unit: 'By',
  help: 'Working set as docker stats computes it: memory usage minus inactive_file, the page cache that the kernel gives back first.',
  labels: CONTAINER_LABELS,
  otel: [{ name: 'container.memory.working_set', upDown: true }],
})

export const containerMemoryLimit = defineMetric({
  name: 'warpwatch_container_memory_limit_bytes',
  kind: 'gauge',
  unit: 'By',
  help: "Memory limit of the container's own cgroup (memory.max, v1 memory.limit_in_bytes); absent when unlimited, limits of a pod or slice above it are not included.",
  labels: CONTAINER_LABELS,
})

export const containerOomKills = defineMetric({
  name: 'warpwatch_container_oom_kills_total',
  kind: 'counter',
  unit: '{kill}',
  help: 'Processes of the container that the kernel killed for want of memory, children too: cgroup v2 memory.events oom_kill (with all cgroups below), v1 memory.oom_control oom_kill (this cgroup only); begins anew when the container restarts.',
  labels: CONTAINER_LABELS,
})

export const containerRestarts = defineMetric({
  name: 'warpwatch_container_restarts_total',
  kind: 'counter',
  unit: '{restart}',
  help: "Restarts by the engine's restart policy since the container was created, as the engine counts them.",
  labels: CONTAINER_LABELS,
})

export const containerPids = defineMetric({
  name: 'warpwatch_container_pids',
  kind: 'gauge',
  unit: '{process}',
  help: 'Processes and threads of the container, from pids.current.',
  labels: CONTAINER_LABELS,
})

export const containerPressure = defineMetric({
  name: 'warpwatch_container_pressure_waiting_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'Time in which some, or all (full), tasks of the container waited for the resource (cgroup v2 *.pressure, PSI); there is none with cgroup v1.',
  labels: [...CONTAINER_LABELS, 'resource', 'kind'],
})

export const containerGpuRequested = defineMetric({
  name: 'warpwatch_container_gpu_requested',
  kind: 'gauge',
  unit: '1',
  help: '1 for each GPU that the container asked for or was given, whether it uses it or not; `by` says how: device_nodes, cdi, device_request, runtime_env, privileged.',
  labels: [...CONTAINER_LABELS, 'gpu', 'uuid', 'by'],
  history: false,
})

export const containerMetrics = [
  containerInfo,
  containerCpu,
  containerCpuLimit,
  containerMemory,
  containerMemoryLimit,
  containerOomKills,
  containerRestarts,
  containerPids,
  containerPressure,
  containerGpuRequested,
] as const
