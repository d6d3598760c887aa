// How the lines of a file are written: plain, by Docker (json-file) or by a CRI runtime. Told by the first line, never by configuration:
// Podman says json-file and writes CRI.
import { criHead } from '../../text/line-prefix.ts'
import { addLine, type LineBatch } from '../logs/batch.ts'
import { MAX_LINE_BYTES } from '../logs/line-buffer.ts'

export type Format = 'plain' | 'json' | 'cri'

export function sniff(line: string): Format {
  if (line.startsWith('{') && line.includes('"log":')) return 'json'
  return criHead(line) === undefined ? 'plain' : 'cri'
}

/** A line as its program printed it. */
export type Printed = { readonly text: string; readonly stamp: string; readonly part: number; readonly partial: boolean }

/** One line of a json-file: `{"log":"…\n","stream":"stderr","time":"…"}`; the line end is missing where Docker split a long line. */
export function parseJsonLine(line: string): Printed | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null || !('log' in parsed) || typeof parsed.log !== 'string') return undefined
  const stream = 'stream' in parsed ? parsed.stream : undefined
  const stamp = 'time' in parsed && typeof parsed.time === 'string' ? parsed.time : ''
  const partial = !parsed.log.endsWith('\n')
  return { text: partial ? parsed.log : parsed.log.slice(0, -1), stamp, part: stream === 'stderr' ? 2 : 1, partial }
}

/** One line of a CRI file: `TIME stdout F text`; P where the runtime split a long line. */
export function parseCriLine(line: string): Printed | undefined {
  const head = criHead(line)
  if (head === undefined) return undefined
  const { stamp, stream, partial, length } = head
  return { text: line.slice(length), stamp, part: stream === 'stderr' ? 2 : 1, partial }
}

export type Decoder = {
  /** Adds the lines of `bytes[from, to)`, which ends with a line end; times are asked by index. */
  readonly lines: (printed: Printed) => void
}

/** Joins the parts of split lines and hands each whole one on as a batch of one. */
export function createAssembler(hand: (batch: LineBatch, stamp: string) => void, onCut: () => void): Decoder {
  const batch: LineBatch = {
    bytes: Buffer.alloc(0),
    from: 0,
    to: 0,
    count: 0,
    starts: new Int32Array(1),
    ends: new Int32Array(1),
    parts: new Uint8Array(1),
    heads: new Int32Array(1),
  }
  const open: ({ text: string; readonly stamp: string } | undefined)[] = []
  const whole = (text: string, stamp: string, part: number): void => {
    batch.bytes = Buffer.from(text, 'utf8')
    batch.to = batch.bytes.length
    batch.count = 0
    addLineOne(batch, part)
    hand(batch, stamp)
  }
  return {
    lines({ text, stamp, part, partial }) {
      const begun = open[part]
      const joined = begun === undefined ? text : begun.text + text
      const long = joined.length >= MAX_LINE_BYTES
      if (partial && !long) {
        open[part] = { text: joined, stamp: begun?.stamp ?? stamp }
        return
      }
      open[part] = undefined
      if (partial) onCut()
      whole(joined, begun?.stamp ?? stamp, part)
    },
  }
}
const addLineOne = (batch: LineBatch, part: number): boolean => addLine(batch, 0, 0, batch.to, part)
