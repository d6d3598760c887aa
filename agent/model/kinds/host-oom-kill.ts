// Host OOM killer ended a process.
import { defineKind } from './kind.ts'

export const hostOomKill = defineKind({
  id: 'host_oom_kill',
  title: 'Host OOM killer ended a process',
  layer: 'host',
  from: 'logs',
  facts: ['anon_rss_bytes', 'total_vm_bytes', 'limit_bytes'],
  crash: { rank: 4 },
  chart: ['container_memory', 'host_memory'],
})
