// One GPU of a job is slower than the others.
import { defineKind } from './kind.ts'

export const stragglerGpu = defineKind({
  id: 'straggler_gpu',
  title: 'One GPU of a job is slower than the others',
  layer: 'usage',
  from: 'numbers',
  facts: [
    'active_reasons',
    'temperature_celsius',
    'power_watts',
    'sm_clock_hertz',
    'sm_clock_max_hertz',
    'speed_loss_ratio',
    'gpus',
    'jobs',
    'sm_clock_peers_hertz',
    'temperature_peers_celsius',
    'power_peers_watts',
    'since_ms',
  ],
  quietMinutes: 30,
  follows: [{ causes: ['throttling', 'power_brake', 'thermal_or_power', 'pcie_degraded', 'nvlink_errors'], on: 'gpu', withinMinutes: 10, lateMinutes: 2 }],
  chart: ['sm_clock', 'utilization'],
})
