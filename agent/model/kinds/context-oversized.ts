// A server keeps GPU memory for requests much longer than any that it has had.
import { defineKind } from './kind.ts'

export const contextOversized = defineKind({
  id: 'context_oversized',
  title: 'A server keeps memory for a context longer than it ever used',
  layer: 'usage',
  from: 'numbers',
  facts: ['server', 'since_ms', 'context_tokens', 'longest_request_tokens', 'kv_cache_bytes', 'unused_bytes'],
  quietMinutes: 240,
  chart: ['memory'],
})
