// Which metric each field of nvidia-smi is. The metrics themselves are declared by the collectors; here they are only named.
import { gpuThrottleReasons } from '../../metrics/gpu-clocks.ts'
import { gpuInfo } from '../../metrics/gpu-identity.ts'
import type { FieldId } from './field-id.ts'
import type { Labels } from '../../model/series.ts'

export type Measure = { readonly metric: string; readonly labels: Labels }

const measure = (name: string, labels: Labels = {}): Measure => ({ metric: `warpwatch_gpu_${name}`, labels })
const clock = (domain: string): Measure => measure('clock_hertz', { domain })
const maxClock = (domain: string): Measure => measure('clock_max_hertz', { domain })
const active = (reason: string): Measure => measure('throttle_active', { reason })
const throttled = (reason: string): Measure => measure('throttle_seconds_total', { reason })
const ecc = (type: string, scope: string): Measure => measure('ecc_errors_total', { type, scope })

export const MEASURES: Readonly<Record<FieldId, Measure>> = {
  memory_total: measure('memory_total_bytes'),
  memory_reserved: measure('memory_reserved_bytes'),
  memory_used: measure('memory_used_bytes'),
  memory_free: measure('memory_free_bytes'),
  utilization: measure('utilization_ratio'),
  memory_utilization: measure('memory_utilization_ratio'),
  encoder_utilization: measure('encoder_utilization_ratio'),
  decoder_utilization: measure('decoder_utilization_ratio'),
  temperature: measure('temperature_celsius'),
  memory_temperature: measure('memory_temperature_celsius'),
  power: measure('power_watts'),
  power_limit: measure('power_limit_watts'),
  power_limit_min: measure('power_limit_min_watts'),
  power_limit_max: measure('power_limit_max_watts'),
  power_limit_default: measure('power_limit_default_watts'),
  bar1_total: measure('bar1_total_bytes'),
  bar1_used: measure('bar1_used_bytes'),
  ecc_enabled: measure('ecc_enabled'),
  mig_enabled: measure('mig_enabled'),
  persistence_mode: measure('persistence_mode'),
  compute_mode: measure('compute_mode'),
  recovery_action: measure('recovery_action'),
  multiprocessors: measure('mig_multiprocessors'),
  retired_pages_pending: measure('retired_pages_pending'),
  pcie_generation_max: measure('pcie_link_generation_max'),
  pcie_width_max: measure('pcie_link_width_max'),
  fan_speed: measure('fan_speed_ratio'),
  performance_state: measure('performance_state'),
  clock_graphics: clock('graphics'),
  clock_sm: clock('sm'),
  clock_memory: clock('memory'),
  clock_video: clock('video'),
  clock_max_graphics: maxClock('graphics'),
  clock_max_sm: maxClock('sm'),
  clock_max_memory: maxClock('memory'),
  clock_max_video: maxClock('video'),
  throttle_gpu_idle: active('gpu_idle'),
  throttle_applications_clocks_setting: active('applications_clocks_setting'),
  throttle_sw_power_cap: active('sw_power_cap'),
  throttle_hw_slowdown: active('hw_slowdown'),
  throttle_hw_thermal_slowdown: active('hw_thermal_slowdown'),
  throttle_hw_power_brake_slowdown: active('hw_power_brake_slowdown'),
  throttle_sync_boost: active('sync_boost'),
  throttle_sw_thermal_slowdown: active('sw_thermal_slowdown'),
  throttle_display_clocks_setting: active('display_clocks_setting'),
  throttle_seconds_sw_power_cap: throttled('sw_power_cap'),
  throttle_seconds_hw_thermal_slowdown: throttled('hw_thermal_slowdown'),
  throttle_seconds_hw_power_brake_slowdown: throttled('hw_power_brake_slowdown'),
  throttle_seconds_sync_boost: throttled('sync_boost'),
  throttle_seconds_sw_thermal_slowdown: throttled('sw_thermal_slowdown'),
  ecc_corrected_volatile: ecc('corrected', 'volatile'),
  ecc_corrected_aggregate: ecc('corrected', 'aggregate'),
  ecc_uncorrected_volatile: ecc('uncorrected', 'volatile'),
  ecc_uncorrected_aggregate: ecc('uncorrected', 'aggregate'),
  retired_pages_single_bit: measure('retired_pages', { cause: 'single_bit' }),
  retired_pages_double_bit: measure('retired_pages', { cause: 'double_bit' }),
  remapped_rows_correctable: measure('remapped_rows', { type: 'corrected' }),
  remapped_rows_uncorrectable: measure('remapped_rows', { type: 'uncorrected' }),
  row_remap_pending: measure('row_remap_pending'),
  row_remap_failure: measure('row_remap_failure'),
  pcie_generation: measure('pcie_link_generation'),
  pcie_width: measure('pcie_link_width'),
  pcie_replay: measure('pcie_replay_total'),
  pcie_tx: measure('pcie_throughput_bytes_per_second', { direction: 'tx' }),
  pcie_rx: measure('pcie_throughput_bytes_per_second', { direction: 'rx' }),
}

export const INFO = gpuInfo.name

/** NVML's mask of the throttle reasons, and what each field is in it (nvmlClocksEventReason*). */
export const THROTTLE_MASK = gpuThrottleReasons.name
export const THROTTLE_BITS: readonly (readonly [id: FieldId, bit: number])[] = [
  ['throttle_gpu_idle', 0x1],
  ['throttle_applications_clocks_setting', 0x2],
  ['throttle_sw_power_cap', 0x4],
  ['throttle_hw_slowdown', 0x8],
  ['throttle_sync_boost', 0x10],
  ['throttle_sw_thermal_slowdown', 0x20],
  ['throttle_hw_thermal_slowdown', 0x40],
  ['throttle_hw_power_brake_slowdown', 0x80],
  ['throttle_display_clocks_setting', 0x100],
]
