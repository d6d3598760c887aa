// Requests pile up before a server whose GPU is not busy.
import { defineKind } from './kind.ts'

export const serverUnderfed = defineKind({
  id: 'server_underfed',
  title: 'Requests wait while the GPU has little to do',
  layer: 'usage',
  from: 'numbers',
  facts: ['server', 'since_ms', 'utilization_ratio', 'requests_waiting', 'requests_running', 'kv_cache_usage_ratio'],
  quietMinutes: 30,
  chart: ['utilization'],
})
