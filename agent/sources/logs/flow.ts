// From lines in a buffer to events: looks for what matters, adds the lines around it, joins what belongs together. One per log.
import type { LogLine, LogOrigin, LogStream } from '../../model/event.ts'
import { withoutColours } from '../../text/line-prefix.ts'
import type { LineBatch } from './batch.ts'
import { createJoiner } from './joiner.ts'
import { MAX_LINE_BYTES } from './line-buffer.ts'
import type { LogTail } from './log-tail.ts'
import type { LogCounters } from './metrics.ts'
import type { Prefilter } from './prefilter.ts'
import type { LogTap } from './progress-book.ts'

export type FlowOptions = {
  readonly stream: LogStream
  readonly origin: () => LogOrigin
  readonly interesting: Prefilter
  readonly emit: (line: LogLine) => void
  readonly counters: LogCounters
  /** What the job says of its progress is read too. */
  readonly progress?: LogTap
  /** Keeps the last lines, whatever they are. */
  readonly tail?: LogTail
  /** Takes lines as they were printed, for who looks at the log now. */
  readonly show?: (t: number, text: string) => void
  /** false: each line is a message of its own and is reported at once (the kernel's records). */
  readonly join?: boolean
  /** Lines before and after one that matters. */
  readonly before?: number
  readonly after?: number
}
/** What the source knows of a line beside its bytes; asked only for lines that are reported. */
export type LineFacts = {
  /** Unix ms. */
  readonly timeOf: (batch: LineBatch, at: number) => number
  readonly cursorOf?: (batch: LineBatch, at: number) => string
}
export type LogFlow = {
  readonly take: (batch: LineBatch, facts: LineFacts) => void
  /** Runs `commit` when all that was taken so far has been told; a later call replaces one that still waits. */
  readonly settle: (commit: () => void) => void
  /** The log has ended: what is open is complete. */
  readonly end: () => void
}

type Remembered = { readonly text: string; readonly t: number; readonly part: number }
type Mark = string | undefined

const MAX_CONTEXT_BYTES = 2 * 1024
/** Events in one go, and a second: a log that prints nothing but faults must not take the agent's time from sampling. */
const BURST = 4_000
/** A mark is told at most so often for one log: only the newest counts. */
const MARK_EVERY_MS = 10_000
const PER_SECOND = 500
/** Lines that are shown, a second and in one go; of a log that prints more, the end of each piece that is read. */
const SHOWN_PER_SECOND = 1_000
const SHOWN_IN_FLOOD = 20

/** Colours go, and what a progress bar overwrote becomes a line of its own. */
function plain(text: string): string {
  const clean = withoutColours(text)
  return clean.includes('\r') ? clean.replace(/\r+/g, '\n') : clean
}

