// A job's steps take longer than they did.
import { defineKind } from './kind.ts'

export const jobSlowdown = defineKind({
  id: 'job_slowdown',
  title: 'A job became slower',
  layer: 'usage',
  from: 'numbers',
  facts: ['job', 'slow_from_step', 'slowdown_factor', 'step_seconds', 'step_seconds_before', 'active_reasons', 'gpus', 'since_ms'],
  quietMinutes: 30,
  follows: [
    {
      causes: ['throttling', 'power_brake', 'thermal_or_power', 'pcie_degraded', 'straggler_gpu', 'input_bound', 'neighbour_pressure'],
      on: 'either',
      withinMinutes: 10,
      lateMinutes: 2,
    },
  ],
  chart: ['sm_clock', 'utilization'],
})
