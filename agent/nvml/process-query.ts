// Process lists of a GPU or MIG instance: newest version of the function first, growing lists, and the 32-byte entries of early R535.
import { ARGUMENT_VERSION_MISMATCH, FUNCTION_NOT_FOUND, INSUFFICIENT_SIZE, NO_DATA, SUCCESS, isPermanent } from './codes.ts'
import type { ProcessEntry, ProcessKind, ProcessQuery } from './device.ts'
import { NONE, PROCESS_INFO } from './layouts.ts'
import type { Library } from './library.ts'
import { bind } from './query.ts'
import type { FunctionName } from './names.ts'

const { strides } = PROCESS_INFO
const UNTOUCHED = 0xaaaaaaaa
/** Highest pid_max of Linux (include/linux/threads.h). */
const PID_MAX = 4_194_304
const MOST_TRIES = 6
/** A driver's list is bounded (NV2080_CTRL_GPU_GET_PIDS_MAX_COUNT) far below this; a buffer that grows further would only follow a driver gone mad. */
const MOST_ENTRIES = 16_384

/** Shared by all lists of one library: calls do not overlap, and a driver has one stride. */
export type ProcessScratch = { words: Uint32Array; stride3: number | undefined }
export const createProcessScratch = (): ProcessScratch => ({ words: new Uint32Array(64 * (strides.early535 / 4)), stride3: undefined })

/** Could these be `count` entries of this stride? Between wrong borders lie pids of 0 or beyond the kernel's highest. */
export function plausible(words: Uint32Array, count: number, stride: number): boolean {
  const seen = new Set<number>()
  for (let i = 0; i < count; i++) {
    const at = (i * stride) / 4
    const pid = words[at] ?? 0
    const instance = words[at + PROCESS_INFO.gpuInstanceId / 4] ?? 0
    if (pid === 0 || pid > PID_MAX || (instance !== NONE && instance > 255)) return false
    seen.add(pid)
  }
  return seen.size > 0
}

/**
 * Drivers 535.43 to 535.86 wrote 32-byte entries where the header says 24. The buffer was filled with a pattern: a 24-byte driver leaves what lies
 * behind its last entry alone. Where something was written there, the driver's other symbols and the entries themselves decide.
 */
export function strideOf(words: Uint32Array, count: number, early535: boolean): number | undefined {
  let touched = false
  for (let i = (count * strides.v2) / 4; i < (count * strides.early535) / 4; i++) if (words[i] !== UNTOUCHED) touched = true
  if (!touched) return strides.v2
  if (early535) return strides.early535
  if (count < 2) return undefined // both strides read one entry alike: decide when there are more
  return plausible(words, count, strides.v2) ? strides.v2 : strides.early535
}

function decodeEntries(words: Uint32Array, count: number, stride: number): ProcessEntry[] {
  const entries: ProcessEntry[] = []
  for (let i = 0; i < count; i++) {
    const at = (i * stride) / 4
    const low = words[at + 2] ?? 0
    const high = words[at + 3] ?? 0
    const bytes = low === NONE && high === NONE ? null : low + high * 2 ** 32
    const gi = stride === strides.v1 ? NONE : (words[at + 4] ?? NONE)
    const ci = stride === strides.v1 ? NONE : (words[at + 5] ?? NONE)
    entries.push({ pid: words[at] ?? 0, bytes, ...(gi === NONE ? {} : { gi }), ...(ci === NONE ? {} : { ci }) })
  }
  return entries
}

export function processQuery(library: Library, gpu: number, handle: bigint, kind: ProcessKind, scratch: ProcessScratch): ProcessQuery {
  const base = `nvmlDeviceGet${kind}RunningProcesses` as const
  const versions = ([`${base}_v3`, `${base}_v2`, base] as const satisfies readonly FunctionName[]).filter((name) => library.native(name) !== undefined)
  const early535 = library.native('nvmlDeviceGetConfComputeMemSizeInfo') !== undefined && library.native('nvmlDeviceGetRunningProcessDetailList') === undefined
  const count = new Uint32Array(1)
  let version = 0
  let permanent: number = versions.length === 0 ? FUNCTION_NOT_FOUND : SUCCESS
  let entries: readonly ProcessEntry[] = []
  let bound: { readonly words: Uint32Array; readonly version: number; readonly call: () => number } | undefined

  const call = (): number => {
    const name = versions[version] ?? base
    if (bound?.words !== scratch.words || bound.version !== version)
      bound = { words: scratch.words, version, call: bind(library, gpu, name, [handle, count, scratch.words]) }
    if (name.endsWith('_v3') && scratch.stride3 === undefined) scratch.words.fill(UNTOUCHED)
    // Room is counted in the widest entries, so that no driver writes beyond the buffer.
    count[0] = Math.floor(scratch.words.byteLength / strides.early535)
    return bound.call()
  }
  const ask = (): number => {
    if (permanent !== SUCCESS) return permanent
    let code = call()
    for (let tries = 0; code === INSUFFICIENT_SIZE && tries < MOST_TRIES; tries++) {
      // 2n+5 as nvidia-smi leaves room: the list may grow between two calls.
      const entries = Math.min(2 * Math.max(count[0] ?? 0, 64) + 5, MOST_ENTRIES)
      if (entries * strides.early535 > scratch.words.byteLength) scratch.words = new Uint32Array(entries * (strides.early535 / 4))
      code = call()
    }
    if (code !== SUCCESS) {
      if ((code === FUNCTION_NOT_FOUND || code === ARGUMENT_VERSION_MISMATCH) && version + 1 < versions.length) {
        version++
        return ask()
      }
      if (isPermanent(code)) permanent = code
      return code
    }
    const found = count[0] ?? 0
    // More than there was room for: a driver that answers nonsense (all ones), and four billion entries to read.
    if (found * strides.v1 > scratch.words.byteLength) {
      entries = []
      return NO_DATA
    }
    if (found === 0) {
      entries = []
      return SUCCESS
    }
    const name = versions[version] ?? base
    let stride: number = name === base ? strides.v1 : strides.v2
    if (name.endsWith('_v3')) {
      scratch.stride3 ??= strideOf(scratch.words, found, early535)
      stride = scratch.stride3 ?? strides.v2
    }
    entries = decodeEntries(scratch.words, found, stride)
    return SUCCESS
  }
  return { name: versions[0] ?? base, ask, entries: () => entries }
}
