// From bytes as they are read to batches of whole lines. Lines stay where they are in the chunk; only a line that a chunk's end tore apart is copied.
import { addLine, BATCH_LINES, createBatch, type LineBatch } from './batch.ts'

/** Longer lines come in pieces of this length. */
export const MAX_LINE_BYTES = 64 * 1024

export type LineBuffer = {
  /** The chunk is not kept after the call. `offset`: where its first byte is in the log, for sources that keep a cursor. */
  readonly push: (chunk: Buffer, offset?: number) => void
  /** What has no line end yet is a line: the log has ended, or nothing more has come for long. */
  readonly finish: () => void
  /** Forgets what has no line end yet. */
  readonly reset: () => void
  /** Bytes without a line end so far. */
  readonly held: () => number
  /** The last of those bytes; good until the next call of `push`. */
  readonly newest: () => Uint8Array
}
export type LineBufferOptions = {
  /** Whole lines; `offset` is where the first byte of `batch.bytes` is in the log. The batch is reused. */
  readonly onBatch: (batch: LineBatch, offset: number) => void
  /** A piece was cut off a line that is longer than `maxBytes`; the rest follows as a line of its own. */
  readonly onCut: () => void
  readonly maxBytes?: number
  /** Where the text of the line in `bytes[start, end)` begins: behind the time that an engine writes. Its first byte unless given. */
  readonly textAt?: (bytes: Buffer, start: number, end: number) => number
  /** To share one with other readers of the same log. */
  readonly batch?: LineBatch
}

const NEWLINE = 0x0a
const EMPTY = Buffer.alloc(0)
/** A carry of more is given back once its line is complete: hosts have hundreds of logs. */
const KEPT_BYTES = 8 * 1024
const NEWEST_BYTES = 1_024

export function createLineBuffer(options: LineBufferOptions): LineBuffer {
  const { onBatch, onCut, maxBytes = MAX_LINE_BYTES, textAt = (_, start) => start, batch = createBatch() } = options
  let carry: Buffer = EMPTY
  let carried = 0
  let carryOffset = 0
  /** Of `batch.bytes` in the log. */
  let batchOffset = 0

  const begin = (bytes: Buffer, from: number, offset: number): void => {
    batch.bytes = bytes
    batch.from = from
    batch.count = 0
    batchOffset = offset
  }
  const hand = (to: number): void => {
    batch.to = to
    if (batch.count > 0) onBatch(batch, batchOffset)
    batch.count = 0
    batch.from = to
  }
  const add = (start: number, end: number): void => {
    if (batch.count >= BATCH_LINES) hand(start)
    addLine(batch, start, textAt(batch.bytes, start, end), end, 0)
  }
  const keep = (chunk: Buffer, from: number, to: number): void => {
    const length = carried + to - from
    if (length > carry.length) {
      const larger = Buffer.allocUnsafe(Math.min(maxBytes, Math.max(1_024, length * 2)))
      carry.copy(larger, 0, 0, carried)
      carry = larger
    }
    chunk.copy(carry, carried, from, to)
    carried = length
  }
  const handCarry = (): void => {
    begin(carry, 0, carryOffset)
    add(0, carried)
    const length = carried
    carried = 0
    hand(length)
    if (carry.length > KEPT_BYTES) carry = EMPTY
  }

  return {
    push(chunk, offset = 0) {
      let at = 0
      if (carried > 0) {
        const newline = chunk.indexOf(NEWLINE)
        const end = newline < 0 ? chunk.length : newline
        at = Math.min(end, maxBytes - carried)
        keep(chunk, 0, at)
        if (at === end && newline < 0) return
        handCarry()
        if (at < end) onCut()
        else at = newline + 1
      }
      begin(chunk, at, offset)
      for (;;) {
        const newline = chunk.indexOf(NEWLINE, at)
        const end = newline < 0 ? chunk.length : newline
        for (; end - at > maxBytes; at += maxBytes) {
          add(at, at + maxBytes)
          onCut()
        }
        if (newline < 0) break
        add(at, end)
        at = newline + 1
      }
      hand(at)
      if (at === chunk.length) return
      carryOffset = offset + at
      keep(chunk, at, chunk.length)
    },
    finish() {
      if (carried > 0) handCarry()
    },
    reset() {
      carried = 0
    },
    newest: () => carry.subarray(Math.max(0, carried - NEWEST_BYTES), carried),
    held: () => carried,
  }
}
