// A process ended by SIGBUS.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const busError = defineKind({
  id: 'bus_error',
  title: 'A process crashed with a bus error',
  layer: 'program',
  from: 'logs',
  facts: [],
  quietMinutes: 15,
  crash: { rank: 12 },
  afterInText: BEFORE_ENDS,
})
