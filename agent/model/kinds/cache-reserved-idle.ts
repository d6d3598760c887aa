// A server keeps memory for a cache that it never uses, and another process on the same GPU lacks it.
import { defineKind } from './kind.ts'

export const cacheReservedIdle = defineKind({
  id: 'cache_reserved_idle',
  title: 'A KV cache is reserved and unused while a neighbour lacks memory',
  layer: 'usage',
  from: 'numbers',
  facts: ['server', 'since_ms', 'kv_cache_bytes', 'kv_cache_peak_ratio', 'unused_bytes'],
  quietMinutes: 120,
  chart: ['memory'],
})
