// Which printed values are read: for each field its place in the XML, in the `-q` text and in the CSV, of every driver from R418 to R610.
import type { FieldId } from './field-id.ts'
import type { Dimension } from './value.ts'

/** Reasons by the words of the XML (`clocks_event_reason_…`), the text, the CSV and the time counters (`clocks_event_reasons_counters_…`). */
const REASONS = [
  ['gpu_idle', 'idle', 'gpu_idle', undefined],
  ['applications_clocks_setting', 'applications clocks setting', 'applications_clocks_setting', undefined],
  ['sw_power_cap', 'sw power cap', 'sw_power_cap', ['sw_power_cap', 'sw power capping', 'sw_power_cap']],
  ['hw_slowdown', 'hw slowdown', 'hw_slowdown', undefined],
  ['hw_thermal_slowdown', 'hw slowdown/hw thermal slowdown', 'hw_thermal_slowdown', ['hw_therm_slowdown', 'hw thermal slowdown', 'hw_thermal_slowdown']],
  [
    'hw_power_brake_slowdown',
    'hw slowdown/hw power brake slowdown',
    'hw_power_brake_slowdown',
    ['hw_power_brake', 'hw power braking', 'hw_power_brake_slowdown'],
  ],
  ['sync_boost', 'sync boost', 'sync_boost', ['sync_boost', 'sync boost', 'sync_boost']],
  ['sw_thermal_slowdown', 'sw thermal slowdown', 'sw_thermal_slowdown', ['sw_therm_slowdown', 'sw thermal slowdown', 'sw_thermal_slowdown']],
  ['display_clocks_setting', 'display clock setting', undefined, undefined],
] as const
/** Places in order of preference; ` + ` adds the parts of one place. */
export type Field = {
  readonly id: FieldId
  readonly dimension: Dimension
  readonly xml: readonly string[]
  readonly text: readonly string[]
  readonly csv: readonly string[]
}

const field = (id: FieldId, dimension: Dimension, xml: readonly string[], text: readonly string[], csv: readonly string[]): Field => ({
  id,
  dimension,
  xml,
  text,
  csv,
})

/** MIG devices have the same four. */
const MEMORY_FIELDS: readonly Field[] = (['total', 'reserved', 'used', 'free'] as const).map((part) =>
  field(`memory_${part}`, 'bytes', [`fb_memory_usage/${part}`], [`fb memory usage/${part}`, `shared fb memory usage/${part}`], [`memory.${part}`]),
)

const clocks = (['graphics', 'sm', 'memory', 'video'] as const).flatMap((domain) => {
  const short = { graphics: 'gr', sm: 'sm', memory: 'mem', video: 'video' }[domain]
  const element = domain === 'memory' ? 'mem_clock' : `${domain}_clock`
  return [
    field(`clock_${domain}`, 'hertz', [`clocks/${element}`], [`clocks/${domain}`], [`clocks.current.${domain}`, `clocks.${short}`]),
    field(`clock_max_${domain}`, 'hertz', [`max_clocks/${element}`], [`max clocks/${domain}`], [`clocks.max.${domain}`, `clocks.max.${short}`]),
  ]
})

const throttle = REASONS.map(([id, text, csv]) =>
  field(
    `throttle_${id}`,
    'flag',
    [`clocks_event_reasons/clocks_event_reason_${id}`, `clocks_throttle_reasons/clocks_throttle_reason_${id}`],
    [`clocks event reasons/${text}`, `clocks throttle reasons/${text}`],
    csv === undefined ? [] : [`clocks_event_reasons.${csv}`, `clocks_throttle_reasons.${csv}`],
  ),
)

const throttleSeconds = REASONS.flatMap(([id, , , names]) =>
  names === undefined
    ? []
    : [
        field(
          `throttle_seconds_${id}`,
          'seconds',
          [`clocks_event_reasons_counters/clocks_event_reasons_counters_${names[0]}`],
          [`clocks event reasons counters/${names[1]}`],
          [`clocks_event_reasons_counters.${names[2]}`],
        ),
      ],
)

