// What the user has chosen, and what each key changes of it. Pure: what a key asks of the outside comes back as an action.
import type { Row, Section, SectionId } from './sections/section.ts'
import type { Owner } from './terminal/screen.ts'

export type Sort = { readonly column: number; readonly reversed: boolean }
export type Overlay =
  | { readonly kind: 'help' }
  | { readonly kind: 'incident'; readonly id: string; readonly offset: number }
  /** `signal` absent: which one is still asked. */
  | { readonly kind: 'signal'; readonly pid: number; readonly what: string; readonly signal?: NodeJS.Signals }
export type Ui = {
  readonly focus: SectionId
  readonly selected: Partial<Readonly<Record<SectionId, string>>>
  readonly sort: Partial<Readonly<Record<SectionId, Sort>>>
  readonly filter: string
  readonly search: string
  /** What is being typed. */
  readonly prompt?: 'filter' | 'search'
  readonly overlay?: Overlay
  /** Whether the mouse is listened to. */
  readonly mouse?: boolean
  /** The answer to the last action, until the next key. */
  readonly message?: string
}
export type Action =
  | { readonly kind: 'quit' | 'suspend' | 'redraw' | 'back' }
  | { readonly kind: 'select-process' | 'open-host'; readonly key: string }
  | { readonly kind: 'send-signal'; readonly pid: number; readonly signal: NodeJS.Signals }
export type Step = { readonly ui: Ui; readonly action?: Action }

export const START: Ui = { focus: 'processes', selected: {}, sort: {}, filter: '', search: '' }
export const SIGNALS: Readonly<Record<string, NodeJS.Signals>> = { t: 'SIGTERM', i: 'SIGINT', h: 'SIGHUP', k: 'SIGKILL' }
const MAX_TYPED = 100
const PAGE = 10
/** Rows that a turn of the wheel goes on. */
const WHEEL = 3

const byValue =
  (column: number, reversed: boolean) =>
  (a: Row, b: Row): number => {
    const [x, y] = [a.values[column], b.values[column]]
    // What is not known comes last, whichever way it is sorted.
    if (x === undefined || y === undefined) return Number(x === undefined) - Number(y === undefined)
    // Figures begin with the largest, names with A.
    const order = typeof x === 'number' && typeof y === 'number' ? y - x : String(x) < String(y) ? -1 : String(x) > String(y) ? 1 : 0
    return reversed ? -order : order
  }
export const sortOf = (section: Section, ui: Ui): Sort | undefined =>
  ui.sort[section.id] ?? (section.sortedBy === undefined ? undefined : { column: section.sortedBy, reversed: false })

/** As the user wants it: filtered, then sorted. */
export function arranged(section: Section, ui: Ui): Section {
  const wanted = ui.filter.toLowerCase()
  const rows = wanted === '' ? section.rows : section.rows.filter(({ text }) => text.toLowerCase().includes(wanted))
  const sort = sortOf(section, ui)
  return { ...section, rows: sort === undefined ? rows : rows.toSorted(byValue(sort.column, sort.reversed)) }
}

const without = ({ overlay: _overlay, prompt: _prompt, message: _message, ...rest }: Ui): Ui => rest
const focusOf = (ui: Ui, sections: readonly Section[]): Section | undefined => sections.find(({ id }) => id === ui.focus) ?? sections.at(-1)
export const selectedAt = (section: Section, ui: Ui): number =>
  Math.max(
    0,
    section.rows.findIndex(({ key }) => key === ui.selected[section.id]),
  )
const select = (ui: Ui, section: Section, at: number): Ui => {
  const key = section.rows[Math.max(0, Math.min(section.rows.length - 1, at))]?.key
  return key === undefined ? ui : { ...ui, focus: section.id, selected: { ...ui.selected, [section.id]: key } }
}

function typed(ui: Ui, key: string, sections: readonly Section[]): Step {
  const { prompt } = ui
  if (prompt === undefined) return { ui }
  if (key === 'escape') return { ui: { ...without(ui), [prompt]: '' } }
  if (key === 'enter') return { ui: prompt === 'search' ? found(without(ui), sections, 0) : without(ui) }
  // Names of keys have more than one letter.
  const letter = Array.from(key).length === 1 && ui[prompt].length < MAX_TYPED ? key : ''
  const text = key === 'backspace' ? Array.from(ui[prompt]).slice(0, -1).join('') : ui[prompt] + letter
  const next = { ...ui, [prompt]: text }
  return { ui: prompt === 'search' ? found(next, sections, 0) : next }
}

/** The next row of any section that has the text, from the selected one on. */
function found(ui: Ui, sections: readonly Section[], skip: 0 | 1): Ui {
  const wanted = ui.search.toLowerCase()
  const focus = focusOf(ui, sections)
  if (wanted === '' || focus === undefined) return ui
  const all = sections.flatMap((section) => section.rows.map((row, at) => ({ section, row, at })))
  const from = Math.max(
    0,
    all.findIndex(({ section, at }) => section === focus && at === selectedAt(focus, ui)),
  )
  const turned = [...all.slice(from + skip), ...all.slice(0, from + skip)]
  const hit = turned.find(({ row }) => row.text.toLowerCase().includes(wanted))
  return hit === undefined ? { ...ui, message: `Nothing here has "${ui.search}"` } : select(ui, hit.section, hit.at)
}

