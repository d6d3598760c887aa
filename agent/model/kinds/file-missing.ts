// A file that the program needs is not there.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const fileMissing = defineKind({
  id: 'file_missing',
  title: 'A file is missing',
  layer: 'program',
  from: 'logs',
  facts: ['path'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
