// Prepared calls: arguments and buffers are made once, answers are decoded into plain numbers.
import { FUNCTION_NOT_FOUND, NO_DATA, SUCCESS, isPermanent } from './codes.ts'
import type { Out, Query } from './device.ts'
import type { Layout } from './layouts.ts'
import type { Argument, Library } from './library.ts'
import { functionOrdinal } from './names.ts'
import type { FunctionName } from './names.ts'

const TWO32 = 2 ** 32

/** A call with fixed arguments that is marked as in flight first; FUNCTION_NOT_FOUND where the driver lacks it. */
export function bind(library: Library, gpu: number | undefined, name: FunctionName, args: readonly Argument[]): () => number {
  const native = library.native(name)
  if (native === undefined) return () => FUNCTION_NOT_FOUND
  const ordinal = functionOrdinal(name)
  const { say } = library
  return () => {
    say(gpu, ordinal)
    return native(...args)
  }
}

/** Remembers a permanent code, so that the driver is asked for what it does not have only once. */
export function remembering(call: () => number): () => number {
  let permanent = SUCCESS
  return () => {
    if (permanent !== SUCCESS) return permanent
    const code = call()
    if (isPermanent(code)) permanent = code
    return code
  }
}

/** A 64-bit number of two words; exact below 2^53, NaN for all ones. */
export const wide = (low: number, high: number): number => (low === 0xffffffff && high === 0xffffffff ? Number.NaN : low + high * TWO32)

/** A 32-bit number; NaN for all ones: NVML_VALUE_NOT_AVAILABLE (-1), and what registers behind a dead PCIe link read as. */
export const narrow = (low: number): number => (low === 0xffffffff ? Number.NaN : low)

function decode(words: Uint32Array, offset: number, type: Out): number {
  const low = narrow(words[offset / 4] ?? 0)
  if (type === 'u32') return low
  if (type === 'i32') return Number.isNaN(low) ? low : low | 0
  return wide(words[offset / 4] ?? 0, words[offset / 4 + 1] ?? 0)
}

export function scalarQuery(
  library: Library,
  gpu: number | undefined,
  name: FunctionName,
  handle: bigint,
  leading: readonly number[] = [],
  outs: readonly Out[] = ['u32'],
): Query {
  const slots = outs.map((type) => ({ type, words: new Uint32Array(2) }))
  const values = new Float64Array(outs.length)
  const call = bind(library, gpu, name, [handle, ...leading, ...slots.map((slot) => slot.words)])
  const ask = remembering(() => {
    const code = call()
    if (code !== SUCCESS) return code
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i]
      if (slot === undefined) break
      const value = decode(slot.words, 0, slot.type)
      if (Number.isNaN(value)) return NO_DATA
      values[i] = value
    }
    return SUCCESS
  })
  return { name, ask, values }
}

export function structQuery(library: Library, gpu: number | undefined, name: FunctionName, handle: bigint, layout: Layout): Query {
  const words = new Uint32Array(Math.ceil(layout.size / 8) * 2)
  const values = new Float64Array(layout.fields.length)
  const call = bind(library, gpu, name, [handle, words])
  const ask = remembering(() => {
    if (layout.version !== undefined) words[0] = layout.version
    const code = call()
    if (code !== SUCCESS) return code
    for (let i = 0; i < layout.fields.length; i++) {
      const field = layout.fields[i]
      if (field === undefined) break
      const value = decode(words, field.offset, field.type)
      if (Number.isNaN(value)) return NO_DATA
      values[i] = value
    }
    return SUCCESS
  })
  return { name, ask, values }
}

const TEXT_BYTES = 96 // the longest of NVML's buffer sizes (name, UUID)
const decoder = new TextDecoder()
export const textUntilNul = (bytes: Uint8Array): string => decoder.decode(bytes.subarray(0, bytes.indexOf(0) < 0 ? bytes.length : bytes.indexOf(0)))

/** A function that fills a buffer with text. `handle` absent: a function of the system. */
export function readText(library: Library, gpu: number | undefined, name: FunctionName, handle?: bigint): string | number {
  const bytes = new Uint8Array(TEXT_BYTES)
  const code = bind(library, gpu, name, handle === undefined ? [bytes, TEXT_BYTES] : [handle, bytes, TEXT_BYTES])()
  return code === SUCCESS ? textUntilNul(bytes) : code
}
