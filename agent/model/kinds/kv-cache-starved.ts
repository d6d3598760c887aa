// Requests wait for room in the KV cache of a server, or lose theirs.
import { defineKind } from './kind.ts'

export const kvCacheStarved = defineKind({
  id: 'kv_cache_starved',
  title: 'The KV cache of an inference server is full',
  layer: 'usage',
  from: 'numbers',
  facts: ['server', 'since_ms', 'kv_cache_usage_ratio', 'kv_cache_tokens', 'kv_cache_bytes', 'requests_waiting', 'requests_running', 'preemptions_per_minute'],
  quietMinutes: 30,
  chart: ['memory'],
})
