// From when to when a process or its GPU runs out of memory, if what grows goes on growing.
import { defineDetector } from './definition.ts'

export const memoryExhaustion = defineDetector({
  id: 'memory-exhaustion',
  kinds: ['memory_exhaustion_forecast'],
  title: 'GPU memory runs out if the trend goes on',
  severity: 'warning',
  watches: [],
  everyMs: 60_000,
  options: {},
  expression: { promql: 'warpwatch_memory_exhaustion_earliest_seconds < 3600' },
  create: () => ({ judge: () => [] }),
})
