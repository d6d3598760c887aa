// Takes the terminal over and gives it back as it was, however the program ends: asked to, stopped and continued, by a signal, by a crash.
import { constants } from 'node:os'
import { keysIn } from './keys.ts'

export type Terminal = {
  readonly size: () => { readonly columns: number; readonly rows: number }
  readonly write: (text: string) => void
  /** Clicks and the wheel come as keys; the terminal's own selection of text then needs Shift. */
  readonly listenToMouse: (on: boolean) => void
  /** Leaves the terminal, stops as Ctrl-Z does everywhere, and comes back. */
  readonly suspend: () => void
  readonly close: () => void
}
export type TerminalEvents = {
  readonly key: (key: string) => void
  /** Redraw everything: the size changed, or another program wrote to the terminal. */
  readonly redraw: () => void
  /** A signal asks to end; the terminal is given back already. */
  readonly ended: (exitCode: number) => void
}

/** The other screen, no cursor, no wrapping at the margin; and all of it back. */
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J'
const LEAVE = '\u001b[0m\u001b[?7h\u001b[?25h\u001b[?1049l'
/** Presses and the wheel, in the form that has no limit of 223 columns (xterm). */
const MOUSE_ON = '\u001b[?1000h\u001b[?1006h'
const MOUSE_OFF = '\u001b[?1006l\u001b[?1000l'
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const

const MAX_CELLS = 1_000
const fromEnvironment = (name: string): number => Math.min(MAX_CELLS, Number.parseInt(process.env[name] ?? '', 10) || 0)

export function openTerminal({ key, redraw, ended }: TerminalEvents): Terminal {
  const { stdin, stdout } = process
  let inside = false
  let mouse = false
  const raw = (on: boolean): void => {
    try {
      stdin.setRawMode(on)
    } catch {
      // The terminal has gone: there is nothing to give back.
    }
  }
  const enter = (): void => {
    // Off first: after a stop Node believes that the mode is still set, but the shell has changed it.
    raw(false)
    raw(true)
    inside = true
    stdout.write(mouse ? ENTER + MOUSE_ON : ENTER)
    redraw()
  }
  const leave = (): void => {
    if (!inside) return
    inside = false
    stdout.write(mouse ? MOUSE_OFF + LEAVE : LEAVE)
    raw(false)
  }
  const onData = (data: string): void => keysIn(data).forEach(key)
  const onContinue = (): void => enter()
  const onSignal = (signal: NodeJS.Signals): void => {
    close()
    ended(128 + constants.signals[signal])
  }
  const onCrash = (): void => leave()
  function close(): void {
    leave()
    stdin.off('data', onData).pause()
    stdout.off('resize', redraw)
    process.off('SIGCONT', onContinue)
    process.off('uncaughtExceptionMonitor', onCrash)
    process.off('exit', leave)
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
  stdin.setEncoding('utf8').on('data', onData).resume()
  stdout.on('resize', redraw)
  process.on('SIGCONT', onContinue)
  process.on('uncaughtExceptionMonitor', onCrash)
  process.on('exit', leave)
  for (const signal of SIGNALS) process.on(signal, onSignal)
  // With the terminal gone a write fails; the SIGHUP that comes with it ends the program.
  for (const stream of [stdin, stdout]) stream.on('error', () => {})
  enter()
  return {
    // A serial console knows no size, and says 0 by 0.
    size: () => ({ columns: stdout.columns || fromEnvironment('COLUMNS') || 80, rows: stdout.rows || fromEnvironment('LINES') || 24 }),
    write: (text) => void (inside && text !== '' && stdout.write(text)),
    listenToMouse(on) {
      if (on === mouse) return
      mouse = on
      if (inside) stdout.write(on ? MOUSE_ON : MOUSE_OFF)
    },
    suspend() {
      leave()
      process.kill(process.pid, 'SIGSTOP')
    },
    close,
  }
}
