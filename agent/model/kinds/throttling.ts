// GPU clocks throttled.
import { defineKind } from './kind.ts'

export const throttling = defineKind({
  id: 'throttling',
  title: 'GPU clocks throttled',
  layer: 'gpu',
  from: 'numbers',
  facts: [
    'active_reasons',
    'temperature_celsius',
    'temperature_limit_celsius',
    'memory_temperature_celsius',
    'memory_temperature_limit_celsius',
    'power_watts',
    'power_limit_watts',
    'power_limit_default_watts',
    'sm_clock_hertz',
    'sm_clock_before_hertz',
    'sm_clock_max_hertz',
    'speed_loss_ratio',
  ],
  needsReading: true,
  follows: [{ causes: ['power_brake', 'thermal_or_power'], on: 'gpu', withinMinutes: 2, lateMinutes: 2 }],
  chart: ['sm_clock', 'temperature'],
  gpuState: 'slowed',
})
