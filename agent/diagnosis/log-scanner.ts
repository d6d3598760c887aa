// The scanner with all fault families of the registry.
import * as registry from './faults/index.ts'
import type { FaultFamily } from './faults/family.ts'
import { createScanner, type Scanner } from './scanner.ts'

export const FAMILIES: readonly FaultFamily[] = Object.values(registry)

let scanner: Scanner | undefined
/** Made once: its tables cost a few milliseconds. */
export const logScanner = (): Scanner => (scanner ??= createScanner(FAMILIES))
