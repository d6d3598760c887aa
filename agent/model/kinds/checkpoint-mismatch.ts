// A model file cannot be read.
import { defineKind } from './kind.ts'

export const checkpointMismatch = defineKind({
  id: 'checkpoint_mismatch',
  title: 'A model file cannot be read',
  layer: 'program',
  from: 'logs',
  facts: ['pattern', 'path'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: ['disk_full'],
})
