// Hands lines of a log to the reader of progress, a bounded number a second: the newest of them say it all, so a flood costs no more than a quiet log.
import { createProgressReader, type ProgressReader } from '../../progress/reader.ts'
import type { LineBatch } from './batch.ts'

export type ProgressTap = {
  /** `timeOf`: when the line was written, Unix ms. */
  readonly take: (batch: LineBatch, timeOf: (at: number) => number) => void
  /** The end of a line that goes on: bars put no line end for hours. */
  readonly open: (bytes: Uint8Array) => void
  /** Reads what a flood ended with, once it is over. */
  readonly settle: () => void
  readonly reader: ProgressReader
}

/** Lines a second, and in one go: what a job prints of itself, with room. */
const PER_SECOND = 40
const ALL_PER_SECOND = 200
const BURST = 40
/** Of a log that prints more, only the newest lines are looked for, so often. */
const FLOOD_MS = 2_500
const ALL_FLOOD_MS = 150
/** A flood is over when no more than a few lines came for so long; what it ended with is kept until then. */
const CALM_MS = 600
const KEPT_BYTES = 2_048
/** Bars that were overwritten in one line: the last is what is there. */
const TAIL_BYTES = 1_024
/** A begun line is looked at so often; of many logs each less often. */
const OPEN_MS = 150
const ALL_OPEN_MS = 10
/** Words of lines that said something, by which more are found in a flood. */
const MAX_WORDS = 3
const NEWLINE = 0x0a
/** Before anything was said. */
const USUAL_WORDS: readonly string[] = ['it/s', 'loss', 'step', 'iter']
const WORD = /[A-Za-z_][A-Za-z_/]{3,24}/g

/** `logs`: how many share the time that is given to this. `wall`: Unix ms, of lines that have not ended. */
export function createProgressTap(logs: () => number = () => 1, now: () => number = () => performance.now(), wall: () => number = Date.now): ProgressTap {
  const reader = createProgressReader()
  let tokens = BURST
  let refilled = now()
  let floodedAt = Number.NEGATIVE_INFINITY
  /** When more lines came than may be read. */
  let floodSeen = Number.NEGATIVE_INFINITY
  /** One for all that is kept: a flood comes in many pieces. */
  let room: Buffer | undefined
  let unread: { readonly bytes: Buffer; readonly ms: number } | undefined
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
    if (reader.push(newestBars(text), ms / 1_000)) learn(text)
  }
  const readLine = (batch: LineBatch, at: number, timeOf: (at: number) => number): void => {
    tokens -= 1
    const start = batch.starts[at] ?? 0
    read(batch.bytes, start, batch.ends[at] ?? start, timeOf(at))
  }
  /** Where the newest lines stand that have a word that was in lines before. Each look takes another of the best words, as a bar and a loss may be on lines of their own. */
  const placesIn = (bytes: Buffer, from: number, to: number): readonly number[] => {
    const best = [...words]
      .toSorted(([a, times], [b, others]) => others - times || b.length - a.length)
      .slice(0, MAX_WORDS)
      .map(([word]) => word)
    looks += 1
    const wanted = best.length === 0 ? USUAL_WORDS : [best[looks % best.length] ?? '']
    return wanted.map((word) => bytes.lastIndexOf(word, to - 1, 'latin1')).filter((place) => place >= from)
  }
  const chosen = (batch: LineBatch): readonly number[] =>
    [...new Set(placesIn(batch.bytes, batch.from, batch.to).map((place) => lineAt(batch, place)))].toSorted((a, b) => a - b)
  /** The end of lines that are not read now. */
  const keep = (batch: LineBatch, timeOf: (at: number) => number): void => {
    room ??= Buffer.allocUnsafe(KEPT_BYTES)
    const length = batch.bytes.copy(room, 0, Math.max(batch.from, batch.to - KEPT_BYTES), batch.to)
    unread = { bytes: room.subarray(0, length), ms: timeOf(batch.count - 1) }
  }
  const readKept = ({ bytes, ms }: { readonly bytes: Buffer; readonly ms: number }): void => {
    const lines = placesIn(bytes, 0, bytes.length).map((place) => bytes.lastIndexOf(NEWLINE, place) + 1)
    for (const start of [...new Set(lines)].toSorted((a, b) => a - b)) {
      const end = bytes.indexOf(NEWLINE, start)
      read(bytes, start, end < 0 ? bytes.length : end, ms)
    }
  }

  return {
    take(batch, timeOf) {
      if (batch.count === 0) return
      refill()
      const t = now()
      const many = batch.count > tokens
      if (many) [floodSeen, tokens] = [t, 0]
      if (!many && t - floodSeen >= CALM_MS) {
        unread = undefined
        for (let at = 0; at < batch.count; at++) readLine(batch, at, timeOf)
        return
      }
      if (t - floodedAt < Math.max(FLOOD_MS, ALL_FLOOD_MS * logs())) return keep(batch, timeOf)
      floodedAt = t
      unread = undefined
      for (const at of chosen(batch)) readLine(batch, at, timeOf)
    },
    open(bytes) {
      if (now() - openedAt < Math.max(OPEN_MS, ALL_OPEN_MS * logs()) || bytes.length === 0) return
      openedAt = now()
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
      // What was read the last time still is there, before what is new.
      const place = newest === '' ? -1 : text.lastIndexOf(newest)
      const behind = place < 0 ? text.slice(Math.max(0, text.indexOf('\r'))) : text.slice(place + newest.length)
      // So does the bar that was the last, or a piece of it: read again only where it has grown.
      const fresh = begun !== '' && (behind === begun || behind.startsWith(`${begun}\r`)) ? behind.slice(begun.length + 1) : behind
      const end = text.lastIndexOf('\r')
      begun = text.slice(end + 1)
      newest = end < 0 ? '' : text.slice(Math.max(text.lastIndexOf('\r', end - 1) + 1, end - TAIL_BYTES / 4), end + 1)
      if (fresh !== '' && reader.push(newestBars(fresh), wall() / 1_000)) learn(fresh)
    },
    settle() {
      if (unread === undefined || now() - floodSeen < CALM_MS) return
      readKept(unread)
      unread = undefined
    },
    reader,
  }
}

/** Without figures and bars: what is left is the same each time a bar is redrawn. */
const DRAWN = /[\d.,:?%\u2500-\u259f#=>-]+/g
/** Of bars that were drawn over one another the newest of each; what came before it, it says too. */
function newestBars(text: string): string {
  const drawn = text.split('\r')
  if (drawn.length < 3) return text
  const seen = new Set<string>()
  const kept: string[] = []
  for (const bar of drawn.toReversed()) {
    const name = bar.slice(0, 160).replace(DRAWN, '')
    if (seen.has(name)) continue
    seen.add(name)
    kept.push(bar)
  }
  return kept.toReversed().join('\r')
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
