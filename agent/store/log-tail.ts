// The last lines of each container's log, for who looks at a job now: in memory alone, bounded in lines, characters and containers, secrets removed.
import { redact } from '../lib/redact.ts'
import type { Event, LogLine } from '../model/event.ts'
import type { LogTailAnswer } from '../model/log-tail.ts'
import type { TakesEvents } from '../model/sink.ts'

const MAX_LINES = 300
const MAX_LOGS = 200
/** Of one log, and of all together. */
const MAX_LOG_CHARS = 256 * 1024
const MAX_CHARS = 4 * 1024 * 1024
/** Tracebacks come as one text of many lines; what is cut is said. */
const MAX_LINE_CHARS = 4_000

type Kept = { readonly line: LogLine; readonly seq: number }
type Log = { lines: Kept[]; chars: number; dropped: number }

export type LogTail = TakesEvents & {
  /** The lines after this number, oldest first; undefined: nothing was heard of this container. */
  readonly read: (containerId: string, after: number) => LogTailAnswer | undefined
}

const keyOf = (id: string): string => id.slice(0, 12)

function shown(text: string): string {
  // Cut before redacting would leave half a secret that no pattern knows, so a margin is redacted with it.
  const clean = redact(text.slice(0, MAX_LINE_CHARS * 2))
  return clean.length > MAX_LINE_CHARS ? `${clean.slice(0, MAX_LINE_CHARS)} … (${text.length - MAX_LINE_CHARS} more characters)` : clean
}

export function createLogTail(): LogTail {
  const logs = new Map<string, Log>()
  let seq = 0
  let chars = 0
  const dropFirst = (log: Log): void => {
    const [first] = log.lines.splice(0, 1)
    if (first === undefined) return
    log.chars -= first.line.text.length
    chars -= first.line.text.length
    log.dropped = first.seq
  }
  const take = (line: LogLine, id: string): void => {
    const key = keyOf(id)
    const log = logs.get(key) ?? { lines: [], chars: 0, dropped: 0 }
    // The log that was heard of longest ago goes first.
    logs.delete(key)
    logs.set(key, log)
    const kept = line.text.length > MAX_LINE_CHARS * 4 ? { ...line, text: line.text.slice(0, MAX_LINE_CHARS * 4) } : line
    log.lines.push({ line: kept, seq: ++seq })
    log.chars += kept.text.length
    chars += kept.text.length
    while (log.lines.length > MAX_LINES || (log.chars > MAX_LOG_CHARS && log.lines.length > 1)) dropFirst(log)
    for (const [oldest, { chars: own }] of logs) {
      if ((logs.size <= MAX_LOGS && chars <= MAX_CHARS) || oldest === key) break
      logs.delete(oldest)
      chars -= own
    }
  }
  return {
    name: 'log tail',
    ingest(event: Event) {
      if (event.type === 'log' && event.stream !== 'kernel' && event.origin.container_id !== undefined) take(event, event.origin.container_id)
    },
    read(containerId, after) {
      const log = logs.get(keyOf(containerId))
      if (log === undefined) return undefined
      // A number of before the agent's start is of another count.
      const from = after > seq ? 0 : after
      const lines = log.lines.filter((kept) => kept.seq > from)
      return {
        lines: lines.map(({ line }) => ({ t: line.t, text: shown(line.text) })),
        next: lines.at(-1)?.seq ?? from,
        ...(log.dropped > from && from > 0 ? { missed: true } : {}),
      }
    },
  }
}
