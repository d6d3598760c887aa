// Clocks as they are and may be, and what holds them down.
import { defineMetric } from '../model/metric.ts'
import { dcgmCounter, dcgmGauge } from './dcgm.ts'
import { GPU_LABELS } from './labels.ts'

export const gpuClockHertz = defineMetric({
  name: 'warpwatch_gpu_clock_hertz',
  subject: 'gpu',
  field: 'clock_hertz',
  kind: 'gauge',
  unit: 'Hz',
  help: 'Clock frequency by domain.',
  labels: [...GPU_LABELS, 'domain'],
  dcgm: {
    classic: [
      dcgmGauge('DCGM_FI_DEV_SM_CLOCK', 'SM clock frequency (in MHz).', 1e-6, { domain: 'sm' }),
      dcgmGauge('DCGM_FI_DEV_MEM_CLOCK', 'Memory clock frequency (in MHz).', 1e-6, { domain: 'memory' }),
    ],
    current: [
      dcgmGauge('DCGM_FI_DEV_SM_CLOCK_HERTZ', 'SM clock frequency (in Hz).', 1, { domain: 'sm' }),
      dcgmGauge('DCGM_FI_DEV_MEMORY_CLOCK_HERTZ', 'Memory clock frequency (in Hz).', 1, { domain: 'memory' }),
    ],
  },
})
export const gpuClockMaxHertz = defineMetric({
  name: 'warpwatch_gpu_clock_max_hertz',
  subject: 'gpu',
  field: 'clock_max_hertz',
  kind: 'gauge',
  unit: 'Hz',
  help: 'Highest clock frequency by domain.',
  labels: [...GPU_LABELS, 'domain'],
  dcgm: {
    classic: [
      dcgmGauge('DCGM_FI_DEV_MAX_SM_CLOCK', 'Maximum supported SM clock (in MHz).', 1e-6, { domain: 'sm' }),
      dcgmGauge('DCGM_FI_DEV_MAX_MEM_CLOCK', 'Maximum supported memory clock (in MHz).', 1e-6, { domain: 'memory' }),
    ],
  },
  history: false,
})
export const gpuThrottleActive = defineMetric({
  name: 'warpwatch_gpu_throttle_active',
  subject: 'gpu',
  field: 'throttle_active',
  kind: 'gauge',
  unit: '1',
  help: 'Whether a reason holds the clocks down now (1) or not (0). Harmless: gpu_idle, applications_clocks_setting, sync_boost, sw_power_cap under load.',
  labels: [...GPU_LABELS, 'reason'],
})
export const gpuThrottleReasons = defineMetric({
  name: 'warpwatch_gpu_throttle_reasons',
  subject: 'gpu',
  field: 'throttle_reasons',
  kind: 'gauge',
  unit: '1',
  help: 'The reasons that hold the clocks down now, as NVML gives them: a bit mask.',
  labels: GPU_LABELS,
  dcgm: { classic: [dcgmGauge('DCGM_FI_DEV_CLOCK_THROTTLE_REASONS', 'Current clock throttle reasons (bitmask of DCGM_CLOCKS_THROTTLE_REASON_*).')] },
  history: false,
})
export const gpuThrottleSecondsTotal = defineMetric({
  name: 'warpwatch_gpu_throttle_seconds_total',
  subject: 'gpu',
  field: 'throttle_seconds_total',
  kind: 'counter',
  unit: 's',
  help: 'Time for which a reason has held the clocks down since the driver was loaded.',
  labels: [...GPU_LABELS, 'reason'],
  dcgm: {
    classic: [
      dcgmCounter('DCGM_FI_DEV_POWER_VIOLATION', 'Throttling duration due to power constraints (in ns).', 1e9, { reason: 'sw_power_cap' }),
      dcgmCounter('DCGM_FI_DEV_THERMAL_VIOLATION', 'Throttling duration due to thermal constraints (in ns).', 1e9, { reason: 'sw_thermal_slowdown' }),
      dcgmCounter('DCGM_FI_DEV_SYNC_BOOST_VIOLATION', 'Throttling duration due to sync-boost constraints (in ns).', 1e9, { reason: 'sync_boost' }),
    ],
  },
})
