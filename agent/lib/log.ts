// The agent's own log: one event a line on stderr, as text for a person or journald, or as JSON for a collector. Level and format can change while it runs.
import type { Log } from '../model/source.ts'

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export const LOG_FORMATS = ['text', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]
export type LogSettings = { readonly level: LogLevel; readonly format: LogFormat }

export type Logger = {
  /** The log of one part of the agent. */
  readonly part: (name: string) => Log
  /** Holds for every part at once. */
  readonly configure: (settings: LogSettings) => void
  readonly format: () => LogFormat
}

/** Control characters are escaped, so that no input can forge a line; C1 too, as terminals obey it (ECMA-48). */
const escaped = (text: string): string =>
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`).replaceAll('\n', '\n  ')
/** What JSON leaves as it is, though a terminal or a reader of lines does not. */
const escapedJson = (json: string): string => json.replace(/[\u007f-\u009f\u2028\u2029]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)

const LINES: Readonly<Record<LogFormat, (time: string, level: LogLevel, part: string, message: string) => string>> = {
  text: (time, level, part, message) => `${time} ${level.padEnd(5)} ${part}: ${escaped(message)}\n`,
  json: (time, level, part, message) => `${escapedJson(JSON.stringify({ time, level, part, message }))}\n`,
}

const toStderr = (line: string): void => void process.stderr.write(line)

/** Text lines read `2026-11-20T10:17:00.000Z warn  gpu: text`; JSON lines are `{"time","level","part","message"}`. */
export function createLogger(settings: LogSettings, write: (line: string) => void = toStderr): Logger {
  let { level: least, format } = settings
  const isOn = (level: LogLevel): boolean => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least)
  return {
    part(name) {
      const say = (level: LogLevel) => (text: string) => {
        if (isOn(level)) write(LINES[format](new Date().toISOString(), level, name, text))
      }
      const debug = say('debug')
      return {
        // Absent while it is off: `log.debug?.(…)` then does not even put its text together.
        get debug() {
          return isOn('debug') ? debug : undefined
        },
        info: say('info'),
        warn: say('warn'),
        error: say('error'),
      }
    },
    configure(next) {
      least = next.level
      format = next.format
    },
    format: () => format,
  }
}
