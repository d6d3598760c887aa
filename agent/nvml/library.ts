// Loads libnvidia-ml through koffi and probes its symbols one by one. The only file that knows koffi.
import { firstLineOf } from '../text/error.ts'
import { createCallMarker, type FormatCall } from './in-flight-call.ts'
import { FUNCTIONS, functionOrdinal } from './names.ts'
import type { FunctionName } from './names.ts'

/** Pointers are BigInt in koffi 3; memory of ours goes in as typed arrays, which is the fastest way (0.07 µs a call). */
export type Argument = bigint | number | Uint8Array | Uint32Array | BigUint64Array | null
export type Native = (...args: readonly Argument[]) => number

export type Library = {
  readonly path: string
  /** Functions that this driver does not have. */
  readonly missing: readonly string[]
  /** undefined: this driver does not have the function. */
  readonly native: (name: FunctionName) => Native | undefined
  /** Where memory of ours lies, for a struct that points to it; the memory must be kept as long as the struct is used. */
  readonly addressOf: (memory: Uint32Array) => bigint
  /** Marks the call that comes next, see in-flight-call.ts. */
  readonly say: (gpu: number | undefined, ordinal: number) => void
}

const TYPES: Readonly<Record<string, string>> = { h: 'void *', s: 'void *', p: 'void *', u: 'uint32', l: 'uint64' }

/**
 * Tries the paths in order; one sentence when none loads. `format` makes the marker out of GPU and ordinal.
 * koffi.config comes before the first load, since even a failed load forbids it: async calls would die on the default stack of 128 KiB.
 */
export async function loadLibrary(paths: readonly string[], format: FormatCall, callFd?: number): Promise<Library | string> {
  try {
    const { default: koffi } = await import('koffi')
    try {
      koffi.config({ async_stack_size: 1 << 20 })
    } catch {
      // Set by an earlier load in this process; no call of ours is asynchronous, so nothing depends on it.
    }
    const failed: string[] = []
    for (const path of paths) {
      try {
        const loaded = koffi.load(path, { lazy: true })
        const functions: (Native | undefined)[] = FUNCTIONS.map(([name, parameters]) => {
          try {
            return loaded.func(
              name,
              'int',
              Array.from(parameters, (letter) => TYPES[letter] ?? 'void *'),
            )
          } catch {
            return undefined // a driver older or newer than the function
          }
        })
        if (functions[functionOrdinal('nvmlInit_v2')] === undefined) {
          failed.push(`${path}: no nvmlInit_v2 in it`)
          continue
        }
        const missing = FUNCTIONS.flatMap(([name], ordinal) => (functions[ordinal] === undefined ? [name] : []))
        return {
          path,
          missing,
          native: (name) => functions[functionOrdinal(name)],
          addressOf: (memory) => koffi.address(memory),
          say: createCallMarker(koffi, format, callFd),
        }
      } catch (error) {
        failed.push(`${path}: ${firstLineOf(error)}`)
      }
    }
    return `no libnvidia-ml could be loaded (${failed.join('; ') || 'no path given'})`
  } catch (error) {
    return `koffi, which calls native libraries, does not load here: ${firstLineOf(error)}`
  }
}
