// Training waits for its input.
import { defineKind } from './kind.ts'

export const inputBound = defineKind({
  id: 'input_bound',
  title: 'Training waits for its input',
  layer: 'usage',
  from: 'numbers',
  facts: ['utilization_ratio', 'low_ratio', 'drops_per_minute', 'bottlenecks', 'gpus', 'jobs', 'cpu_cores', 'since_ms', 'process_bytes'],
  quietMinutes: 30,
  chart: ['utilization'],
})
