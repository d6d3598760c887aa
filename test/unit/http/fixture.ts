// A small fixed state of the store: two GPUs (one with a MIG instance), a lost one, a container with a process, gaps.
import { metricNamed } from '../../../agent/catalogue.ts'
import type { Scrape } from '../../../agent/model/event.ts'
import { defineMetric, type DcgmName, type MetricDef } from '../../../agent/model/metric.ts'
import type { Gap, Reading } from '../../../agent/model/reading.ts'
import { makeSeries, type Labels } from '../../../agent/model/series.ts'
import { createLatestStore, type LatestStore } from '../../../agent/store/latest.ts'

export const T = 1_763_600_000_000
export const GPU0: Labels = { gpu: '0', uuid: 'GPU-604ac76c-d9cf-fef3-62e9-d92044ab6e52' }
export const GPU1: Labels = { gpu: '1', uuid: 'GPU-11111111-2222-3333-4444-555555555555' }
export const LOST: Labels = { gpu: '2', uuid: 'GPU-99999999-8888-7777-6666-555555555555' }

/** Where it belongs in the API, as the catalogue says; else it is of a GPU. */
const rowOf = (name: string): Pick<MetricDef, 'subject' | 'field' | 'by'> => {
  const { subject, field, by } = metricNamed(name) ?? { subject: 'gpu', field: name.replace('warpwatch_gpu_', '') }
  return { subject, ...(field === undefined ? {} : { field }), ...(by === undefined ? {} : { by }) }
}
const gauge = (name: string, unit: string, labels: readonly string[], help: string, dcgm?: MetricDef['dcgm']): MetricDef =>
  defineMetric({ ...rowOf(name), name, kind: 'gauge', unit, help, labels, ...(dcgm === undefined ? {} : { dcgm }) })
const dcgmGauge = (name: string, help: string, scale: number, when?: Labels): DcgmName => ({
  name,
  kind: 'gauge',
  help,
  scale,
  ...(when === undefined ? {} : { when }),
})

/** Of whole cards, and of what MIG instances have too. */
const GPU_LABELS = ['gpu', 'uuid']
const MIG_LABELS = [...GPU_LABELS, 'gi', 'ci']
const CONTAINER_LABELS = ['container', 'container_id', 'image', 'compose_project', 'compose_service', 'namespace', 'pod']
const MIB = 1 / 1_048_576

