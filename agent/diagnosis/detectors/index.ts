// The registry of detectors: one file each, one line here.
export { memoryExhaustion } from './memory-exhaustion.ts'
