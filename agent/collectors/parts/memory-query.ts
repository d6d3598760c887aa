// Memory of a GPU or MIG instance: version 2 where the driver has it, else version 1, whose `used` includes what the driver reserves.
import { ARGUMENT_VERSION_MISMATCH, FUNCTION_NOT_FOUND, SUCCESS } from '../../nvml/codes.ts'
import type { Handle } from '../../nvml/device.ts'
import { LAYOUTS } from '../../nvml/layouts.ts'

/** Places in `values`: both layouts give them in this order, `reserved` only version 2. */
export const MEMORY = { total: 0, free: 1, used: 2, reserved: 3 } as const

export type MemoryQuery = {
  readonly ask: () => number
  readonly name: () => string
  readonly values: () => Float64Array
  /** false: `used` includes the reserved memory and the driver does not report how much that is (drivers before R510). */
  readonly tellsReserved: () => boolean
}

export function memoryQuery(handle: Handle): MemoryQuery {
  const newer = handle.struct('nvmlDeviceGetMemoryInfo_v2', LAYOUTS.nvmlMemory_v2_t)
  const older = handle.struct('nvmlDeviceGetMemoryInfo', LAYOUTS.nvmlMemory_t)
  let current = newer
  return {
    ask: () => {
      const code = current.ask()
      if (current === newer && (code === FUNCTION_NOT_FOUND || code === ARGUMENT_VERSION_MISMATCH)) {
        const other = older.ask()
        if (other === SUCCESS) current = older
        return other
      }
      return code
    },
    name: () => current.name,
    values: () => current.values,
    tellsReserved: () => current === newer,
  }
}
