// Driver not responding.
import { defineKind } from './kind.ts'

export const driverHung = defineKind({
  id: 'driver_hung',
  title: 'Driver not responding',
  layer: 'gpu',
  from: 'numbers',
  facts: ['sample_age_seconds', 'function', 'hangs'],
  quietMinutes: 1440,
  needsReading: true,
  ofCard: true,
  follows: [{ causes: ['gpu_lost', 'xid'], on: 'gpu', withinMinutes: 5, lateMinutes: 1 }],
  chart: ['utilization'],
  gpuState: 'unreadable',
})
