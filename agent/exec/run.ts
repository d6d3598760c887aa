// Runs a command in our place: the same process group, terminal, signals and output; resolves with how it ended.
import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { isatty } from 'node:tty'
import { codeOf, messageOf } from '../text/error.ts'
import { signalName } from '../text/signals.ts'
import type { Native } from './native.ts'
import { startRelay } from './relay.ts'
import { planStreams } from './streams.ts'

export type Ended = {
  readonly exitCode?: number
  readonly signal?: NodeJS.Signals
  /** The end of what it wrote, where that could be seen. */
  readonly tail: Buffer
  /** It could not be started; the exit code is that of a shell. */
  readonly problem?: string
}

/** Sent to us alone. A Ctrl-C comes from the terminal to all of the group, so it is not passed on where there is one. */
const FORWARDED = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const
const OF_TERMINAL = ['SIGINT', 'SIGQUIT'] as const

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'))
    return true
  } catch {
    return false
  }
}

/**
 * Under nohup a hang-up is to be ignored. Node forgets at its start what it was told to ignore, so nohup is known by what it leaves: a terminal that
 * none of the standard descriptors is.
 */
const isDetached = (): boolean => ![0, 1, 2].some((fd) => isatty(fd))

export async function runCommand(command: readonly string[], native: Native | undefined, started: (pid: number) => void): Promise<Ended> {
  const isOnTerminal = hasTerminal()
  const keepsHangUps = isOnTerminal && isDetached()
  // `env` sets it and becomes the command; no shell.
  const [program = '', ...args] = keepsHangUps ? ['env', '--ignore-signal=HUP', '--', ...command] : command
  const plan = planStreams(native)
  const ended = Promise.withResolvers<Omit<Ended, 'tail'>>()
  const terminals = plan.relays.filter(({ isTerminal }) => isTerminal)
  const handlers = new Map<NodeJS.Signals, () => void>()
  for (const signal of FORWARDED) handlers.set(signal, () => void ((keepsHangUps && signal === 'SIGHUP') || child.kill(signal)))
  for (const signal of OF_TERMINAL) handlers.set(signal, () => void (isOnTerminal || child.kill(signal)))
  if (terminals.length > 0)
    handlers.set('SIGWINCH', () => {
      for (const { pair, to } of terminals) native?.resize(pair.read, to)
      // It was told of the change already, perhaps before its terminal had the new size.
      child.kill('SIGWINCH')
    })
  // Before the command runs: a signal that it provokes must not end us. The handlers themselves run later.
  for (const [signal, handler] of handlers) process.on(signal, handler)
  const child = spawn(program, args, { stdio: [...plan.stdio] })
  child.once('error', (error) => {
    const code = codeOf(error)
    ended.resolve({ exitCode: code === 'ENOENT' ? 127 : 126, problem: code === 'ENOENT' ? 'command not found' : messageOf(error) })
  })
  child.once('exit', (code, signal) => ended.resolve({ ...(code === null ? {} : { exitCode: code }), ...(signal === null ? {} : { signal }) }))
  plan.spawned()
  if (child.pid !== undefined) started(child.pid)

  const relays = native === undefined ? [] : plan.relays.map(({ pair, to, isPiped }) => startRelay(native, pair.read, to, isPiped))
  const end = await ended.promise
  for (const relay of relays) relay.finish()
  await Promise.all(relays.map(({ done }) => done))
  for (const [signal, handler] of handlers) process.off(signal, handler)
  return { ...end, tail: Buffer.concat([plan.written(), ...relays.map((relay) => relay.tail())]) }
}

/** These leave a core file, of which the command has left its own. */
const DUMPS = new Set<NodeJS.Signals>(['SIGQUIT', 'SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV', 'SIGSYS', 'SIGXCPU', 'SIGXFSZ'])

/** Ends as the command did, so that whoever waits for us sees what it would have seen. Returns the exit code to end with where that cannot be. */
export function endAs({ exitCode, signal }: Ended, native: Native | undefined): number {
  if (signal === undefined) return exitCode ?? 1
  if (DUMPS.has(signal)) native?.withoutCore()
  if (!DUMPS.has(signal) || native !== undefined) process.kill(process.pid, signal)
  // What Node handles itself, or no native code.
  return 128 + (SIGNALS[signal] ?? 0)
}
const SIGNALS: Readonly<Record<string, number>> = Object.fromEntries(Array.from({ length: 31 }, (_, at) => [signalName(at + 1) ?? '', at + 1]))
