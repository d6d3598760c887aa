// GPU memory will run out if the trend continues.
import { defineKind } from './kind.ts'

export const memoryExhaustionForecast = defineKind({
  id: 'memory_exhaustion_forecast',
  title: 'GPU memory will run out if the trend continues',
  layer: 'gpu_memory',
  from: 'numbers',
  facts: ['total_bytes', 'process_bytes', 'slope_bytes_per_second', 'headroom_bytes', 'unreleasable_bytes', 'earliest_ms', 'latest_ms', 'grows', 'since_ms'],
  follows: [{ causes: ['memory_leak'], on: 'either', withinMinutes: 30, lateMinutes: 5 }],
  chart: ['memory'],
  aboutProcessMemory: true,
})
