// The last lines of each log, so that an incident can show what was around its fault. Bounded in lines, characters and logs; secrets removed.
import { redact } from '../../lib/redact.ts'
import type { LogLine } from '../../model/event.ts'
import type { IncidentLogLine } from '../../model/incident.ts'

const LINES_PER_LOG = 30
const MAX_LOGS = 500
/** Tracebacks come as one text of many lines; what is cut is said. */
const MAX_CHARS = 4_000

export type LogMemory = {
  readonly add: (line: LogLine) => void
  /** The lines before and with the newest one of this log, oldest first. */
  readonly recent: (line: LogLine, limit: number) => readonly IncidentLogLine[]
}

export const logKey = ({ stream, origin }: LogLine): string => `${stream} ${origin.container_id ?? origin.container ?? origin.path ?? ''}`

export function keptLine({ t, stream, origin, text }: LogLine): IncidentLogLine {
  const where = origin.container ?? origin.container_id ?? origin.path
  // Cut before redacting would leave half a secret that no pattern knows, so a margin is redacted with it.
  const clean = redact(text.slice(0, MAX_CHARS * 2))
  const shown = clean.length > MAX_CHARS ? `${clean.slice(0, MAX_CHARS)} … (${text.length - MAX_CHARS} more characters)` : clean
  return { t, stream, ...(where === undefined ? {} : { origin: where }), text: shown }
}

export function createLogMemory(): LogMemory {
  const logs = new Map<string, LogLine[]>()
  return {
    add(line) {
      const key = logKey(line)
      let lines = logs.get(key)
      if (lines === undefined) {
        logs.set(key, (lines = []))
        // The log that was heard of first goes first; a live one comes back with its next line.
        const oldest = logs.size > MAX_LOGS ? logs.keys().next().value : undefined
        if (oldest !== undefined) logs.delete(oldest)
      }
      // Whole events are kept, redacted only when they are shown: most are never looked at again.
      lines.push(line.text.length > MAX_CHARS * 4 ? { ...line, text: line.text.slice(0, MAX_CHARS * 4) } : line)
      if (lines.length > LINES_PER_LOG) lines.shift()
    },
    recent: (line, limit) => (logs.get(logKey(line)) ?? []).slice(-limit).map(keptLine),
  }
}
