// Restart loop: out of GPU memory each time.
import { defineKind } from './kind.ts'

export const oomRestartLoop = defineKind({
  id: 'oom_restart_loop',
  title: 'Restart loop: out of GPU memory each time',
  layer: 'gpu_memory',
  from: 'numbers',
  facts: ['deaths', 'peak_bytes', 'since_ms'],
  follows: [{ causes: ['cuda_oom', 'host_oom_kill'], on: 'either', withinMinutes: 10, lateMinutes: 0 }],
  chart: ['memory'],
  aboutProcessMemory: true,
})
