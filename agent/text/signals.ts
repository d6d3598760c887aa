// Names of Linux signals (signal(7), x86 and arm64), and the signal that an exit code above 128 means.
export const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  5: 'SIGTRAP',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  10: 'SIGUSR1',
  11: 'SIGSEGV',
  12: 'SIGUSR2',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
  31: 'SIGSYS',
}

export const signalName = (number: number): string | undefined => SIGNALS[number]
/** `139` is `SIGSEGV`: shells and container engines add 128. */
export const signalOfExitCode = (code: number): string | undefined => (code > 128 && code < 160 ? SIGNALS[code - 128] : undefined)
export const signalNumber = (name: string): number | undefined => {
  const found = Object.entries(SIGNALS).find(([, known]) => known === name)
  return found === undefined ? undefined : Number(found[0])
}
