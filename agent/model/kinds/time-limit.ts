// The job ran into its time limit.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const timeLimit = defineKind({
  id: 'time_limit',
  title: 'The job reached its time limit',
  layer: 'usage',
  from: 'logs',
  facts: [],
  quietMinutes: 15,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
