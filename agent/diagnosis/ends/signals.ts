// How logs name signals, and the exit codes of launchers and Windows that stand for them.
import { SIGNALS } from '../../text/signals.ts'

/** As the shell, glibc and launchers write them. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^kill(?:ed)?$/i, 'SIGKILL'],
  [/^terminated?$/i, 'SIGTERM'],
  [/^segmentation (?:fault|violation)|^access[ _]violation/i, 'SIGSEGV'],
  [/^bus error/i, 'SIGBUS'],
  [/^abort(?:ed)?|^IOT instruction/i, 'SIGABRT'],
  [/^illegal (?:hardware )?instruction/i, 'SIGILL'],
  [/^(?:floating[- ]point|arithmetic) exception/i, 'SIGFPE'],
  [/^trace\/breakpoint trap/i, 'SIGTRAP'],
  [/^hangup/i, 'SIGHUP'],
  [/^quit$/i, 'SIGQUIT'],
  [/^interrupt/i, 'SIGINT'],
  [/^user defined signal 1/i, 'SIGUSR1'],
  [/^user defined signal 2/i, 'SIGUSR2'],
  [/^alarm clock/i, 'SIGALRM'],
  [/^file size limit/i, 'SIGXFSZ'],
]

/** `9`, `SIGKILL`, `KILL`, `Killed`: SIGKILL. */
export function signalName(text: string | number | undefined): string | undefined {
  if (text === undefined) return undefined
  const number = Math.abs(Number(text))
  if (Number.isInteger(number) && number > 0) return SIGNALS[number]
  const word = String(text)
  const upper = word.toUpperCase().replace(/^(?!SIG)/, 'SIG')
  return Object.values(SIGNALS).find((name) => name === upper) ?? WORDS.find(([pattern]) => pattern.test(word))?.[1]
}

/** NTSTATUS codes that Windows reports in their place, as unsigned numbers. */
const OF_WINDOWS: Readonly<Record<number, string>> = {
  0xc0000005: 'SIGSEGV',
  0xc00000fd: 'SIGSEGV',
  0xc000013a: 'SIGINT',
  0xc0000409: 'SIGABRT',
  0xc000001d: 'SIGILL',
  0xc0000094: 'SIGFPE',
  0xc0000374: 'SIGABRT',
}

/** -9, 137, 247: SIGKILL. Undefined for codes of programs themselves. */
export function signalOfExit(code: number): string | undefined {
  if (Math.abs(code) > 255) return OF_WINDOWS[code >>> 0]
  if (code < 0) return SIGNALS[-code]
  if (code > 128 && code < 160) return SIGNALS[code - 128]
  return code > 240 && code < 256 && code !== 255 ? SIGNALS[256 - code] : undefined
}