export function createLogFlow(options: FlowOptions): LogFlow {
  const { stream, origin, interesting, emit, counters, join = true, before = 20, after = 10 } = options
  let ring: Remembered[] = []
  let following = 0
  let timer: NodeJS.Timeout | undefined
  let waiting: (() => void) | undefined
  let tokens = BURST
  let refilled = performance.now()
  let markedAt = Number.NEGATIVE_INFINITY

  const send = (t: number, text: string, mark: Mark, level: number | undefined): void => {
    const now = performance.now()
    tokens = Math.min(BURST, tokens + ((now - refilled) / 1000) * PER_SECOND)
    refilled = now
    if (tokens < 1) return counters.skip('rate_limited')
    tokens--
    const cursor = mark === undefined ? {} : { cursor: mark }
    emit({ type: 'log', t, stream, origin: origin(), text, ...cursor, ...(level === undefined ? {} : { level }) })
  }
  const joiner = createJoiner<Mark>({ prefer: (first, next) => next ?? first, emit: ({ t, text, mark }) => send(t, text, mark, undefined) })
  const settled = (): void => {
    const commit = waiting
    waiting = undefined
    commit?.()
  }
  const advance = (): void => {
    timer = undefined
    const next = joiner.advance(performance.now())
    if (next === undefined) settled()
    else timer = setTimeout(advance, Math.max(1, next - performance.now()))
  }
  const tell = (text: string, t: number, part: number, mark: Mark): void => {
    if (!join) return send(t, plain(text), mark, stream === 'kernel' ? part : undefined)
    joiner.push({ t, text: plain(text), part, mark }, performance.now())
    timer ??= setTimeout(advance, 100)
  }
  const tellRing = (): void => {
    for (const { text, t, part } of ring) tell(Buffer.from(text, 'latin1').toString('utf8'), t, part, undefined)
    ring = []
  }
  let shownTokens = SHOWN_PER_SECOND
  let shownAt = performance.now()
  const showLines = (show: (t: number, text: string) => void, batch: LineBatch, facts: LineFacts): void => {
    const now = performance.now()
    shownTokens = Math.min(SHOWN_PER_SECOND, shownTokens + ((now - shownAt) / 1000) * SHOWN_PER_SECOND)
    shownAt = now
    const first = batch.count <= shownTokens ? 0 : Math.max(0, batch.count - SHOWN_IN_FLOOD)
    shownTokens = Math.max(0, shownTokens - (batch.count - first))
    for (let at = first; at < batch.count; at++) {
      const start = batch.starts[at] ?? 0
      show(facts.timeOf(batch, at), plain(batch.bytes.toString('utf8', start, Math.min(batch.ends[at] ?? 0, start + MAX_LINE_BYTES))))
    }
  }
  const remember = (batch: LineBatch, facts: LineFacts, from: number): void => {
    const first = Math.max(from, batch.count - before)
    if (first < batch.count && batch.count - first >= before) ring = []
    for (let at = first; at < batch.count; at++) rememberOne(batch, facts, at)
  }
  const rememberOne = (batch: LineBatch, facts: LineFacts, at: number): void => {
    const start = batch.starts[at] ?? 0
    const end = Math.min(batch.ends[at] ?? 0, start + MAX_CONTEXT_BYTES)
    // Flat copies: a slice of the block would keep it alive, and latin1 costs no decoding.
    ring.push({ text: batch.bytes.toString('latin1', start, end), t: facts.timeOf(batch, at), part: batch.parts[at] ?? 0 })
    if (ring.length > before) ring.shift()
  }

  return {
    take(batch, facts) {
      if (batch.count === 0) return
      counters.read(batch.count, batch.to - batch.from)
      options.tail?.take(batch)
      if (options.show !== undefined) showLines(options.show, batch, facts)
      options.progress?.take(batch, (at) => facts.timeOf(batch, at))
      if (following === 0 && !interesting(batch.bytes, batch.from, batch.to)) return remember(batch, facts, 0)
      for (let at = 0; at < batch.count; at++) {
        const start = batch.starts[at] ?? 0
        const end = batch.ends[at] ?? 0
        const found = interesting(batch.bytes, start, end)
        const hit = found === true
        const mark = found === 'mark' && performance.now() - markedAt >= MARK_EVERY_MS
        if (mark) markedAt = performance.now()
        if (!hit && !mark && following === 0) {
          rememberOne(batch, facts, at)
          continue
        }
        if (hit) tellRing()
        following = hit ? after : Math.max(0, following - 1)
        const length = Math.min(end - start, hit ? MAX_LINE_BYTES : MAX_CONTEXT_BYTES)
        tell(batch.bytes.toString('utf8', start, start + length), facts.timeOf(batch, at), batch.parts[at] ?? 0, facts.cursorOf?.(batch, at))
      }
    },
    settle(commit) {
      waiting = commit
      if (!joiner.open()) settled()
    },
    end() {
      options.progress?.end()
      clearTimeout(timer)
      timer = undefined
      joiner.flush()
      following = 0
      settled()
    },
  }
}
