// No access to a model.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const modelAccess = defineKind({
  id: 'model_access',
  title: 'No access to a model',
  layer: 'network',
  from: 'logs',
  facts: ['http_status', 'path'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
