// An operation got tensors of different devices.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const deviceMismatch = defineKind({
  id: 'device_mismatch',
  title: 'Tensors are on different devices',
  layer: 'program',
  from: 'logs',
  facts: [],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
