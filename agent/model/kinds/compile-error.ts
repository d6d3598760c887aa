// A kernel does not fit the GPU.
import { defineKind } from './kind.ts'

export const compileError = defineKind({
  id: 'compile_error',
  title: 'A kernel does not fit the GPU',
  layer: 'program',
  from: 'logs',
  facts: ['pattern', 'requested_bytes', 'limit_bytes'],
  quietMinutes: 30,
  crash: { rank: 8 },
})
