// The registry of detectors: one file each, one line here.
export { memoryExhaustion } from './memory-exhaustion.ts'
export { allocatorRetryStorm } from './allocator-retry-storm.ts'
export { fragmentationPressure } from './fragmentation-pressure.ts'
export { oomRestartLoop } from './oom-restart-loop.ts'
