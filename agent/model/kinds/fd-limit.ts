// Too many open files.
import { defineKind } from './kind.ts'

export const fdLimit = defineKind({
  id: 'fd_limit',
  title: 'Too many open files',
  layer: 'program',
  from: 'logs',
  facts: [],
  quietMinutes: 10,
  crash: { rank: 9 },
})
