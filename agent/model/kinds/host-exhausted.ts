// A host with unified memory runs out of it.
import { defineKind } from './kind.ts'

export const hostExhausted = defineKind({
  id: 'host_exhausted',
  title: 'A host with unified memory runs out of it',
  layer: 'host',
  from: 'numbers',
  facts: ['free_bytes', 'total_bytes', 'slope_bytes_per_second', 'earliest_ms', 'since_ms'],
  chart: ['host_memory'],
})
