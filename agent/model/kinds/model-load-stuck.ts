// A server loads for long, and nothing moves.
import { defineKind } from './kind.ts'

export const modelLoadStuck = defineKind({
  id: 'model_load_stuck',
  title: 'An inference server does not get on with loading its model',
  layer: 'usage',
  from: 'numbers',
  facts: ['server', 'since_ms', 'idle_seconds', 'process_bytes'],
  quietMinutes: 30,
  follows: [
    { causes: ['disk_full', 'storage_error', 'nccl_error', 'network_error', 'model_access', 'driver_hung'], on: 'either', withinMinutes: 30, lateMinutes: 2 },
  ],
  chart: ['memory'],
})
