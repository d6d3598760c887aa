// GPU memory of a process keeps growing.
import { defineKind } from './kind.ts'

export const memoryLeak = defineKind({
  id: 'memory_leak',
  title: 'GPU memory of a process keeps growing',
  layer: 'gpu_memory',
  from: 'numbers',
  facts: ['total_bytes', 'process_bytes', 'grown_bytes', 'since_ms', 'slope_bytes_per_second', 'grows'],
  chart: ['memory'],
  aboutProcessMemory: true,
})
