// An operation got tensors of different types.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const dtypeMismatch = defineKind({
  id: 'dtype_mismatch',
  title: 'Tensors have different types',
  layer: 'program',
  from: 'logs',
  facts: ['expected', 'found'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