/** Boards up to Volta count single and double bits with a total; Turing and newer SRAM and DRAM, the former split in two from R570 on. */
const ecc = (['volatile', 'aggregate'] as const).flatMap((scope) => [
  field(
    `ecc_corrected_${scope}`,
    'count',
    [`ecc_errors/${scope}/single_bit/total`, `ecc_errors/${scope}/sram_correctable + ecc_errors/${scope}/dram_correctable`],
    [`ecc errors/${scope}/single bit/total`, `ecc errors/${scope}/sram correctable + ecc errors/${scope}/dram correctable`],
    [`ecc.errors.corrected.${scope}.total`],
  ),
  field(
    `ecc_uncorrected_${scope}`,
    'count',
    [
      `ecc_errors/${scope}/double_bit/total`,
      `ecc_errors/${scope}/sram_uncorrectable + ecc_errors/${scope}/dram_uncorrectable`,
      `ecc_errors/${scope}/sram_uncorrectable_parity + ecc_errors/${scope}/sram_uncorrectable_secded + ecc_errors/${scope}/dram_uncorrectable`,
    ],
    [
      `ecc errors/${scope}/double bit/total`,
      `ecc errors/${scope}/sram uncorrectable + ecc errors/${scope}/dram uncorrectable`,
      `ecc errors/${scope}/sram uncorrectable parity + ecc errors/${scope}/sram uncorrectable sec-ded + ecc errors/${scope}/dram uncorrectable`,
    ],
    [`ecc.errors.uncorrected.${scope}.total`],
  ),
])

const powerLimits = (['min', 'max', 'default'] as const).map((which) =>
  field(
    `power_limit_${which}`,
    'watts',
    [`gpu_power_readings/${which}_power_limit`, `power_readings/${which}_power_limit`],
    [`gpu power readings/${which} power limit`, `gpu power readings/gpu ceiling power limit/${which} power limit`, `power readings/${which} power limit`],
    [`power.${which}_limit`],
  ),
)

const LINK = 'pci/pci_gpu_link_info'
export const MIG_FIELDS: readonly Field[] = [
  ...MEMORY_FIELDS,
  field('multiprocessors', 'count', ['device_attributes/shared/multiprocessor_count'], ['device attributes/shared/multiprocessor count'], []),
]

