// NVML's return codes: their names, the gap that each becomes, and whether asking again can help.
import type { GapReason } from '../model/reading.ts'

export const SUCCESS = 0
export const UNINITIALIZED = 1
export const INVALID_ARGUMENT = 2
export const NOT_SUPPORTED = 3
export const NO_PERMISSION = 4
export const NOT_FOUND = 6
export const INSUFFICIENT_SIZE = 7
export const DRIVER_NOT_LOADED = 9
export const TIMED_OUT = 10
export const FUNCTION_NOT_FOUND = 13
export const GPU_IS_LOST = 15
export const RESET_REQUIRED = 16
export const LIB_RM_VERSION_MISMATCH = 18
/** Also ours, for an answer that cannot be: a number of all ones says "not available", though the call itself succeeds. */
export const NO_DATA = 21
export const ARGUMENT_VERSION_MISMATCH = 25
export const DEPRECATED = 26
export const GPU_NOT_FOUND = 28

/** nvmlReturn_t of header 13.3. */
const NAMES: Readonly<Record<number, string>> = {
  0: 'SUCCESS',
  1: 'UNINITIALIZED',
  2: 'INVALID_ARGUMENT',
  3: 'NOT_SUPPORTED',
  4: 'NO_PERMISSION',
  5: 'ALREADY_INITIALIZED',
  6: 'NOT_FOUND',
  7: 'INSUFFICIENT_SIZE',
  8: 'INSUFFICIENT_POWER',
  9: 'DRIVER_NOT_LOADED',
  10: 'TIMEOUT',
  11: 'IRQ_ISSUE',
  12: 'LIBRARY_NOT_FOUND',
  13: 'FUNCTION_NOT_FOUND',
  14: 'CORRUPTED_INFOROM',
  15: 'GPU_IS_LOST',
  16: 'RESET_REQUIRED',
  17: 'OPERATING_SYSTEM',
  18: 'LIB_RM_VERSION_MISMATCH',
  19: 'IN_USE',
  20: 'MEMORY',
  21: 'NO_DATA',
  22: 'VGPU_ECC_NOT_SUPPORTED',
  23: 'INSUFFICIENT_RESOURCES',
  24: 'FREQ_NOT_SUPPORTED',
  25: 'ARGUMENT_VERSION_MISMATCH',
  26: 'DEPRECATED',
  27: 'NOT_READY',
  28: 'GPU_NOT_FOUND',
  29: 'INVALID_STATE',
  30: 'RESET_TYPE_NOT_SUPPORTED',
  999: 'UNKNOWN',
}

export const codeName = (code: number): string => NAMES[code] ?? `code ${code}`

const REASONS: Readonly<Record<number, GapReason>> = {
  [NOT_SUPPORTED]: 'not_supported',
  [FUNCTION_NOT_FOUND]: 'not_supported',
  [ARGUMENT_VERSION_MISMATCH]: 'not_supported',
  [DEPRECATED]: 'not_supported',
  [NO_PERMISSION]: 'no_permission',
  [TIMED_OUT]: 'timeout',
  [GPU_IS_LOST]: 'gpu_lost',
  [GPU_NOT_FOUND]: 'gpu_lost',
  [RESET_REQUIRED]: 'reset_required',
}

export const gapReason = (code: number): GapReason => REASONS[code] ?? 'driver_error'

/** What does not exist here stays so until NVML starts again; neither does a permission come by itself. */
export const isPermanent = (code: number): boolean =>
  code === NOT_SUPPORTED || code === FUNCTION_NOT_FOUND || code === ARGUMENT_VERSION_MISMATCH || code === DEPRECATED || code === NO_PERMISSION

/** The GPU as a whole is gone or needs a reset: nothing else that it says counts. */
export const isGpuGone = (code: number): boolean => code === GPU_IS_LOST || code === RESET_REQUIRED || code === GPU_NOT_FOUND

/** NVML as a whole has to start again: the driver was unloaded or replaced under us. */
export const isDriverGone = (code: number): boolean => code === UNINITIALIZED || code === DRIVER_NOT_LOADED || code === LIB_RM_VERSION_MISMATCH

/** A call that failed: why, for a gap. There is one object per function and code, so that equal failures are identical. */
export type Failure = { readonly reason: GapReason; readonly code: number; readonly detail: string }

const failures = new Map<string, Map<number, Failure>>()

export function failureOf(what: string, code: number, reason: GapReason = gapReason(code), detail = `${what}: ${codeName(code)}`): Failure {
  let ofFunction = failures.get(what)
  if (ofFunction === undefined) failures.set(what, (ofFunction = new Map()))
  let failure = ofFunction.get(code)
  if (failure === undefined) ofFunction.set(code, (failure = { reason, code, detail }))
  return failure
}
