// The loss is not a number any more, and stays so.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const nanLoss = defineKind({
  id: 'nan_loss',
  title: 'The loss is NaN or infinite',
  layer: 'program',
  from: 'logs',
  facts: ['step'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
