// Code that is compiled at run time does not compile, or its kernel does not fit the GPU.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const compileError = defineKind({
  id: 'compile_error',
  title: 'Code could not be compiled',
  layer: 'program',
  from: 'logs',
  facts: ['pattern', 'requested_bytes', 'limit_bytes'],
  quietMinutes: 30,
  crash: { rank: 8 },
  afterInText: BEFORE_ENDS,
})
