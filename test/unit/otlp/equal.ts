// Brings what came over OTLP and what /metrics shows to one form, by a way back of its own: from attributes to labels.
import { catalogue } from '../../../agent/catalogue.ts'
import type { SentMetrics } from '../../setup/otlp-decode.ts'
import type { ParsedFamily } from '../http/parse-exposition.ts'

const LABELS: Readonly<Record<string, string>> = {
  'container.name': 'container',
  'container.id': 'container_id',
  'container.runtime.name': 'runtime',
  'k8s.namespace.name': 'namespace',
  'k8s.pod.name': 'pod',
  'process.pid': 'pid',
  'process.vpid': 'inner_pid',
  'process.executable.name': 'process',
  'hw.model': 'name',
  'hw.driver_version': 'driver_version',
  'hw.firmware_version': 'vbios_version',
  'hw.serial_number': 'serial',
  'cpu.mode': 'mode',
  'network.interface.name': 'interface',
  'system.device': 'device',
}
/** Names of conventions with the attributes that tell our metrics apart, and what means those attributes in our labels. */
const OURS: readonly (readonly [name: string, only: Readonly<Record<string, string>>, metric: string, labels: Readonly<Record<string, string>>])[] = [
  ['hw.gpu.memory.limit', {}, 'warpwatch_gpu_memory_total_bytes', {}],
  ['hw.gpu.memory.usage', {}, 'warpwatch_gpu_memory_used_bytes', {}],
  ['hw.gpu.utilization', { 'hw.gpu.task': 'general' }, 'warpwatch_gpu_utilization_ratio', {}],
  ['hw.gpu.utilization', { 'hw.gpu.task': 'encoder' }, 'warpwatch_gpu_encoder_utilization_ratio', {}],
  ['hw.gpu.utilization', { 'hw.gpu.task': 'decoder' }, 'warpwatch_gpu_decoder_utilization_ratio', {}],
  ['hw.power', { 'hw.type': 'gpu' }, 'warpwatch_gpu_power_watts', {}],
  ['hw.energy', { 'hw.type': 'gpu' }, 'warpwatch_gpu_energy_joules_total', {}],
  ['hw.temperature', { 'hw.sensor_location': 'gpu' }, 'warpwatch_gpu_temperature_celsius', {}],
  ['hw.temperature', { 'hw.sensor_location': 'memory' }, 'warpwatch_gpu_memory_temperature_celsius', {}],
  [
    'hw.temperature.limit',
    { 'hw.sensor_location': 'gpu', 'hw.limit_type': 'high.degraded' },
    'warpwatch_gpu_temperature_threshold_celsius',
    { threshold: 'slowdown' },
  ],
  [
    'hw.temperature.limit',
    { 'hw.sensor_location': 'gpu', 'hw.limit_type': 'high.critical' },
    'warpwatch_gpu_temperature_threshold_celsius',
    { threshold: 'shutdown' },
  ],
  [
    'hw.temperature.limit',
    { 'hw.sensor_location': 'memory', 'hw.limit_type': 'high.degraded' },
    'warpwatch_gpu_temperature_threshold_celsius',
    { threshold: 'memory_max' },
  ],
  ['hw.fan.speed_ratio', {}, 'warpwatch_gpu_fan_speed_ratio', {}],
  ['hw.errors', { 'hw.type': 'gpu', 'error.type': 'corrected' }, 'warpwatch_gpu_ecc_errors_total', { type: 'corrected', scope: 'volatile' }],
  ['hw.errors', { 'hw.type': 'gpu', 'error.type': 'uncorrected' }, 'warpwatch_gpu_ecc_errors_total', { type: 'uncorrected', scope: 'volatile' }],
  ['system.cpu.time', { 'cpu.mode': 'interrupt' }, 'warpwatch_host_cpu_seconds_total', { mode: 'irq' }],
  ['system.cpu.time', {}, 'warpwatch_host_cpu_seconds_total', {}],
  ['system.cpu.logical.count', {}, 'warpwatch_host_cpu_cores', {}],
  ['system.memory.limit', {}, 'warpwatch_host_memory_total_bytes', {}],
  ['system.memory.linux.available', {}, 'warpwatch_host_memory_available_bytes', {}],
  ['system.disk.io', { 'disk.io.direction': 'read' }, 'warpwatch_host_disk_read_bytes_total', {}],
  ['system.disk.io', { 'disk.io.direction': 'write' }, 'warpwatch_host_disk_written_bytes_total', {}],
  ['system.disk.io_time', {}, 'warpwatch_host_disk_busy_seconds_total', {}],
  ['system.network.io', { 'network.io.direction': 'receive' }, 'warpwatch_host_network_receive_bytes_total', {}],
  ['system.network.io', { 'network.io.direction': 'transmit' }, 'warpwatch_host_network_transmit_bytes_total', {}],
  ['container.cpu.time', { 'cpu.mode': 'user' }, 'warpwatch_container_cpu_mode_seconds_total', { mode: 'user' }],
  ['container.cpu.time', { 'cpu.mode': 'system' }, 'warpwatch_container_cpu_mode_seconds_total', { mode: 'system' }],
  ['container.cpu.time', {}, 'warpwatch_container_cpu_seconds_total', {}],
  ['container.memory.working_set', {}, 'warpwatch_container_memory_bytes', {}],
  ['process.cpu.time', { 'cpu.mode': 'user' }, 'warpwatch_agent_cpu_mode_seconds_total', { mode: 'user' }],
  ['process.cpu.time', { 'cpu.mode': 'system' }, 'warpwatch_agent_cpu_mode_seconds_total', { mode: 'system' }],
  ['process.cpu.time', {}, 'process_cpu_seconds_total', {}],
  ['process.memory.usage', {}, 'process_resident_memory_bytes', {}],
  ['process.unix.file_descriptor.count', {}, 'process_open_fds', {}],
]
const bare = (name: string): string => name.replace(/_total$/, '').replace(/_(bytes_per_second|bytes|ratio|watts|celsius|joules|hertz|seconds)$/, '')
const OWN: ReadonlyMap<string, string> = new Map(catalogue.map(({ name }) => [bare(name), name]))

