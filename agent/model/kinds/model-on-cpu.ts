// A server computes with a model that is not, or not wholly, in GPU memory.
import { defineKind } from './kind.ts'

export const modelOnCpu = defineKind({
  id: 'model_on_cpu',
  title: 'A model is in host memory instead of GPU memory',
  layer: 'usage',
  from: 'numbers',
  facts: ['server', 'since_ms', 'offloaded_ratio', 'layers', 'missing_bytes'],
  quietMinutes: 60,
  follows: [{ causes: ['container_lost_gpu', 'driver_not_loaded', 'gpu_missing'], on: 'either', withinMinutes: 60, lateMinutes: 2 }],
  chart: ['memory'],
})
