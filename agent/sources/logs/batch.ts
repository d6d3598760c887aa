// Lines as they are in a buffer: offsets instead of an object per line, reused from block to block.

export type LineBatch = {
  bytes: Buffer
  /** The whole block, which may hold more than the lines' text (frame heads, times). */
  from: number
  to: number
  count: number
  /** Where the text of each line begins and ends, without its line end. */
  readonly starts: Int32Array
  readonly ends: Int32Array
  /** 0 unknown, 1 stdout, 2 stderr. */
  readonly parts: Uint8Array
  /** Where what is before the text begins: the time in engines' logs. Equal to the start where nothing does. */
  readonly heads: Int32Array
}

/** A block of 64 KiB holds at most so many lines that the engine frames with a time; others are handed on in several batches. */
export const BATCH_LINES = 2_048

export function createBatch(): LineBatch {
  return {
    bytes: Buffer.alloc(0),
    from: 0,
    to: 0,
    count: 0,
    starts: new Int32Array(BATCH_LINES),
    ends: new Int32Array(BATCH_LINES),
    parts: new Uint8Array(BATCH_LINES),
    heads: new Int32Array(BATCH_LINES),
  }
}

/** Adds a line; false when the batch is full. A trailing carriage return is not part of the text. */
export function addLine(batch: LineBatch, head: number, start: number, end: number, part: number): boolean {
  const at = batch.count
  if (at >= BATCH_LINES) return false
  batch.heads[at] = head
  batch.starts[at] = start
  batch.ends[at] = end > start && batch.bytes[end - 1] === 0x0d ? end - 1 : end
  batch.parts[at] = part
  batch.count = at + 1
  return true
}
