// A program reduced its batch size.
import { defineKind } from './kind.ts'

export const batchHalving = defineKind({
  id: 'batch_halving',
  title: 'A program reduced its batch size',
  layer: 'program',
  from: 'both',
  facts: ['batch_from', 'batch_to', 'requested_bytes', 'total_bytes', 'free_bytes', 'allocated_bytes', 'reserved_bytes', 'peak_bytes'],
  quietMinutes: 10,
  crash: { rank: 18, fatal: false },
  chart: ['memory'],
  handled: true,
})
