// Reads headers of safetensors files (https://github.com/huggingface/safetensors#format): exact sizes of the weights, without the weights.
import * as z from 'zod/mini'

/** As the format says; headers of the largest models have a few megabytes. */
export const MAX_HEADER_BYTES = 100_000_000
const LENGTH_BYTES = 8

export class SafetensorsError extends Error {
  override readonly name = 'SafetensorsError'
}

const BITS: Readonly<Record<string, number>> = {
  BOOL: 8,
  U8: 8,
  I8: 8,
  F8_E5M2: 8,
  F8_E4M3: 8,
  F8_E8M0: 8,
  I16: 16,
  U16: 16,
  F16: 16,
  BF16: 16,
  I32: 32,
  U32: 32,
  F32: 32,
  F64: 64,
  I64: 64,
  U64: 64,
  F4: 4,
}
const FLOATS = ['F16', 'BF16', 'F32', 'F64']

const tensor = z.object({
  dtype: z.string().check(z.maxLength(20)),
  shape: z.array(z.int().check(z.nonnegative())).check(z.maxLength(16)),
  data_offsets: z.tuple([z.int().check(z.nonnegative()), z.int().check(z.nonnegative())]),
})

export type StoredWeights = {
  readonly tensors: number
  readonly bytes: number
  readonly parameters: number
  /** Those in matrices that are multiplied with, embeddings and output aside. */
  readonly linear: number
  readonly largestLinear: number
  /** The type of most bytes. */
  readonly dtype: string
  /** Numbers are packed (GPTQ, AWQ, bitsandbytes), so they cannot be counted from the shapes. */
  readonly packed: boolean
}

const EMBEDDING = /(?:^|\.)(?:wte|wpe|embed\w*|word_embeddings\w*|position_embeddings|token_type_embeddings|shared|lm_head|embed_out|output)\.weight$/

/** Length of the header, from the first eight bytes of a file. */
export function headerLength(start: Uint8Array): number {
  if (start.length < LENGTH_BYTES) throw new SafetensorsError(`truncated: it must begin with a length of ${LENGTH_BYTES} bytes, and has ${start.length}`)
  const length = new DataView(start.buffer, start.byteOffset, start.byteLength).getBigUint64(0, true)
  if (length < 2n || length > BigInt(MAX_HEADER_BYTES))
    throw new SafetensorsError(`not a safetensors file: the header must have 2 to ${MAX_HEADER_BYTES} bytes, not ${length}`)
  return Number(length)
}

/** Sums up the headers of one file, or of all shards of a model. */
export function storedWeights(headers: readonly string[]): StoredWeights {
  const byType = new Map<string, number>()
  let [tensors, bytes, parameters, linear, largestLinear, packed] = [0, 0, 0, 0, 0, false]
  for (const text of headers) {
    let header: unknown
    try {
      header = JSON.parse(text)
    } catch {
      throw new SafetensorsError('the header is not valid JSON')
    }
    if (typeof header !== 'object' || header === null || Array.isArray(header)) throw new SafetensorsError('the header must be an object of tensors by name')
    for (const [name, value] of Object.entries(header)) {
      if (name === '__metadata__') continue
      const parsed = z.safeParse(tensor, value)
      if (!parsed.success) throw new SafetensorsError(`tensor ${JSON.stringify(name.slice(0, 100))}: must have dtype, shape and data_offsets`)
      const {
        dtype,
        shape,
        data_offsets: [begin, end],
      } = parsed.data
      const elements = shape.reduce((product, length) => product * length, 1)
      const bits = BITS[dtype]
      if (bits !== undefined && (end - begin) * 8 !== elements * bits) {
        throw new SafetensorsError(`tensor ${JSON.stringify(name.slice(0, 100))}: must have ${(elements * bits) / 8} bytes of ${dtype}, not ${end - begin}`)
      }
      tensors++
      bytes += end - begin
      byType.set(dtype, (byType.get(dtype) ?? 0) + end - begin)
      packed ||= !FLOATS.includes(dtype) && /\.(?:qweight|qzeros|weight|absmax|SCB)$/.test(name) && !dtype.startsWith('F8')
      parameters += elements
      if (shape.length >= 2 && name.endsWith('.weight') && !EMBEDDING.test(name)) {
        linear += elements
        largestLinear = Math.max(largestLinear, elements / (shape.length > 2 ? (shape[0] ?? 1) : 1))
      }
    }
  }
  if (tensors === 0) throw new SafetensorsError('the header names no tensors')
  const [dtype] = [...byType].reduce((most, one) => (one[1] > most[1] ? one : most))
  return { tensors, bytes, parameters, linear, largestLinear, dtype, packed }
}

const index = z.looseObject({ weight_map: z.record(z.string(), z.string()) })

/** The shards that an index (model.safetensors.index.json) names: plain file names beside it. */
export function shardsOf(text: string): readonly string[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new SafetensorsError('the index is not valid JSON')
  }
  const parsed = z.safeParse(index, value)
  if (!parsed.success) throw new SafetensorsError('the index has no valid weight_map')
  const names = [...new Set(Object.values(parsed.data.weight_map))]
  const wrong = names.find((name) => name.includes('/') || name.includes('\\') || name.startsWith('.'))
  if (wrong !== undefined) throw new SafetensorsError(`index: must name files beside it, not ${JSON.stringify(wrong.slice(0, 100))}`)
  if (names.length === 0) throw new SafetensorsError('index: names no shards')
  return names
}
