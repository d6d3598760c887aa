// The job ended badly, and nothing more is known.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const jobFailed = defineKind({
  id: 'job_failed',
  title: 'The job failed',
  layer: 'program',
  from: 'logs',
  facts: ['reason'],
  quietMinutes: 15,
  crash: { rank: 20 },
  afterInText: BEFORE_ENDS,
})
