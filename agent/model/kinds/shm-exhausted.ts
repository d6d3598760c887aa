// Shared memory is full.
import { defineKind } from './kind.ts'

export const shmExhausted = defineKind({
  id: 'shm_exhausted',
  title: 'Shared memory is full',
  layer: 'host',
  from: 'logs',
  facts: ['path'],
  crash: { rank: 3 },
  chart: ['shm', 'container_memory'],
})
