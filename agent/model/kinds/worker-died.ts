// A helper process died, and its own words are not in the text.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const workerDied = defineKind({
  id: 'worker_died',
  title: 'A worker process died',
  layer: 'program',
  from: 'logs',
  facts: [],
  quietMinutes: 15,
  crash: { rank: 12 },
  afterInText: BEFORE_ENDS,
})
