// A program ended with an uncaught exception that no other kind explains.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const pythonException = defineKind({
  id: 'python_exception',
  title: 'A program ended with an exception',
  layer: 'program',
  from: 'logs',
  facts: ['path'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