export const gpuInfo = defineMetric({
  name: 'warpwatch_gpu_info',
  subject: 'gpu',
  field: 'info',
  kind: 'info',
  unit: '1',
  help: 'Identity of a GPU.',
  labels: ['gpu', 'uuid', 'name', 'pci_bus_id', 'driver_version', 'minor'],
})
export const migInfo = defineMetric({
  name: 'warpwatch_gpu_mig_info',
  subject: 'mig',
  field: 'mig_info',
  kind: 'info',
  unit: '1',
  help: 'A MIG instance.',
  labels: [...MIG_LABELS, 'mig_uuid', 'name'],
})
export const memoryUsed = gauge('warpwatch_gpu_memory_used_bytes', 'By', MIG_LABELS, 'Memory in use; "reserved" is not in it.', {
  classic: [dcgmGauge('DCGM_FI_DEV_FB_USED', 'Framebuffer memory used (in MiB).', MIB)],
  current: [dcgmGauge('DCGM_FI_DEV_FB_USED_BYTES', 'Framebuffer memory used (in bytes).', 1)],
})
export const memoryFree = gauge('warpwatch_gpu_memory_free_bytes', 'By', MIG_LABELS, 'Memory that can still be allocated.', {
  classic: [dcgmGauge('DCGM_FI_DEV_FB_FREE', 'Framebuffer memory free (in MiB).', MIB)],
})
export const utilization = gauge('warpwatch_gpu_utilization_ratio', '1', GPU_LABELS, 'Share of time with a kernel running.', {
  classic: [dcgmGauge('DCGM_FI_DEV_GPU_UTIL', 'GPU utilization (in %).', 100)],
  current: [dcgmGauge('DCGM_FI_DEV_GPU_UTIL_RATIO', 'GPU utilization (0 to 1).', 1)],
})
export const temperature = gauge('warpwatch_gpu_temperature_celsius', 'Cel', GPU_LABELS, 'Core temperature.', {
  classic: [dcgmGauge('DCGM_FI_DEV_GPU_TEMP', 'GPU temperature (in C).', 1)],
  current: [dcgmGauge('DCGM_FI_DEV_GPU_TEMP_CELSIUS', 'GPU temperature (in C).', 1)],
})
export const power = gauge('warpwatch_gpu_power_watts', 'W', GPU_LABELS, 'Board power.', {
  classic: [dcgmGauge('DCGM_FI_DEV_POWER_USAGE', 'Power draw (in W).', 1)],
  current: [dcgmGauge('DCGM_FI_DEV_BOARD_POWER_WATTS', 'Power draw (in W).', 1)],
})
export const clock = gauge('warpwatch_gpu_clock_hertz', 'Hz', [...GPU_LABELS, 'domain'], 'Clock by domain.', {
  classic: [
    dcgmGauge('DCGM_FI_DEV_SM_CLOCK', 'SM clock frequency (in MHz).', 1e-6, { domain: 'sm' }),
    dcgmGauge('DCGM_FI_DEV_MEM_CLOCK', 'Memory clock frequency (in MHz).', 1e-6, { domain: 'memory' }),
  ],
  current: [dcgmGauge('DCGM_FI_DEV_SM_CLOCK_HERTZ', 'SM clock frequency (in Hz).', 1, { domain: 'sm' })],
})
export const energy = defineMetric({
  name: 'warpwatch_gpu_energy_joules_total',
  subject: 'gpu',
  field: 'energy_joules_total',
  kind: 'counter',
  unit: 'J',
  help: 'Energy since the driver was loaded.',
  labels: GPU_LABELS,
  dcgm: {
    classic: [{ name: 'DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION', kind: 'counter', help: 'Total energy consumption since boot (in mJ).', scale: 1_000 }],
    current: [{ name: 'DCGM_FI_DEV_GPU_ENERGY_JOULES_TOTAL', kind: 'counter', help: 'Total energy (in J).', scale: 1 }],
  },
})
export const tensor = gauge('warpwatch_gpu_tensor_active_ratio', '1', MIG_LABELS, 'Share of cycles with the tensor pipe active.', {
  classic: [dcgmGauge('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 'Ratio of cycles the tensor (HMMA) pipe is active.', 1)],
})
export const throttle = gauge('warpwatch_gpu_throttle_active', '1', [...GPU_LABELS, 'reason'], '1 while the reason slows the GPU.')
export const ecc = defineMetric({
  name: 'warpwatch_gpu_ecc_errors_total',
  subject: 'gpu',
  field: 'ecc_errors_total',
  kind: 'counter',
  unit: '{error}',
  help: 'ECC errors.',
  labels: [...GPU_LABELS, 'type', 'scope'],
})
export const xidTotal = defineMetric({
  name: 'warpwatch_gpu_xid_errors_total',
  subject: 'gpu',
  field: 'xid_errors_total',
  kind: 'counter',
  unit: '{event}',
  help: 'Xid events.',
  labels: [...GPU_LABELS, 'xid'],
})
export const xidLast = gauge('warpwatch_gpu_xid_last_timestamp_seconds', 's', [...GPU_LABELS, 'xid'], 'Unix time of the last Xid.')
export const containerCpu = defineMetric({
  name: 'warpwatch_container_cpu_seconds_total',
  subject: 'container',
  field: 'cpu_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'CPU time.',
  labels: CONTAINER_LABELS,
})
export const containerGpuMemory = gauge('warpwatch_container_gpu_memory_bytes', 'By', [...CONTAINER_LABELS, ...MIG_LABELS], 'GPU memory of a container.')
export const containerRequested = gauge('warpwatch_container_gpu_requested', '1', [...CONTAINER_LABELS, 'gpu', 'uuid', 'by'], '1 for each GPU asked for.')
export const processMemory = gauge(
  'warpwatch_process_gpu_memory_bytes',
  'By',
  [...MIG_LABELS, 'pid', 'process', 'type', ...CONTAINER_LABELS],
  'GPU memory of a process.',
)
export const hostMemory = gauge('warpwatch_host_memory_available_bytes', 'By', [], 'Memory that programs can still get.')
export const hostDisk = gauge('warpwatch_host_disk_free_bytes', 'By', ['mountpoint', 'device', 'fstype'], 'Free space by mount.')
export const awkward = gauge('warpwatch_host_label_test_ratio', '1', ['text'], 'Label values with \\ and\na line feed.')

const TRAINER: Labels = {
  container: 'trainer',
  container_id: '0123456789ab',
  image: 'registry.example/train:1',
  compose_project: 'lab',
  compose_service: 'trainer',
}

const reading = (metric: MetricDef, labels: Labels, value: number): Reading => ({ series: makeSeries(metric, labels), value })
export const scrape = (source: string, group: string, t: number, readings: readonly Reading[], gaps: readonly Gap[] = []): Scrape => ({
  type: 'scrape',
  t,
  source,
  group,
  ttlMs: 3_000,
  durationMs: 1,
  readings,
  gaps,
})

function gpuScrape(labels: Labels, at: number, xids: readonly Reading[]): Scrape {
  const mig = { ...labels, gi: '7', ci: '0' }
  const migs =
    labels === GPU1
      ? [reading(migInfo, { ...mig, mig_uuid: 'MIG-1', name: 'NVIDIA H100 80GB HBM3 MIG 1g.10gb' }, 1), reading(memoryUsed, mig, 1_073_741_824)]
      : []
  return scrape('gpu', labels['uuid'] ?? '', at, [
    reading(gpuInfo, { ...labels, name: 'NVIDIA H100 80GB HBM3', pci_bus_id: '00000000:07:00.0', driver_version: '580.95.05', minor: labels['gpu'] ?? '' }, 1),
    reading(memoryUsed, labels, 12_345_678_901),
    reading(memoryFree, labels, 73_000_000_000),
    reading(utilization, labels, 0.57),
    reading(temperature, labels, 61),
    reading(power, labels, 312.456),
    reading(clock, { ...labels, domain: 'sm' }, 1_980_000_000),
    reading(clock, { ...labels, domain: 'memory' }, 2_619_000_000),
    reading(energy, labels, 123_456.789),
    reading(tensor, labels, 0.25),
    reading(throttle, { ...labels, reason: 'sw_power_cap' }, 1),
    reading(throttle, { ...labels, reason: 'hw_thermal_slowdown' }, 0),
    reading(ecc, { ...labels, type: 'corrected', scope: 'volatile' }, 3),
    ...xids,
    ...migs,
  ])
}

const xidReadings = (labels: Labels): readonly Reading[] => [
  reading(xidTotal, { ...labels, xid: '79' }, 1),
  reading(xidLast, { ...labels, xid: '79' }, 1_763_599_000),
  reading(xidTotal, { ...labels, xid: '31' }, 4),
  reading(xidLast, { ...labels, xid: '31' }, 1_763_598_000),
]

export function fillStore(store: LatestStore, t = T, cpuSeconds = 100): void {
  store.apply(gpuScrape(GPU0, t, []))
  store.apply(gpuScrape(GPU1, t, xidReadings(GPU1)))
  store.apply(
    scrape(
      'gpu',
      'enumeration',
      t,
      [],
      [
        { metric: 'gpu', labels: LOST, reason: 'gpu_lost', code: 15, detail: 'nvmlDeviceGetHandleByIndex_v2: GPU is lost' },
        { metric: 'warpwatch_gpu_fan_speed_ratio', labels: GPU0, reason: 'not_supported', code: 3 },
        { metric: 'warpwatch_gpu_clock_hertz', labels: { ...GPU0, domain: 'video' }, reason: 'not_supported', code: 3 },
      ],
    ),
  )
  store.apply(
    scrape(
      'containers',
      '',
      t,
      [
        reading(containerCpu, TRAINER, cpuSeconds),
        reading(containerGpuMemory, { ...TRAINER, ...GPU0 }, 4_000),
        reading(containerGpuMemory, { ...TRAINER, ...GPU1, gi: '7', ci: '0' }, 500),
        reading(containerGpuMemory, { ...TRAINER, ...GPU1, gi: '8', ci: '0' }, 700),
        reading(containerRequested, { ...TRAINER, ...GPU1, by: 'device_request' }, 1),
        reading(containerRequested, { ...TRAINER, ...GPU0, by: 'device_request' }, 1),
        reading(processMemory, { ...GPU0, pid: '4242', process: 'python3', type: 'C', ...TRAINER }, 4_000),
      ],
      [
        { metric: 'warpwatch_process_gpu_memory_bytes', labels: { ...GPU1, pid: '77', process: 'Xorg' }, reason: 'not_supported' },
        { metric: 'warpwatch_container_memory_bytes', labels: { container: 'trainer', container_id: '0123456789ab' }, reason: 'no_permission', code: 13 },
      ],
    ),
  )
  store.apply(
    scrape(
      'host',
      '',
      t,
      [
        reading(hostMemory, {}, 64_000_000_000),
        reading(hostDisk, { mountpoint: '/', device: '/dev/sda1', fstype: 'ext4' }, 1e9),
        reading(hostDisk, { mountpoint: '/data', device: '/dev/sdb1', fstype: 'xfs' }, 2e9),
        reading(awkward, { text: 'a\\b"c\nd {} =,é' }, 0.5),
      ],
      [{ metric: 'kernel-log', labels: {}, reason: 'no_permission', code: 1, detail: '/dev/kmsg: permission denied' }],
    ),
  )
}

export function filledStore(): LatestStore {
  const store = createLatestStore()
  fillStore(store)
  return store
}
