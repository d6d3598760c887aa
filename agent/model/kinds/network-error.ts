// A host could not be reached or resolved, or the members of a job did not find each other.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const networkError = defineKind({
  id: 'network_error',
  title: 'A connection failed',
  layer: 'network',
  from: 'logs',
  facts: ['port'],
  quietMinutes: 15,
  crash: { rank: 12 },
  afterInText: BEFORE_ENDS,
})
