// The host around the GPUs: what it is, CPU, memory, pressure, load, /dev/shm.
import { defineMetric } from '../model/metric.ts'

export const hostInfo = defineMetric({
  name: 'warpwatch_host_info',
  subject: 'host',
  field: 'info',
  kind: 'info',
  unit: '1',
  help: 'The host: name, kernel, distribution, WSL version where it is one, architecture.',
  labels: ['hostname', 'kernel', 'os', 'wsl', 'architecture'],
})
export const hostCpuSecondsTotal = defineMetric({
  name: 'warpwatch_host_cpu_seconds_total',
  subject: 'host',
  field: 'cpu_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'CPU time of all cores by mode. Guests count under user and nice.',
  labels: ['mode'],
  otel: [
    { name: 'system.cpu.time', attributes: { 'cpu.mode': 'interrupt' }, when: { mode: 'irq' } },
    { name: 'system.cpu.time', labels: { mode: 'cpu.mode' } },
  ],
})
export const hostCpuCores = defineMetric({
  name: 'warpwatch_host_cpu_cores',
  subject: 'host',
  field: 'cpu_cores',
  kind: 'gauge',
  unit: '{cpu}',
  help: 'Logical CPUs that are online.',
  labels: [],
  otel: [{ name: 'system.cpu.logical.count', upDown: true }],
})
export const hostBootTimeSeconds = defineMetric({
  name: 'warpwatch_host_boot_time_seconds',
  subject: 'host',
  field: 'boot_time_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'When the host booted, Unix time.',
  labels: [],
  history: false,
})
const bytes = (what: string, help: string, otel?: string) =>
  defineMetric({
    name: `warpwatch_host_${what}_bytes`,
    subject: 'host',
    field: `${what}_bytes`,
    kind: 'gauge',
    unit: 'By',
    help,
    labels: [],
    ...(otel === undefined ? {} : { otel: [{ name: otel, upDown: true as const }] }),
  })
export const hostMemoryTotalBytes = bytes('memory_total', 'Memory that the kernel can use.', 'system.memory.limit')
export const hostMemoryAvailableBytes = bytes(
  'memory_available',
  'Memory that new work can get without swapping, as the kernel estimates it.',
  'system.memory.linux.available',
)
export const hostMemoryFreeBytes = bytes('memory_free', 'Memory that nothing uses, not even a cache.')
export const hostMemoryBuffersBytes = bytes('memory_buffers', 'Cache of block devices.')
export const hostMemoryCachedBytes = bytes('memory_cached', 'Page cache; contains memory_shared, which cannot be dropped.')
export const hostMemorySharedBytes = bytes('memory_shared', 'Shared memory and tmpfs, /dev/shm included.')
export const hostMemorySlabBytes = bytes('memory_slab', "The kernel's own structures.")
export const hostMemoryDirtyBytes = bytes('memory_dirty', 'Written by programs, not yet on disk.')
export const hostSwapTotalBytes = bytes('swap_total', 'Swap space; 0 without any.')
export const hostSwapFreeBytes = bytes('swap_free', 'Swap space that is not in use.')
export const hostOomKillsTotal = defineMetric({
  name: 'warpwatch_host_oom_kills_total',
  subject: 'host',
  field: 'oom_kills_total',
  kind: 'counter',
  unit: '{process}',
  help: "Processes killed by the kernel's OOM killer since boot, in containers too.",
  labels: [],
})
export const hostShmTotalBytes = defineMetric({
  name: 'warpwatch_host_shm_total_bytes',
  subject: 'host',
  field: 'shm_total_bytes',
  kind: 'gauge',
  unit: 'By',
  help: "Size of the host's /dev/shm; containers have their own.",
  labels: [],
})
export const hostShmUsedBytes = defineMetric({
  name: 'warpwatch_host_shm_used_bytes',
  subject: 'host',
  field: 'shm_used_bytes',
  kind: 'gauge',
  unit: 'By',
  help: "Bytes in use in the host's /dev/shm.",
  labels: [],
})
export const hostPressureWaitingSecondsTotal = defineMetric({
  name: 'warpwatch_host_pressure_waiting_seconds_total',
  subject: 'host',
  field: 'pressure_waiting_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'Time in which some, or all (full), of the work that could run waited for the resource.',
  labels: ['resource', 'kind'],
})
export const hostPressureRatio = defineMetric({
  name: 'warpwatch_host_pressure_ratio',
  subject: 'host',
  field: 'pressure_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the last 10 s in which some, or all (full), of the work that could run waited for the resource.',
  labels: ['resource', 'kind'],
})
const load = (minutes: number) =>
  defineMetric({
    name: `warpwatch_host_load${minutes}`,
    subject: 'host',
    field: `load${minutes}`,
    kind: 'gauge',
    unit: '{thread}',
    help: `Threads that run or wait for CPU or disk, averaged over ${minutes} min.`,
    labels: [],
  })
export const hostLoad1 = load(1)
export const hostLoad5 = load(5)
export const hostLoad15 = load(15)
