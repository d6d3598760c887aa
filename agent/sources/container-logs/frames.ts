// Takes an engine's log stream apart: frames of 8 bytes head and one message (no terminal), or plain lines (terminal). Each begins with its time.
// Docker Engine API, "Attach to a container", stream format: [stream, 0, 0, 0, length as 32 bits big-endian].
import { addLine, createBatch, BATCH_LINES, type LineBatch } from '../logs/batch.ts'
import { createLineBuffer, MAX_LINE_BYTES } from '../logs/line-buffer.ts'

export type FrameReader = {
  /** The chunk is not kept after the call. */
  readonly push: (chunk: Buffer) => void
  /** The stream has ended: what was begun counts as complete. */
  readonly end: () => void
}
export type FrameReaderOptions = {
  /** Complete lines; `heads` are where the times begin. The batch is reused. */
  readonly onBatch: (batch: LineBatch) => void
  /** Lines longer than is kept come in pieces. */
  readonly onCut: () => void
}
export class FrameError extends Error {
  override readonly name = 'FrameError'
}

const HEAD = 8
const NEWLINE = 0x0a
const SPACE = 0x20
/** A time and the space after it. */
const MAX_STAMP = 64
const CAPACITY = MAX_LINE_BYTES + MAX_STAMP

/** Where the text begins: after the time and its space. Equal to `start` where there is no time. */
function afterStamp(bytes: Buffer, start: number, end: number): number {
  const limit = Math.min(end, start + MAX_STAMP)
  for (let at = start; at < limit; at++) if (bytes[at] === SPACE) return bytes[start] === 0x32 ? at + 1 : start
  return start
}

