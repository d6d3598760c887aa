// The same for a log that is too long to be held: what is around its lines is learnt from the first of them.
import { createLineSplitter } from '../../text/line-splitter.ts'
import { unwrapping } from './unwrap.ts'

/** As much of the log as is looked at. */
const SAMPLE_BYTES = 65_536
/** Longer lines are cut: a notebook's pictures. */
const LONGEST = 2 ** 20

/** The bytes as they come where nothing is around the lines; else each piece line by line. A piece holds until the next is asked for. `counted`: see `unwrapping`. */
export function* unwrappedChunks(chunks: Iterable<Uint8Array>, counted = false): Generator<Uint8Array> {
  let open: ((line: string) => string) | undefined
  let isFirst = true
  const decoder = new TextDecoder()
  const encoder = new TextEncoder()
  const splitter = createLineSplitter({ maxChars: LONGEST, overlong: 'cut' })
  const plain = (lines: readonly string[]): Uint8Array => encoder.encode(lines.map((line) => `${open?.(line) ?? line}\n`).join(''))
  for (const chunk of chunks) {
    if (isFirst) open = unwrapping(decoder.decode(chunk.subarray(0, SAMPLE_BYTES)).split(/\r?\n/).slice(0, -1), counted)
    isFirst = false
    if (open === undefined) yield chunk
    else yield plain([...splitter.push(decoder.decode(chunk, { stream: true }))])
  }
  if (open !== undefined) yield plain([...splitter.push(decoder.decode()), ...splitter.end()])
}
