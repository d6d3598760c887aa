// The stored form of a stretch of time: a directory of series and one segment of bytes for each.
import { createReader, createWriter } from './bits.ts'
import type { Reader } from './bits.ts'
import { decodeColumn, encodeColumn } from './column.ts'

/** First byte of each block; a reader that finds another refuses the block. */
const BLOCK_VERSION = 1

export type Segment = { readonly id: number; readonly bytes: Uint8Array }

const out = createWriter()
let gaps = new Float64Array(512)
let dense = new Float64Array(512)

/** Joins segments into a block; they are written in the order of their ids. */
export function packBlock(segments: readonly Segment[]): Uint8Array {
  const sorted = [...segments].sort((a, b) => a.id - b.id)
  out.reset()
  out.byte(BLOCK_VERSION)
  out.varint(sorted.length)
  let before = 0
  for (const { id, bytes } of sorted) {
    out.varint(id - before)
    out.varint(bytes.length)
    before = id
  }
  for (const { bytes } of sorted) out.append(bytes)
  return out.take()
}

/** The segments of a block; their bytes are views of the block's. Throws a RangeError when the block is not one. */
export function unpackBlock(block: Uint8Array): readonly Segment[] {
  const from = createReader(block)
  const version = from.byte()
  if (version !== BLOCK_VERSION) throw new RangeError(`history block: expected version ${BLOCK_VERSION}, found ${version}`)
  const count = from.varint()
  if (count > block.length) throw new RangeError(`history block: ${count} series cannot be in ${block.length} bytes`)
  const entries: { id: number; length: number }[] = []
  let id = 0
  for (let i = 0; i < count; i++) {
    id += from.varint()
    entries.push({ id, length: from.varint() })
  }
  let at = from.position()
  return entries.map((entry) => {
    const bytes = block.subarray(at, at + entry.length)
    at += entry.length
    if (at > block.length) throw new RangeError(`history block: expected ${at} bytes or more, found ${block.length}`)
    return { id: entry.id, bytes }
  })
}

/** Writes which of the equal steps hold a value: how many, the first, and the distances between them. */
export function encodePresence(writer: ReturnType<typeof createWriter>, slots: Float64Array, count: number): void {
  if (gaps.length < count) gaps = new Float64Array(count * 2)
  writer.varint(count)
  writer.varint(slots[0] ?? 0)
  if (count < 2) return
  for (let i = 1; i < count; i++) gaps[i - 1] = (slots[i] ?? 0) - (slots[i - 1] ?? 0)
  encodeColumn(writer, gaps, count - 1)
}

/** Reads the steps into `into` (which must be long enough for any block) and returns how many there are. */
export function decodePresence(from: Reader, into: Float64Array): number {
  const count = from.varint()
  if (count > into.length) throw new RangeError(`history segment: expected at most ${into.length} values, found ${count}`)
  if (count === 0) return 0
  let slot = from.varint()
  if (count > 1) decodeColumn(from, into, count - 1)
  for (let i = 0; i < count; i++) {
    const gap = into[i] ?? 0
    into[i] = slot
    slot += gap
  }
  return count
}

let slots = new Float64Array(512)

/** One series of a raw block: a value for each second, NaN where there was none. Undefined when there is no value at all. */
export function encodeRaw(values: Float64Array, length: number): { readonly bytes: Uint8Array; readonly samples: number } | undefined {
  if (dense.length < length) {
    dense = new Float64Array(length)
    slots = new Float64Array(length)
  }
  let count = 0
  for (let i = 0; i < length; i++) {
    const value = values[i] ?? Number.NaN
    if (Number.isNaN(value)) continue
    slots[count] = i
    dense[count++] = value
  }
  if (count === 0) return undefined
  out.reset()
  encodePresence(out, slots, count)
  encodeColumn(out, dense, count)
  return { bytes: out.take(), samples: count }
}

/** Reads each second's offset from the block's start and the value there into the scratch arrays; returns how many there are. */
export function decodeRaw(bytes: Uint8Array, scratch: { readonly at: Float64Array; readonly value: Float64Array }): number {
  const from = createReader(bytes)
  const count = decodePresence(from, scratch.at)
  if (count > 0) decodeColumn(from, scratch.value, count)
  return count
}

/** Longest stretch of any block, in steps. */
export const MAX_STEPS = 1024
export const createRawScratch = (): { readonly at: Float64Array; readonly value: Float64Array } => ({
  at: new Float64Array(MAX_STEPS),
  value: new Float64Array(MAX_STEPS),
})
