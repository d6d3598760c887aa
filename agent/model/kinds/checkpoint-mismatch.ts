// A checkpoint does not fit the model, or cannot be read.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const checkpointMismatch = defineKind({
  id: 'checkpoint_mismatch',
  title: 'A checkpoint does not fit or cannot be read',
  layer: 'program',
  from: 'logs',
  facts: ['pattern', 'path'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