export const FIELDS: readonly Field[] = [
  ...MEMORY_FIELDS,
  field('utilization', 'ratio', ['utilization/gpu_util'], ['utilization/gpu'], ['utilization.gpu']),
  field('memory_utilization', 'ratio', ['utilization/memory_util'], ['utilization/memory'], ['utilization.memory']),
  field('encoder_utilization', 'ratio', ['utilization/encoder_util'], ['utilization/encoder'], ['utilization.encoder']),
  field('decoder_utilization', 'ratio', ['utilization/decoder_util'], ['utilization/decoder'], ['utilization.decoder']),
  field('temperature', 'celsius', ['temperature/gpu_temp'], ['temperature/gpu current temp'], ['temperature.gpu']),
  field('memory_temperature', 'celsius', ['temperature/memory_temp'], ['temperature/memory current temp'], ['temperature.memory']),
  // NVML's power usage is the 1 s average on boards that have one (nvml-abi, power), so the average comes first.
  field(
    'power',
    'watts',
    ['gpu_power_readings/average_power_draw', 'gpu_power_readings/power_draw', 'gpu_power_readings/instant_power_draw', 'power_readings/power_draw'],
    ['gpu power readings/average power draw', 'gpu power readings/power draw', 'gpu power readings/instantaneous power draw', 'power readings/power draw'],
    ['power.draw', 'power.draw.average', 'power.draw.instant'],
  ),
  // The limit in force: `enforced` up to R525, `current` from R535 on, in the text of R610 one level deeper.
  field(
    'power_limit',
    'watts',
    [
      'gpu_power_readings/current_power_limit',
      'gpu_power_readings/gpu_ceiling_power_limit/current_power_limit',
      'power_readings/enforced_power_limit',
      'gpu_power_readings/requested_power_limit',
      'power_readings/power_limit',
    ],
    [
      'gpu power readings/current power limit',
      'gpu power readings/gpu ceiling power limit/current power limit',
      'power readings/enforced power limit',
      'gpu power readings/requested power limit',
      'power readings/power limit',
    ],
    ['enforced.power.limit', 'power.limit'],
  ),
  ...powerLimits,
  field('fan_speed', 'ratio', ['fan_speed'], ['fan speed'], ['fan.speed']),
  field('performance_state', 'pstate', ['performance_state'], ['performance state'], ['pstate']),
  ...clocks,
  ...throttle,
  ...throttleSeconds,
  ...ecc,
  field(
    'retired_pages_single_bit',
    'count',
    ['retired_pages/multiple_single_bit_retirement/retired_count'],
    ['retired pages/single bit ecc'],
    ['retired_pages.single_bit_ecc.count'],
  ),
  field(
    'retired_pages_double_bit',
    'count',
    ['retired_pages/double_bit_retirement/retired_count'],
    ['retired pages/double bit ecc'],
    ['retired_pages.double_bit.count'],
  ),
  field('remapped_rows_correctable', 'count', ['remapped_rows/remapped_row_corr'], ['remapped rows/correctable error'], ['remapped_rows.correctable']),
  field('remapped_rows_uncorrectable', 'count', ['remapped_rows/remapped_row_unc'], ['remapped rows/uncorrectable error'], ['remapped_rows.uncorrectable']),
  field('row_remap_pending', 'flag', ['remapped_rows/remapped_row_pending'], ['remapped rows/pending'], ['remapped_rows.pending']),
  field('row_remap_failure', 'flag', ['remapped_rows/remapped_row_failure'], ['remapped rows/remapping failure occurred'], ['remapped_rows.failure']),
  field(
    'retired_pages_pending',
    'flag',
    ['retired_pages/pending_retirement', 'retired_pages/pending_blacklist'],
    ['retired pages/pending page blacklist'],
    ['retired_pages.pending'],
  ),
  field('ecc_enabled', 'flag', ['ecc_mode/current_ecc'], ['ecc mode/current'], ['ecc.mode.current']),
  field('mig_enabled', 'flag', ['mig_mode/current_mig'], ['mig mode/current'], ['mig.mode.current']),
  field('persistence_mode', 'flag', ['persistence_mode'], ['persistence mode'], ['persistence_mode']),
  field('compute_mode', 'compute_mode', ['compute_mode'], ['compute mode'], ['compute_mode']),
  field('recovery_action', 'recovery_action', ['gpu_recovery_action'], ['gpu recovery action'], ['gpu_recovery_action']),
  field('bar1_total', 'bytes', ['bar1_memory_usage/total'], ['bar1 memory usage/total'], []),
  field('bar1_used', 'bytes', ['bar1_memory_usage/used'], ['bar1 memory usage/used'], []),
  field('pcie_generation_max', 'count', [`${LINK}/pcie_gen/max_link_gen`], ['pci/gpu link info/pcie generation/max'], ['pcie.link.gen.max']),
  field('pcie_width_max', 'count', [`${LINK}/link_widths/max_link_width`], ['pci/gpu link info/link width/max'], ['pcie.link.width.max']),
  field(
    'pcie_generation',
    'count',
    [`${LINK}/pcie_gen/current_link_gen`],
    ['pci/gpu link info/pcie generation/current'],
    ['pcie.link.gen.current', 'pcie.link.gen.gpucurrent'],
  ),
  field('pcie_width', 'count', [`${LINK}/link_widths/current_link_width`], ['pci/gpu link info/link width/current'], ['pcie.link.width.current']),
  field('pcie_replay', 'count', ['pci/replay_counter'], ['pci/replays since reset'], []),
  field('pcie_tx', 'bytes_per_second', ['pci/tx_util'], ['pci/tx throughput'], []),
  field('pcie_rx', 'bytes_per_second', ['pci/rx_util'], ['pci/rx throughput'], []),
]

/** Identity by place. */
export const TEXTS = {
  name: { xml: 'product_name', text: 'product name', csv: ['name', 'gpu_name'] },
  uuid: { xml: 'uuid', text: 'gpu uuid', csv: ['uuid', 'gpu_uuid'] },
  serial: { xml: 'serial', text: 'serial number', csv: ['serial', 'gpu_serial'] },
  minor: { xml: 'minor_number', text: 'minor number', csv: [] },
  vbios: { xml: 'vbios_version', text: 'vbios version', csv: ['vbios_version'] },
  driverModel: { xml: 'driver_model/current_dm', text: 'driver model/current', csv: ['driver_model.current'] },
} as const

export type TextId = keyof typeof TEXTS
export const TEXT_IDS = ['name', 'uuid', 'serial', 'minor', 'vbios', 'driverModel'] as const satisfies readonly TextId[]
