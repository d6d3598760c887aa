// A person cancelled the job.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const cancelled = defineKind({
  id: 'cancelled',
  title: 'The job was cancelled',
  layer: 'usage',
  from: 'logs',
  facts: [],
  quietMinutes: 15,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