const keyOf = (metric: string, labels: Readonly<Record<string, string>>): string =>
  `${metric}${JSON.stringify(
    Object.entries(labels)
      .filter(([, value]) => value !== '')
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )}`

function labelsOf(attributes: Readonly<Record<string, unknown>>, hardware: boolean, migs: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {}
  const text = (name: string): string => String(attributes[name])
  for (const name of Object.keys(attributes)) {
    if (name === 'hw.id') labels['uuid'] = 'hw.parent' in attributes ? text('hw.parent') : text(name)
    else if (name === 'hw.name') labels['gpu'] = text(name).replace(/^GPU /, '')
    else if (name === 'container.image.name')
      labels['image'] = 'container.image.tags' in attributes ? `${text(name)}:${text('container.image.tags')}` : text(name)
    else if (
      ['hw.parent', 'container.image.tags'].includes(name) ||
      (hardware && ['hw.vendor', 'hw.model', 'hw.driver_version', 'hw.firmware_version', 'hw.serial_number'].includes(name))
    )
      continue
    else labels[LABELS[name] ?? name] = text(name)
  }
  if ('hw.parent' in attributes && migs.get(`${labels['uuid']}/${labels['gi']}/${labels['ci']}`) !== text('hw.id'))
    if (text('hw.id') !== [labels['uuid'], labels['gi'], labels['ci']].filter((part) => part !== undefined).join('/'))
      throw new Error(`unknown instance ${text('hw.id')}`)
  return labels
}

/** Value by metric and labels of /metrics; two points that come to one are an error. */
export function sentSeries(sent: SentMetrics): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const migs = new Map(
    (sent.metrics.find(({ name }) => name === 'warpwatch.gpu.mig_info')?.points ?? []).map(({ attributes }) => [
      `${String(attributes['hw.parent'])}/${String(attributes['gi'])}/${String(attributes['ci'])}`,
      String(attributes['mig_uuid']),
    ]),
  )
  const own = sent.metrics.map((metric) => ({ ...metric, shared: {} }))
  // Of a container's resource what its points leave out; of its host nothing.
  const measured = sent.containers.flatMap(({ resource, metrics }) =>
    metrics.map((metric) => ({ ...metric, shared: Object.fromEntries(Object.entries(resource).filter(([key]) => /^(?:container|k8s)\./.test(key))) })),
  )
  const all: readonly {
    readonly name: string
    readonly points: SentMetrics['metrics'][number]['points']
    readonly shared: Readonly<Record<string, unknown>>
  }[] = [...own, ...measured]
  for (const { name, points, shared } of all)
    for (const { attributes: reported, value } of points) {
      const attributes: Readonly<Record<string, unknown>> = { ...shared, ...reported }
      const known = OURS.find(([wanted, only]) => wanted === name && Object.entries(only).every(([key, is]) => attributes[key] === is))
      const [, only = {}, metric = OWN.get(name.replaceAll('.', '_')) ?? `unknown ${name}`, instead = {}] = known ?? []
      const rest = Object.fromEntries(Object.entries(attributes).filter(([key]) => !(key in only)))
      // A resource says what any series of its container does.
      const declared = catalogue.find((one) => one.name === metric)?.labels ?? []
      const labels = Object.entries(labelsOf(rest, name.startsWith('hw.'), migs)).filter(([label]) => label in reported || declared.includes(label))
      const key = keyOf(metric, { ...Object.fromEntries(labels), ...instead })
      if (found.has(key)) throw new Error(`${key}: told twice`)
      found.set(key, value)
    }
  return found
}

/** A total whose modes are there is not sent: the sum of these is. */
const TOTALS: readonly (readonly [total: string, modes: string])[] = [
  ['process_cpu_seconds_total', 'warpwatch_agent_cpu_mode_seconds_total'],
  ['warpwatch_container_cpu_seconds_total', 'warpwatch_container_cpu_mode_seconds_total'],
]

export function toldSeries(page: ReadonlyMap<string, ParsedFamily>): ReadonlyMap<string, number> {
  const reported = allSeries(page)
  for (const key of reported.keys())
    for (const [total, modes] of TOTALS) {
      const [labels] = key.startsWith(`${modes}[`) ? [JSON.parse(key.slice(modes.length))] : []
      if (Array.isArray(labels)) reported.delete(`${total}${JSON.stringify(labels.filter(([label]) => label !== 'mode'))}`)
    }
  return reported
}

function allSeries(page: ReadonlyMap<string, ParsedFamily>): Map<string, number> {
  return new Map([...page.values()].flatMap(({ samples }) => samples.map(({ name, labels, value }) => [keyOf(name, labels), value] as const)))
}
