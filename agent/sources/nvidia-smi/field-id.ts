// The names of the values that are read from nvidia-smi's outputs, whatever the form.
type TimedReason = 'sw_power_cap' | 'hw_thermal_slowdown' | 'hw_power_brake_slowdown' | 'sync_boost' | 'sw_thermal_slowdown'
type Reason = TimedReason | 'gpu_idle' | 'applications_clocks_setting' | 'hw_slowdown' | 'display_clocks_setting'

type Domain = 'graphics' | 'sm' | 'memory' | 'video'
type EccType = 'corrected' | 'uncorrected'
type EccScope = 'volatile' | 'aggregate'

export type FieldId =
  | 'memory_total'
  | 'memory_reserved'
  | 'memory_used'
  | 'memory_free'
  | 'utilization'
  | 'memory_utilization'
  | 'encoder_utilization'
  | 'decoder_utilization'
  | 'temperature'
  | 'memory_temperature'
  | 'power'
  | 'power_limit'
  | `power_limit_${'min' | 'max' | 'default'}`
  | `bar1_${'total' | 'used'}`
  | 'ecc_enabled'
  | 'mig_enabled'
  | 'persistence_mode'
  | 'compute_mode'
  | 'recovery_action'
  | 'multiprocessors'
  | 'retired_pages_pending'
  | 'pcie_generation_max'
  | 'pcie_width_max'
  | 'fan_speed'
  | 'performance_state'
  | `clock_${Domain}`
  | `clock_max_${Domain}`
  | `throttle_${Reason}`
  | `throttle_seconds_${TimedReason}`
  | `ecc_${EccType}_${EccScope}`
  | 'retired_pages_single_bit'
  | 'retired_pages_double_bit'
  | 'remapped_rows_correctable'
  | 'remapped_rows_uncorrectable'
  | 'row_remap_pending'
  | 'row_remap_failure'
  | 'pcie_generation'
  | 'pcie_width'
  | 'pcie_replay'
  | 'pcie_tx'
  | 'pcie_rx'
