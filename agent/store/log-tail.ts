// The last lines of each container's log, for who looks at a job now: in memory alone, bounded in lines, characters and containers, secrets removed.
import { redact } from '../lib/redact.ts'
import type { Event } from '../model/event.ts'
import type { LogTailAnswer } from '../model/log-tail.ts'
import type { TakesEvents } from '../model/sink.ts'

const MAX_LINES = 300
const MAX_LOGS = 200
/** Of one log, and of all together. */
const MAX_LOG_CHARS = 256 * 1024
const MAX_CHARS = 4 * 1024 * 1024
/** Tracebacks come as one text of many lines; what is cut is said. */
const MAX_LINE_CHARS = 4_000

type Kept = { readonly t: number; readonly text: string; readonly seq: number }
type Log = { lines: Kept[]; chars: number; dropped: number }

export type LogTail = TakesEvents & {
  /** A line as its container printed it, whether it matters to a fault or not; its events are then left out. */
  readonly line: (containerId: string, t: number, text: string) => void
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
  /** Those whose lines come one by one: of a log that is read for faults alone, events have the lines around them. */
  const whole = new Set<string>()
  let seq = 0
  let chars = 0
  const dropFirst = (log: Log): void => {
    const [first] = log.lines.splice(0, 1)
    if (first === undefined) return
    log.chars -= first.text.length
    chars -= first.text.length
    log.dropped = first.seq
  }
  const take = (id: string, t: number, text: string): void => {
    const key = keyOf(id)
    const log = logs.get(key) ?? { lines: [], chars: 0, dropped: 0 }
    // The log that was heard of longest ago goes first.
    logs.delete(key)
    logs.set(key, log)
    const kept = text.slice(0, MAX_LINE_CHARS * 4)
    log.lines.push({ t, text: kept, seq: ++seq })
    log.chars += kept.length
    chars += kept.length
    while (log.lines.length > MAX_LINES || (log.chars > MAX_LOG_CHARS && log.lines.length > 1)) dropFirst(log)
    for (const [oldest, { chars: own }] of logs) {
      if ((logs.size <= MAX_LOGS && chars <= MAX_CHARS) || oldest === key) break
      logs.delete(oldest)
      whole.delete(oldest)
      chars -= own
    }
  }
  return {
    name: 'log tail',
    ingest(event: Event) {
      if (event.type !== 'log' || event.stream === 'kernel') return
      const { container_id: id } = event.origin
      if (id !== undefined && !whole.has(keyOf(id))) take(id, event.t, event.text)
    },
    line(containerId, t, text) {
      whole.add(keyOf(containerId))
      take(containerId, t, text)
    },
    read(containerId, after) {
      const log = logs.get(keyOf(containerId))
      if (log === undefined) return undefined
      // A number of before the agent's start is of another count.
      const from = after > seq ? 0 : after
      const lines = log.lines.filter((kept) => kept.seq > from)
      return {
        lines: lines.map(({ t, text }) => ({ t, text: shown(text) })),
        next: lines.at(-1)?.seq ?? from,
        ...(log.dropped > from && from > 0 ? { missed: true } : {}),
      }
    },
  }
}
