// A process was ended from outside: SIGKILL, SIGTERM, SIGHUP, an eviction, a failed node.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const jobKilled = defineKind({
  id: 'job_killed',
  title: 'A process was killed',
  layer: 'program',
  from: 'logs',
  facts: ['pattern', 'reason'],
  quietMinutes: 15,
  crash: { rank: 12 },
  afterInText: BEFORE_ENDS,
})
