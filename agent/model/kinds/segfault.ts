// A process ended by SIGSEGV.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const segfault = defineKind({
  id: 'segfault',
  title: 'A process crashed with a segmentation fault',
  layer: 'program',
  from: 'logs',
  facts: [],
  quietMinutes: 15,
  crash: { rank: 12 },
  afterInText: BEFORE_ENDS,
})
