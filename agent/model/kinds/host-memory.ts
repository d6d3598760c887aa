// A program asked for host memory and got none.
import { BEFORE_ENDS, defineKind } from './kind.ts'

export const hostMemory = defineKind({
  id: 'host_memory',
  title: 'Host memory was refused',
  layer: 'host',
  from: 'logs',
  facts: ['requested_bytes'],
  quietMinutes: 30,
  crash: { rank: 9 },
  afterInText: BEFORE_ENDS,
})
