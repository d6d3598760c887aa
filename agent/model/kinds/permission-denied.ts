// The system refused access to a file.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const permissionDenied = defineKind({
  id: 'permission_denied',
  title: 'Access to a file was denied',
  layer: 'host',
  from: 'logs',
  facts: ['path'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
