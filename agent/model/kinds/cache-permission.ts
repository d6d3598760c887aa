// No permission to use a cache folder.
import { defineKind } from './kind.ts'

export const cachePermission = defineKind({
  id: 'cache_permission',
  title: 'No permission to use a cache folder',
  layer: 'host',
  from: 'logs',
  facts: ['path'],
  crash: { rank: 16, alone: true, fatal: false },
})
