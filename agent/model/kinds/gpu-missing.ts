// GPU missing.
import { defineKind } from './kind.ts'

export const gpuMissing = defineKind({
  id: 'gpu_missing',
  title: 'GPU missing',
  layer: 'gpu',
  from: 'numbers',
  facts: ['gpus_present', 'gpus_expected', 'reason'],
  quietMinutes: 1440,
  needsReading: true,
  ofCard: true,
  follows: [
    { causes: ['driver_hung', 'gpu_lost', 'xid'], on: 'gpu', withinMinutes: 10, lateMinutes: 1 },
    { causes: ['nvml_driver_mismatch'], on: 'host', withinMinutes: 10, lateMinutes: 1 },
  ],
  newWhen: { below: ['gpus_present'], above: ['gpus_expected'] },
  chart: ['utilization'],
  gpuState: 'unreadable',
})
