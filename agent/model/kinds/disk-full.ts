// Disk full.
import { defineKind } from './kind.ts'

export const diskFull = defineKind({
  id: 'disk_full',
  title: 'Disk full',
  layer: 'host',
  from: 'logs',
  facts: ['path', 'free_bytes'],
  quietMinutes: 30,
  crash: { rank: 3 },
})