function inOverlay(ui: Ui, overlay: Overlay, key: string): Step {
  const closed = without(ui)
  if (overlay.kind === 'signal') {
    if (overlay.signal === undefined) {
      const signal = SIGNALS[key]
      return { ui: signal === undefined ? { ...closed, message: 'No signal sent' } : { ...ui, overlay: { ...overlay, signal } } }
    }
    return key === 'y'
      ? { ui: closed, action: { kind: 'send-signal', pid: overlay.pid, signal: overlay.signal } }
      : { ui: { ...closed, message: 'No signal sent' } }
  }
  if (overlay.kind === 'incident' && (key === 'down' || key === 'j' || key.startsWith('wheel-down')))
    return { ui: { ...ui, overlay: { ...overlay, offset: overlay.offset + 1 } } }
  if (overlay.kind === 'incident' && (key === 'up' || key === 'k' || key.startsWith('wheel-up')))
    return { ui: { ...ui, overlay: { ...overlay, offset: Math.max(0, overlay.offset - 1) } } }
  return { ui: closed }
}

function sorted(ui: Ui, section: Section, key: string): Ui {
  const now = sortOf(section, ui)
  const columns = section.columns.length
  const column =
    key === '<' ? ((now?.column ?? 0) + columns - 1) % columns : key === '>' || key === 's' ? ((now?.column ?? -1) + 1) % columns : (now?.column ?? 0)
  return { ...ui, sort: { ...ui.sort, [section.id]: { column, reversed: key === 'r' ? !(now?.reversed ?? false) : false } } }
}

/** A click chooses a row, and one on the chosen row opens it; the wheel moves in the table below it. */
function pointed(ui: Ui, key: string, owner: Owner | undefined, sections: readonly Section[]): Step {
  const section = sections.find(({ id }) => id === owner?.section)
  if (section === undefined) return { ui }
  const focused = { ...ui, focus: section.id }
  if (key.startsWith('wheel-')) {
    const at = ui.selected[section.id] === undefined ? 0 : selectedAt(section, ui) + (key.startsWith('wheel-down') ? WHEEL : -WHEEL)
    return { ui: select(focused, section, at) }
  }
  if (owner?.row === undefined) return { ui: focused }
  const again = ui.focus === section.id && ui.selected[section.id] === owner.row
  const chosen = { ...focused, selected: { ...ui.selected, [section.id]: owner.row } }
  return again ? step(chosen, 'enter', sections) : { ui: chosen }
}

/** `owner`: whose line it is that the mouse was on. */
export function step(before: Ui, key: string, sections: readonly Section[], owner?: Owner): Step {
  if (key === 'ctrl-c') return { ui: before, action: { kind: 'quit' } }
  if (key === 'ctrl-z') return { ui: before, action: { kind: 'suspend' } }
  if (key === 'ctrl-l') return { ui: before, action: { kind: 'redraw' } }
  const { message: _message, ...ui } = before
  if (ui.prompt !== undefined) return typed(ui, key, sections)
  if (ui.overlay !== undefined) return inOverlay(ui, ui.overlay, key)
  if (/^(?:click|wheel-)/.test(key)) return pointed(ui, key, owner, sections)
  const section = focusOf(ui, sections)
  if (key === 'm') return { ui: { ...ui, mouse: ui.mouse !== true, message: ui.mouse === true ? 'Mouse off: the terminal selects text again' : 'Mouse on' } }
  if (key === 'q') return { ui, action: { kind: 'quit' } }
  if (key === '?' || key === 'h') return { ui: { ...ui, overlay: { kind: 'help' } } }
  if (key === '/') return { ui: { ...ui, prompt: 'search', search: '' } }
  if (key === 'f') return { ui: { ...ui, prompt: 'filter' } }
  if (key === 'escape') return ui.filter === '' ? { ui, action: { kind: 'back' } } : { ui: { ...ui, filter: '' } }
  if (section === undefined) return { ui }
  if (key === 'n') return { ui: found(ui, sections, 1) }
  const at = selectedAt(section, ui)
  const moves: Readonly<Record<string, number>> = {
    up: at - 1,
    down: at + 1,
    j: at + 1,
    'page-up': at - PAGE,
    'page-down': at + PAGE,
    home: 0,
    g: 0,
    end: section.rows.length,
    G: section.rows.length,
  }
  // The first press shows where the selection is.
  if (moves[key] !== undefined) return { ui: select(ui, section, ui.selected[section.id] === undefined ? 0 : moves[key]) }
  if (key === 'tab' || key === 'back-tab') {
    const place = sections.indexOf(section) + (key === 'tab' ? 1 : sections.length - 1)
    return { ui: { ...ui, focus: sections[place % sections.length]?.id ?? ui.focus } }
  }
  if (['s', '<', '>', 'r'].includes(key)) return { ui: sorted(ui, section, key) }
  const incidents = sections.find(({ id }) => id === 'incidents')
  if (key === 'v' || (key === 'enter' && section.id === 'incidents')) {
    const chosen = incidents?.rows[incidents === undefined ? 0 : selectedAt(incidents, ui)]
    return { ui: chosen === undefined ? { ...ui, message: 'Nothing fires' } : { ...ui, overlay: { kind: 'incident', id: chosen.key, offset: 0 } } }
  }
  const chosen = section.rows[at]
  if (key === 'enter' && section.id === 'hosts' && chosen !== undefined) return { ui, action: { kind: 'open-host', key: chosen.key } }
  if (key === 'k') {
    if (section.id !== 'processes' || chosen === undefined || ui.selected.processes === undefined)
      return { ui: { ...ui, message: 'Select a process first: Tab to the processes, then the arrow keys' } }
    return { ui, action: { kind: 'select-process', key: chosen.key } }
  }
  return { ui }
}
