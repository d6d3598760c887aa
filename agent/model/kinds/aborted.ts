// A process ended by SIGABRT or its like: its own checks failed.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const aborted = defineKind({
  id: 'aborted',
  title: 'A process aborted',
  layer: 'program',
  from: 'logs',
  facts: [],
  quietMinutes: 15,
  crash: { rank: 12 },
  afterInText: BEFORE_ENDS,
})
