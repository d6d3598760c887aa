// Puts lines that belong together into one text: tracebacks, messages over several lines. Pure: time comes with the lines.
// Several processes often write into one log (ranks, workers), so each prefix has its own open message.
import { beginsRecord, writerOf } from '../../text/line-prefix.ts'

export type JoinLine<Mark> = {
  /** Unix ms at which it was written. */
  readonly t: number
  readonly text: string
  /** Lines of different parts (stdout, stderr) are never one message. */
  readonly part: number
  readonly mark: Mark
}
export type Joined<Mark> = {
  /** Of its first line. */
  readonly t: number
  readonly text: string
  /** The mark that counts most, see `prefer`. */
  readonly mark: Mark
}
export type JoinerOptions<Mark> = {
  readonly emit: (joined: Joined<Mark>) => void
  /** Which of two marks a message keeps. */
  readonly prefer: (before: Mark, next: Mark) => Mark
  /** A message is complete after so much silence. */
  readonly quietMs?: number
  /** It is told after so long even while it goes on. */
  readonly maxAgeMs?: number
  readonly maxBytes?: number
  readonly maxLines?: number
}
export type Joiner<Mark> = {
  /** `now`: any clock that `advance` uses too. */
  readonly push: (line: JoinLine<Mark>, now: number) => void
  /** Tells what is complete by now; gives the time of the next call, undefined when nothing is open. */
  readonly advance: (now: number) => number | undefined
  /** Tells everything that is open. */
  readonly flush: () => void
  readonly open: () => boolean
}

type Mode = 'plain' | 'trace' | 'message'
type Open<Mark> = {
  readonly t: number
  readonly since: number
  touched: number
  lastT: number
  lines: string[]
  bytes: number
  mode: Mode
  /** Lines after the exception's own. */
  tail: number
  mark: Mark
}

const TRACEBACK = /^Traceback \(most recent call last\):/
const CHAIN = /^(?:During handling of the above exception|The above exception was the direct cause)/
const TROUBLE = /error|exception|fatal|failed|terminate called|panic|assert|abort|segmentation/i
const CLOSER = /^[)}\]]+[,;]?\s*$/
/** Lines of one message come at once; a pause means that something else speaks. */
const SAME_BURST_MS = 50
const MAX_TAIL = 40
const MAX_OPEN = 16

export function createJoiner<Mark>(options: JoinerOptions<Mark>): Joiner<Mark> {
  const { emit, prefer, quietMs = 100, maxAgeMs = 250, maxBytes = 64 * 1024, maxLines = 200 } = options
  const groups = new Map<string, Open<Mark>>()

  const close = (key: string, group: Open<Mark>): void => {
    groups.delete(key)
    while (group.lines.length > 1 && group.lines.at(-1)?.trim() === '') group.lines.pop()
    const text = group.lines.join('\n')
    if (text.trim() !== '') emit({ t: group.t, text, mark: group.mark })
  }
  const begin = (key: string, line: JoinLine<Mark>, body: string, now: number): void => {
    if (groups.size >= MAX_OPEN) {
      const oldest = groups.entries().next().value
      if (oldest !== undefined) close(oldest[0], oldest[1])
    }
    const mode: Mode = TRACEBACK.test(body) ? 'trace' : TROUBLE.test(body.slice(0, 512)) ? 'message' : 'plain'
    groups.set(key, {
      t: line.t,
      since: now,
      touched: now,
      lastT: line.t,
      lines: [line.text],
      bytes: Buffer.byteLength(line.text),
      mode,
      tail: 0,
      mark: line.mark,
    })
  }
  const belongs = (group: Open<Mark>, body: string, t: number): boolean => {
    if (body === '') return group.mode !== 'plain'
    const first = body.charCodeAt(0)
    if (first === 0x20 || first === 0x09) return true
    // Before the traceback stands what the logger said of it, or the sentence that chains it to the one above.
    if (TRACEBACK.test(body)) return group.tail === 0 && group.mode !== 'trace' ? group.lines.length === 1 : CHAIN.test(lastText(group.lines))
    if (CHAIN.test(body)) return group.mode !== 'plain'
    if (CLOSER.test(body)) return true
    if (beginsRecord(body)) return false
    if (group.mode === 'trace') return true
    return group.mode === 'message' && group.tail < MAX_TAIL && Math.abs(t - group.lastT) <= SAME_BURST_MS
  }

  return {
    push(line, now) {
      const prefix = writerOf(line.text)
      const body = line.text.slice(prefix.length)
      const key = `${line.part} ${prefix}`
      const group = groups.get(key)
      if (group === undefined) return begin(key, line, body, now)
      const bytes = Buffer.byteLength(line.text) + 1
      const full = group.lines.length >= maxLines || group.bytes + bytes > maxBytes
      if (full || !belongs(group, body, line.t)) {
        close(key, group)
        return begin(key, line, body, now)
      }
      group.lines.push(line.text)
      group.bytes += bytes
      group.touched = now
      group.lastT = line.t
      group.mark = prefer(group.mark, line.mark)
      if (TRACEBACK.test(body) || CHAIN.test(body)) group.mode = 'trace'
      else if (body !== '' && !/^[ \t]/.test(body)) {
        if (group.mode === 'trace') [group.mode, group.tail] = ['message', 0]
        else group.tail++
      }
    },
    advance(now) {
      let next: number | undefined
      for (const [key, group] of groups) {
        const due = Math.min(group.touched + quietMs, group.since + maxAgeMs)
        if (due <= now) close(key, group)
        else next = Math.min(next ?? due, due)
      }
      return next
    },
    flush() {
      for (const [key, group] of groups) close(key, group)
    },
    open: () => groups.size > 0,
  }
}

function lastText(lines: readonly string[]): string {
  const found = lines.findLast((line) => line.trim() !== '') ?? ''
  return found.slice(writerOf(found).length)
}
