// Names and numbers of signals, and exit codes that stand for them.

const NUMBERS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  15: 'SIGTERM',
}
/** As the shell, glibc and launchers write them. */
const WORDS: readonly (readonly [RegExp, string])[] = [
  [/^kill(?:ed)?$/i, 'SIGKILL'],
  [/^terminated?$/i, 'SIGTERM'],
  [/^segmentation (?:fault|violation)|^access violation/i, 'SIGSEGV'],
  [/^bus error/i, 'SIGBUS'],
  [/^abort(?:ed)?/i, 'SIGABRT'],
  [/^illegal (?:hardware )?instruction/i, 'SIGILL'],
  [/^(?:floating[- ]point|arithmetic) exception/i, 'SIGFPE'],
  [/^trace\/breakpoint trap/i, 'SIGTRAP'],
  [/^hangup/i, 'SIGHUP'],
  [/^interrupt/i, 'SIGINT'],
]

/** `9`, `SIGKILL`, `KILL`, `Killed`: SIGKILL. */
export function signalName(text: string | number | undefined): string | undefined {
  if (text === undefined) return undefined
  const number = Math.abs(Number(text))
  if (Number.isInteger(number) && number > 0) return NUMBERS[number]
  const word = String(text)
  const upper = word.toUpperCase().replace(/^(?!SIG)/, 'SIG')
  return Object.values(NUMBERS).find((name) => name === upper) ?? WORDS.find(([pattern]) => pattern.test(word))?.[1]
}

/** NTSTATUS codes that Windows reports in their place, as unsigned numbers. */
const OF_WINDOWS: Readonly<Record<number, string>> = {
  0xc0000005: 'SIGSEGV',
  0xc00000fd: 'SIGSEGV',
  0xc000013a: 'SIGINT',
  0xc0000409: 'SIGABRT',
  0xc000001d: 'SIGILL',
}

/** -9, 137, 247: SIGKILL. Undefined for codes of programs themselves. */
export function signalOfExit(code: number): string | undefined {
  if (Math.abs(code) > 255) return OF_WINDOWS[code >>> 0]
  if (code < 0) return NUMBERS[-code]
  if (code > 128 && code < 160) return NUMBERS[code - 128]
  return code > 240 && code < 256 && code !== 255 ? NUMBERS[256 - code] : undefined
}
