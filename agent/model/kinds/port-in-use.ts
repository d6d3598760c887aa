// A port is already in use.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const portInUse = defineKind({
  id: 'port_in_use',
  title: 'A port is already in use',
  layer: 'program',
  from: 'logs',
  facts: ['port'],
  quietMinutes: 10,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