export function createFrameReader({ onBatch, onCut }: FrameReaderOptions): FrameReader {
  const batch = createBatch()
  /** Of a terminal. */
  const lines = createLineBuffer({ onBatch, onCut, maxBytes: CAPACITY, textAt: afterStamp, batch })
  let framed: boolean | undefined
  /** A message that a chunk's end tore apart. */
  let carry = Buffer.alloc(0)
  let carried = 0
  /** Of the carried frame, head included; 0 while its head is not complete. */
  let frameLength = 0
  /** Bytes of a message that is too long, still to come. */
  let skipping = 0
  /** Messages without a line end (Docker splits at 16 KiB), by part: they go on in the next frame. */
  const partial: (Buffer[] | undefined)[] = []
  const partialBytes: number[] = []

  const begin = (bytes: Buffer, from: number): void => {
    batch.bytes = bytes
    batch.from = from
    batch.count = 0
  }
  const hand = (to: number): void => {
    batch.to = to
    if (batch.count > 0) onBatch(batch)
    batch.count = 0
    batch.from = to
  }
  const finish = (part: number): void => {
    const pieces = partial[part]
    if (pieces === undefined) return
    partial[part] = undefined
    partialBytes[part] = 0
    const whole = Buffer.concat(pieces)
    const batchOf = createSmallBatch(whole)
    const end = whole.at(-1) === NEWLINE ? whole.length - 1 : whole.length
    addLine(batchOf, 0, afterStamp(whole, 0, whole.length), end, part)
    batchOf.to = whole.length
    onBatch(batchOf)
  }
  const piece = (bytes: Buffer, from: number, to: number, part: number): void => {
    const pieces = (partial[part] ??= [])
    // The time of the first piece is the message's; those of the others are taken out.
    const start = pieces.length === 0 ? from : afterStamp(bytes, from, to)
    pieces.push(Buffer.from(bytes.subarray(start, to)))
    partialBytes[part] = (partialBytes[part] ?? 0) + to - start
  }
  /** One message; `to` is after its line end, if it has one. */
  const message = (bytes: Buffer, from: number, to: number, part: number, frameStart: number, next: number): void => {
    if (to <= from) return
    const complete = bytes[to - 1] === NEWLINE
    if (complete && partial[part] === undefined) {
      if (batch.count >= BATCH_LINES) hand(frameStart)
      addLine(batch, from, afterStamp(bytes, from, to), to - 1, part)
      return
    }
    hand(frameStart)
    piece(bytes, from, to, part)
    const long = (partialBytes[part] ?? 0) >= MAX_LINE_BYTES
    if (long && !complete) onCut()
    if (complete || long) finish(part)
    batch.bytes = bytes
    batch.from = next
  }
  /** A message of more than is kept: its beginning is judged, the rest passed over. */
  const oversized = (length: number): boolean => length - HEAD > CAPACITY

  const pushFrames = (chunk: Buffer): void => {
    let at = 0
    if (skipping > 0) {
      at = Math.min(skipping, chunk.length)
      skipping -= at
    }
    while (carried > 0 && at < chunk.length) {
      if (carried < HEAD) {
        const take = Math.min(HEAD - carried, chunk.length - at)
        carry.set(chunk.subarray(at, at + take), carried)
        carried += take
        at += take
        if (carried < HEAD) return
        frameLength = checkedLength(carry, 0)
      }
      const wanted = Math.min(frameLength, CAPACITY + HEAD)
      if (carry.length < wanted) carry = Buffer.concat([carry.subarray(0, carried)], wanted)
      const take = Math.min(wanted - carried, chunk.length - at)
      carry.set(chunk.subarray(at, at + take), carried)
      carried += take
      at += take
      if (carried < wanted) return
      begin(carry, 0)
      message(carry, HEAD, wanted, carry[0] ?? 0, 0, wanted)
      hand(wanted)
      if (oversized(frameLength)) onCut()
      skipping = frameLength - wanted
      carried = 0
      const passed = Math.min(skipping, chunk.length - at)
      skipping -= passed
      at += passed
    }
    begin(chunk, at)
    while (at + HEAD <= chunk.length) {
      const length = checkedLength(chunk, at)
      if (at + length > chunk.length) break
      if (oversized(length)) break
      message(chunk, at + HEAD, at + length, chunk[at] ?? 0, at, at + length)
      at += length
    }
    hand(at)
    if (at < chunk.length) keep(chunk, at)
  }
  const keep = (chunk: Buffer, from: number): void => {
    const rest = chunk.subarray(from)
    if (rest.length >= HEAD) {
      frameLength = checkedLength(rest, 0)
      const wanted = Math.min(frameLength, CAPACITY + HEAD)
      if (rest.length >= wanted) {
        // Only what is too long comes here whole.
        begin(chunk, from)
        message(chunk, from + HEAD, from + wanted, chunk[from] ?? 0, from, from + wanted)
        hand(from + wanted)
        onCut()
        const passed = Math.min(frameLength, rest.length)
        skipping = frameLength - passed
        if (passed < rest.length) pushFrames(Buffer.from(rest.subarray(passed)))
        return
      }
      if (carry.length < wanted || carry.length > 4 * Math.max(wanted, 1_024)) carry = Buffer.allocUnsafe(wanted)
    } else if (carry.length < HEAD) carry = Buffer.allocUnsafe(1_024)
    carry.set(rest, 0)
    carried = rest.length
  }
  return {
    push(chunk) {
      if (chunk.length === 0) return
      // With times asked for, a terminal's log begins with a digit, a frame with 0, 1 or 2 as a byte.
      framed ??= (chunk[0] ?? 0) <= 2
      if (framed) pushFrames(chunk)
      else lines.push(chunk)
    },
    end() {
      if (framed === true && carried > HEAD) message(carry, HEAD, carried, carry[0] ?? 0, 0, carried)
      else if (framed === false) lines.finish()
      carried = 0
      for (const part of partial.keys()) finish(part)
    },
  }
}

function createSmallBatch(bytes: Buffer): LineBatch {
  return { bytes, from: 0, to: bytes.length, count: 0, starts: new Int32Array(1), ends: new Int32Array(1), parts: new Uint8Array(1), heads: new Int32Array(1) }
}

/** Head and message together. */
function checkedLength(bytes: Buffer, at: number): number {
  const stream = bytes[at] ?? 255
  if (stream > 3 || bytes[at + 1] !== 0 || bytes[at + 2] !== 0 || bytes[at + 3] !== 0)
    throw new FrameError(`the log stream has no frame head (0-3,0,0,0,length) where one must begin, but ${bytes.subarray(at, at + HEAD).toString('hex')}`)
  return HEAD + bytes.readUInt32BE(at + 4)
}
