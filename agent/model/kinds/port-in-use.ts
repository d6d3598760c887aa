// A port is already in use.
import { defineKind } from './kind.ts'

export const portInUse = defineKind({
  id: 'port_in_use',
  title: 'A port is already in use',
  layer: 'program',
  from: 'logs',
  facts: ['port', 'errno'],
  quietMinutes: 10,
  crash: { rank: 9 },
})
