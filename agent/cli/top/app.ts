// Runs `top` in a terminal: draws when figures or keys come, and gives the terminal back at the end.
import type { HostState } from './host-state.ts'
import type { Hosts } from './hosts-view.ts'
import { sendSignal, targetOf, type Target } from './signal.ts'
import type { Capabilities } from './terminal/look.ts'
import { createScreen, type Screen } from './terminal/screen.ts'
import { openTerminal, type Terminal } from './terminal/terminal.ts'
import { oneLine } from './terminal/width.ts'
import { START, step, type Action, type Ui } from './ui.ts'
import { drawHost } from './view.ts'
import type { Section } from './sections/section.ts'

export type App = {
  /** To be called when there is something new to show. */
  readonly changed: () => void
  /** The exit code, once it is to end. */
  readonly ended: Promise<number>
  readonly end: () => void
}
export type AppOptions = {
  /** undefined: all hosts are shown. */
  readonly state: () => HostState | undefined
  readonly capabilities: Capabilities
  /** Processes of this host can be sent a signal. */
  readonly isLocal: () => boolean
  /** All hosts; absent: there is one. */
  readonly hosts?: Pick<Hosts, 'draw' | 'open' | 'back'>
}

/** With less nothing useful can be read. */
const SMALLEST = { columns: 40, rows: 8 }
/** Keys and figures that come together are drawn once. */
const TOGETHER_MS = 15
/** Says how old the figures are when none come; with a frame each second it has nothing to do. */
const CLOCK_MS = 1_000

export function runApp({ state, capabilities, isLocal, hosts }: AppOptions): App {
  let ui: Ui = { ...START, mouse: capabilities.modern }
  let sections: readonly Section[] = []
  let shown: Screen | undefined
  let target: Target | undefined
  let planned: NodeJS.Timeout | undefined
  let drawnMs = -Infinity
  const offsets = new Map<string, number>()
  const { promise: ended, resolve } = Promise.withResolvers<number>()

  const drawAll = (screen: Screen): readonly Section[] => {
    const one = state()
    if (one !== undefined) return drawHost(screen, one, ui, offsets, capabilities, Date.now())
    return hosts?.draw(screen, ui, offsets) ?? []
  }
  const draw = (): void => {
    planned = undefined
    drawnMs = performance.now()
    const { columns, rows } = terminal.size()
    const screen = createScreen(columns, rows, capabilities)
    if (columns < SMALLEST.columns || rows < SMALLEST.rows) screen.put(0, 0, `too small: ${SMALLEST.columns}x${SMALLEST.rows} at least`)
    else sections = drawAll(screen)
    terminal.write(screen.changes(shown))
    shown = screen
  }
  const changed = (): void => void (planned ??= setTimeout(draw, TOGETHER_MS))

  const choose = (pid: number): Ui => {
    target = isLocal() ? targetOf(pid) : undefined
    if (!isLocal()) return { ...ui, message: 'Signals go to processes of this machine only; this is another host, a recording or a simulation' }
    if (target === undefined) return { ...ui, message: `Process ${pid} has ended already, or is not visible from here` }
    return { ...ui, overlay: { kind: 'signal', pid, what: `${pid} (${oneLine(target.name)})` } }
  }
  const act = (action: Action): void => {
    if (action.kind === 'quit') end()
    else if (action.kind === 'suspend') terminal.suspend()
    else if (action.kind === 'redraw') shown = undefined
    else if (action.kind === 'back') hosts?.back()
    else if (action.kind === 'open-host') hosts?.open(action.key)
    else if (action.kind === 'select-process') ui = choose(Number(action.key))
    else if (action.kind === 'send-signal' && target?.pid === action.pid) ui = { ...ui, message: sendSignal(target, action.signal) }
  }
  const terminal: Terminal = openTerminal({
    key(key) {
      const row = /^(?:click|wheel-up|wheel-down) \d+ (\d+)$/.exec(key)?.[1]
      const next = step(ui, key, sections, row === undefined ? undefined : shown?.ownerOf(Number(row)))
      ui = next.ui
      terminal.listenToMouse(ui.mouse === true)
      if (next.action !== undefined) act(next.action)
      changed()
    },
    redraw() {
      shown = undefined
      changed()
    },
    ended: resolve,
  })
  terminal.listenToMouse(ui.mouse === true)
  const clock = setInterval(() => performance.now() - drawnMs > CLOCK_MS && changed(), CLOCK_MS / 2)
  function end(): void {
    terminal.close()
    resolve(0)
  }
  void ended.finally(() => {
    clearInterval(clock)
    clearTimeout(planned)
  })
  return { changed, ended, end }
}
