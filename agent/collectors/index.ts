// The registry of collectors: one line each.
export { memory } from './memory.ts'
export { memoryPeak } from './memory-peak.ts'
export { power } from './power.ts'
export { processes } from './processes.ts'
export { utilization } from './utilization.ts'
