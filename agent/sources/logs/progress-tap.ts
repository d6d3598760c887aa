// Hands lines of a log to the reader of progress, a bounded number a second: the newest of them say it all, so a flood costs no more than a quiet log.
import { createProgressReader, type ProgressReader } from '../../progress/reader.ts'
import type { LineBatch } from './batch.ts'

export type ProgressTap = {
  /** `timeOf`: when the line was written, Unix ms. */
  readonly take: (batch: LineBatch, timeOf: (at: number) => number) => void
  /** The end of a line that goes on: bars put no line end for hours. */
  readonly open: (bytes: Uint8Array) => void
  readonly reader: ProgressReader
}

/** Lines a second, and in one go: what a job prints of itself, with room. */
const PER_SECOND = 40
const ALL_PER_SECOND = 200
const BURST = 40
/** Of a log that prints more, only the newest lines are looked for, so often. */
const FLOOD_MS = 2_500
const ALL_FLOOD_MS = 150
/** Bars that were overwritten in one line: the last is what stands there. */
const TAIL_BYTES = 1_024
/** A begun line is looked at so often; of many logs each less often. */
const OPEN_MS = 150
const ALL_OPEN_MS = 10
/** Words of lines that said something, by which more are found in a flood. */
const MAX_WORDS = 3
/** Before anything was said. */
const USUAL_WORDS: readonly string[] = ['it/s', 'loss', 'step', 'iter']
const WORD = /[A-Za-z_][A-Za-z_/]{3,24}/g

/** `logs`: how many share the time that is given to this. `wall`: Unix ms, of lines that have not ended. */
export function createProgressTap(logs: () => number = () => 1, now: () => number = () => performance.now(), wall: () => number = Date.now): ProgressTap {
  const reader = createProgressReader()
  let tokens = BURST
  let refilled = now()
  let floodedAt = Number.NEGATIVE_INFINITY
  let looks = 0
  let openedAt = Number.NEGATIVE_INFINITY
  const words = new Map<string, number>()
  /** The newest bar of a begun line that was over when it was read. */
  let newest = ''
  let begun = ''

  const refill = (): void => {
    const t = now()
    tokens = Math.min(BURST, tokens + ((t - refilled) / 1_000) * Math.min(PER_SECOND, ALL_PER_SECOND / logs()))
    refilled = t
  }
  /** The longest word that lines with progress share finds the next of them. */
  const learn = (text: string): void => {
    for (const [word] of text.matchAll(WORD)) {
      if (words.size < 64 || words.has(word)) words.set(word, (words.get(word) ?? 0) + 1)
    }
  }
  const read = (bytes: Uint8Array, start: number, end: number, ms: number): void => {
    const from = Math.max(start, end - TAIL_BYTES)
    let text = Buffer.from(bytes.buffer, bytes.byteOffset + from, end - from).toString('utf8')
    // Its first bar may be torn.
    if (from > start) text = text.slice(Math.max(0, text.indexOf('\r')))
    if (reader.push(text, ms / 1_000)) learn(text)
  }
  const readLine = (batch: LineBatch, at: number, timeOf: (at: number) => number): void => {
    tokens -= 1
    const start = batch.starts[at] ?? 0
    read(batch.bytes, start, batch.ends[at] ?? start, timeOf(at))
  }
  /** Of more lines than may be read: the newest with a word that was in lines before. Each look takes another of the best words, as a bar and a loss may stand on lines of their own. */
  const chosen = (batch: LineBatch): readonly number[] => {
    const best = [...words]
      .toSorted(([a, times], [b, others]) => others - times || b.length - a.length)
      .slice(0, MAX_WORDS)
      .map(([word]) => word)
    looks += 1
    const wanted = best.length === 0 ? USUAL_WORDS : [best[looks % best.length] ?? '']
    const places = wanted.map((word) => batch.bytes.lastIndexOf(word, batch.to - 1, 'latin1')).filter((place) => place >= batch.from)
    return [...new Set(places.map((place) => lineAt(batch, place)))].toSorted((a, b) => a - b)
  }

  return {
    take(batch, timeOf) {
      if (batch.count === 0) return
      refill()
      if (batch.count <= tokens) {
        for (let at = 0; at < batch.count; at++) readLine(batch, at, timeOf)
        return
      }
      tokens = 0
      if (now() - floodedAt < Math.max(FLOOD_MS, ALL_FLOOD_MS * logs())) return
      floodedAt = now()
      for (const at of chosen(batch)) readLine(batch, at, timeOf)
    },
    open(bytes) {
      if (now() - openedAt < Math.max(OPEN_MS, ALL_OPEN_MS * logs()) || bytes.length === 0) return
      openedAt = now()
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
      // What was read the last time still stands there, before what is new.
      const place = newest === '' ? -1 : text.lastIndexOf(newest)
      const behind = place < 0 ? text.slice(Math.max(0, text.indexOf('\r'))) : text.slice(place + newest.length)
      // So does the bar that was the last, or a piece of it: read again only where it has grown.
      const fresh = begun !== '' && (behind === begun || behind.startsWith(`${begun}\r`)) ? behind.slice(begun.length + 1) : behind
      const end = text.lastIndexOf('\r')
      begun = text.slice(end + 1)
      newest = end < 0 ? '' : text.slice(Math.max(text.lastIndexOf('\r', end - 1) + 1, end - TAIL_BYTES / 4), end + 1)
      if (fresh !== '' && reader.push(fresh, wall() / 1_000)) learn(fresh)
    },
    reader,
  }
}

/** The line in which a byte lies. */
function lineAt(batch: LineBatch, place: number): number {
  let [low, high] = [0, batch.count - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((batch.starts[middle] ?? 0) <= place) low = middle
    else high = middle - 1
  }
  return low
}
