// A source that was reporting has stopped.
import { defineKind } from './kind.ts'

export const telemetryStale = defineKind({
  id: 'telemetry_stale',
  title: 'A source that was reporting has stopped',
  layer: 'telemetry',
  from: 'numbers',
  facts: ['sample_age_seconds', 'source', 'reason', 'hangs', 'gpus', 'function'],
  quietMinutes: 1440,
  needsReading: true,
  ofCard: true,
  follows: [
    { causes: ['gpu_missing', 'driver_hung', 'gpu_lost', 'xid'], on: 'gpu', withinMinutes: 10, lateMinutes: 1 },
    { causes: ['nvml_driver_mismatch'], on: 'host', withinMinutes: 10, lateMinutes: 1 },
  ],
  chart: ['utilization'],
  gpuState: 'unreadable',
})
