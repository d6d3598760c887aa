// Which metric each field of nvidia-smi is. The metrics themselves are declared by the collectors; here they are only named.
import { gpuClockHertz, gpuClockMaxHertz, gpuThrottleActive, gpuThrottleReasons, gpuThrottleSecondsTotal } from '../../metrics/gpu-clocks.ts'
import {
  gpuEccEnabled,
  gpuEccErrorsTotal,
  gpuRemappedRows,
  gpuRetiredPages,
  gpuRetiredPagesPending,
  gpuRowRemapFailure,
  gpuRowRemapPending,
} from '../../metrics/gpu-errors.ts'
import { gpuComputeMode, gpuInfo, gpuPerformanceState, gpuPersistenceMode, gpuRecoveryAction } from '../../metrics/gpu-identity.ts'
import {
  gpuPcieLinkGeneration,
  gpuPcieLinkGenerationMax,
  gpuPcieLinkWidth,
  gpuPcieLinkWidthMax,
  gpuPcieReplayTotal,
  gpuPcieThroughputBytesPerSecond,
} from '../../metrics/gpu-links.ts'
import { gpuDecoderUtilizationRatio, gpuEncoderUtilizationRatio, gpuMemoryUtilizationRatio, gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import {
  gpuBar1TotalBytes,
  gpuBar1UsedBytes,
  gpuMemoryFreeBytes,
  gpuMemoryReservedBytes,
  gpuMemoryTotalBytes,
  gpuMemoryUsedBytes,
} from '../../metrics/gpu-memory.ts'
import { gpuPowerLimitDefaultWatts, gpuPowerLimitMaxWatts, gpuPowerLimitMinWatts, gpuPowerLimitWatts, gpuPowerWatts } from '../../metrics/gpu-power.ts'
import { gpuFanSpeedRatio, gpuMemoryTemperatureCelsius, gpuTemperatureCelsius } from '../../metrics/gpu-temperature.ts'
import { gpuMigEnabled, gpuMigMultiprocessors } from '../../metrics/mig.ts'
import type { FieldId } from './field-id.ts'
import type { MetricDef } from '../../model/metric.ts'
import type { Labels } from '../../model/series.ts'

export type Measure = { readonly metric: string; readonly labels: Labels }

const measure = ({ name }: MetricDef, labels: Labels = {}): Measure => ({ metric: name, labels })
const clock = (domain: string): Measure => measure(gpuClockHertz, { domain })
const maxClock = (domain: string): Measure => measure(gpuClockMaxHertz, { domain })
const active = (reason: string): Measure => measure(gpuThrottleActive, { reason })
const throttled = (reason: string): Measure => measure(gpuThrottleSecondsTotal, { reason })
const ecc = (type: string, scope: string): Measure => measure(gpuEccErrorsTotal, { type, scope })

export const MEASURES: Readonly<Record<FieldId, Measure>> = {
  memory_total: measure(gpuMemoryTotalBytes),
  memory_reserved: measure(gpuMemoryReservedBytes),
  memory_used: measure(gpuMemoryUsedBytes),
  memory_free: measure(gpuMemoryFreeBytes),
  utilization: measure(gpuUtilizationRatio),
  memory_utilization: measure(gpuMemoryUtilizationRatio),
  encoder_utilization: measure(gpuEncoderUtilizationRatio),
  decoder_utilization: measure(gpuDecoderUtilizationRatio),
  temperature: measure(gpuTemperatureCelsius),
  memory_temperature: measure(gpuMemoryTemperatureCelsius),
  power: measure(gpuPowerWatts),
  power_limit: measure(gpuPowerLimitWatts),
  power_limit_min: measure(gpuPowerLimitMinWatts),
  power_limit_max: measure(gpuPowerLimitMaxWatts),
  power_limit_default: measure(gpuPowerLimitDefaultWatts),
  bar1_total: measure(gpuBar1TotalBytes),
  bar1_used: measure(gpuBar1UsedBytes),
  ecc_enabled: measure(gpuEccEnabled),
  mig_enabled: measure(gpuMigEnabled),
  persistence_mode: measure(gpuPersistenceMode),
  compute_mode: measure(gpuComputeMode),
  recovery_action: measure(gpuRecoveryAction),
  multiprocessors: measure(gpuMigMultiprocessors),
  retired_pages_pending: measure(gpuRetiredPagesPending),
  pcie_generation_max: measure(gpuPcieLinkGenerationMax),
  pcie_width_max: measure(gpuPcieLinkWidthMax),
  fan_speed: measure(gpuFanSpeedRatio),
  performance_state: measure(gpuPerformanceState),
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
  retired_pages_single_bit: measure(gpuRetiredPages, { cause: 'single_bit' }),
  retired_pages_double_bit: measure(gpuRetiredPages, { cause: 'double_bit' }),
  remapped_rows_correctable: measure(gpuRemappedRows, { type: 'corrected' }),
  remapped_rows_uncorrectable: measure(gpuRemappedRows, { type: 'uncorrected' }),
  row_remap_pending: measure(gpuRowRemapPending),
  row_remap_failure: measure(gpuRowRemapFailure),
  pcie_generation: measure(gpuPcieLinkGeneration),
  pcie_width: measure(gpuPcieLinkWidth),
  pcie_replay: measure(gpuPcieReplayTotal),
  pcie_tx: measure(gpuPcieThroughputBytesPerSecond, { direction: 'tx' }),
  pcie_rx: measure(gpuPcieThroughputBytesPerSecond, { direction: 'rx' }),
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
