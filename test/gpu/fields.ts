// What nvidia-smi calls each reading: the fields of --query-gpu beside our metrics, and how far two looks at one GPU may lie apart.

export type Comparison = {
  readonly field: string
  /** Older drivers' name of the field. */
  readonly older?: string
  readonly metric: string
  readonly labels?: Readonly<Record<string, string>>
  /** Our value times this is in nvidia-smi's unit. */
  readonly scale: number
  /** How far our value may be outside what nvidia-smi said before and after it, in nvidia-smi's unit. */
  readonly slack: number
}

const MIB = 1 / 1024 ** 2
const compare = (field: string, metric: string, scale = 1, slack = 0, labels: Readonly<Record<string, string>> = {}, older?: string): Comparison => ({
  field,
  metric: `warpwatch_gpu_${metric}`,
  scale,
  slack,
  labels,
  ...(older === undefined ? {} : { older }),
})
const domains = (field: string, metric: string, slack: number): readonly Comparison[] =>
  ['graphics', 'sm', 'memory', 'video']
    .filter((domain) => domain !== 'video' || field === 'clocks.current')
    .map((domain) => compare(`${field}.${domain}`, metric, 1e-6, slack, { domain }))
const ecc = (type: string, scope: string): Comparison => compare(`ecc.errors.${type}.${scope}.total`, 'ecc_errors_total', 1, 0, { type, scope })

/** nvidia-smi prints whole MiB, percents and MHz, watts with two digits. The slack of what moves by itself is what an idle GPU does within a second. */
export const COMPARISONS: readonly Comparison[] = [
  compare('memory.total', 'memory_total_bytes', MIB, 1),
  compare('memory.reserved', 'memory_reserved_bytes', MIB, 1),
  compare('memory.used', 'memory_used_bytes', MIB, 2),
  compare('memory.free', 'memory_free_bytes', MIB, 2),
  compare('utilization.gpu', 'utilization_ratio', 100, 10),
  compare('utilization.memory', 'memory_utilization_ratio', 100, 10),
  compare('utilization.encoder', 'encoder_utilization_ratio', 100, 10),
  compare('utilization.decoder', 'decoder_utilization_ratio', 100, 10),
  compare('temperature.gpu', 'temperature_celsius', 1, 1),
  compare('temperature.memory', 'memory_temperature_celsius', 1, 1),
  compare('power.draw', 'power_watts', 1, 10),
  compare('enforced.power.limit', 'power_limit_watts', 1, 0.01),
  compare('power.min_limit', 'power_limit_min_watts', 1, 0.01),
  compare('power.max_limit', 'power_limit_max_watts', 1, 0.01),
  compare('power.default_limit', 'power_limit_default_watts', 1, 0.01),
  compare('fan.speed', 'fan_speed_ratio', 100, 3),
  ...domains('clocks.current', 'clock_hertz', 60),
  ...domains('clocks.max', 'clock_max_hertz', 0),
  compare('pcie.link.gen.gpucurrent', 'pcie_link_generation', 1, 0, {}, 'pcie.link.gen.current'),
  compare('pcie.link.width.current', 'pcie_link_width'),
  compare('pcie.link.width.max', 'pcie_link_width_max'),
  ecc('corrected', 'volatile'),
  ecc('uncorrected', 'volatile'),
  ecc('corrected', 'aggregate'),
  ecc('uncorrected', 'aggregate'),
  compare('retired_pages.single_bit_ecc.count', 'retired_pages', 1, 0, { cause: 'single_bit' }),
  compare('retired_pages.double_bit.count', 'retired_pages', 1, 0, { cause: 'double_bit' }),
]

/** Fields whose text is in the labels of `warpwatch_gpu_info`. */
export const IDENTITY = [
  { field: 'name', label: 'name' },
  { field: 'pci.bus_id', label: 'pci_bus_id' },
  { field: 'driver_version', label: 'driver_version' },
  { field: 'vbios_version', label: 'vbios_version' },
  { field: 'serial', label: 'serial' },
] as const
