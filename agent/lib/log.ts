// The agent's own log: one line per event on stderr, for a person or journald.
import type { Log } from '../model/source.ts'

export type LogLevel = 'info' | 'warn' | 'error'
const RANK = { info: 0, warn: 1, error: 2 } as const

/** Lines read `2026-11-20T10:17:00.000Z warn  gpu: text`; control characters are escaped so that no input can forge a line. */
export function createLog(part: string, level: LogLevel = 'info', write: (line: string) => void = (line) => process.stderr.write(line)): Log {
  const say = (at: LogLevel) => (text: string) => {
    if (RANK[at] < RANK[level]) return
    const safe = text
      .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`)
      .replaceAll('\n', '\n  ')
    write(`${new Date().toISOString()} ${at.padEnd(5)} ${part}: ${safe}\n`)
  }
  return { info: say('info'), warn: say('warn'), error: say('error') }
}
