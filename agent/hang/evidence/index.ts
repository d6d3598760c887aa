// The readers of evidence, one line each: the first that knows a file reads it.
export { flightRecorder } from './flight-recorder.ts'
export { ras } from './ras.ts'
export { rasReport } from './ras-report.ts'
export { savedEvidence } from './saved.ts'
export { hosts } from './hosts.ts'
export { gpus } from './gpus.ts'
export { stacks } from './stacks.ts'
export { log } from './log.ts'
