// The platform took the machine back.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const preempted = defineKind({
  id: 'preempted',
  title: 'The job was preempted',
  layer: 'usage',
  from: 'logs',
  facts: [],
  quietMinutes: 15,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
