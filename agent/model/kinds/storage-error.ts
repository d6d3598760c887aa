// Reading or writing failed in the storage itself.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const storageError = defineKind({
  id: 'storage_error',
  title: 'Storage failed',
  layer: 'host',
  from: 'logs',
  facts: ['path'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
