// The scanner with all fault families of the registry, and the marks of progress that a job leaves.
import { END_LITERALS } from './ends/end-stream.ts'
import * as registry from './faults/index.ts'
import type { FaultFamily } from './faults/family.ts'
import { PROGRESS_LITERALS } from './progress-marks.ts'
import { createScanner, type Scanner } from './scanner.ts'

export const FAMILIES: readonly FaultFamily[] = Object.values(registry)

let scanner: Scanner | undefined
/** Made once: its tables cost a few milliseconds. */
export const logScanner = (): Scanner => (scanner ??= createScanner(FAMILIES, PROGRESS_LITERALS, END_LITERALS))
