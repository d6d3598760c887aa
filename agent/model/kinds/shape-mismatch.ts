// An operation got tensors whose shapes do not fit.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const shapeMismatch = defineKind({
  id: 'shape_mismatch',
  title: 'Tensor shapes do not fit',
  layer: 'program',
  from: 'logs',
  facts: [],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
