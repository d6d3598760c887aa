// The whole screen: one line about the host, its tables sharing the height, one line about the keys.
import { memoryText } from '../../text/bytes.ts'
import { utcClock } from '../../text/time.ts'
import { drawTable } from './draw-table.ts'
import type { HostState } from './host-state.ts'
import { drawOverlay, footerOf, helpLines, incidentLines } from './overlays.ts'
import { gpuSection } from './sections/gpus.ts'
import { holdersOf } from './sections/holders.ts'
import { incidentSection } from './sections/incidents.ts'
import { jobSection } from './sections/jobs.ts'
import { processSection } from './sections/processes.ts'
import type { Section } from './sections/section.ts'
import { serverSection } from './sections/servers.ts'
import type { Capabilities, Style } from './terminal/look.ts'
import type { Screen } from './terminal/screen.ts'
import { arranged, selectedAt, sortOf, type Ui } from './ui.ts'

/** The figures stand still for longer than a frame may be late. */
const LATE_MS = 4_000

/** The tables of a host; those without rows are left out. */
export function sectionsOf(state: HostState, capabilities: Capabilities): readonly Section[] {
  const frame = state.frame()
  if (frame === undefined) return []
  const holders = holdersOf(frame)
  return [
    gpuSection(state, frame, holders, capabilities),
    incidentSection(state.firing(), frame.t),
    jobSection(frame, holders),
    serverSection(frame),
    processSection(frame, holders),
  ].filter(({ rows }) => rows.length > 0)
}

/** Lines for each section, its head included: first what each needs at least, then the one in use, then the others in order. */
export function heightsOf(sections: readonly Section[], rows: number, focus: string): readonly number[] {
  const wanted = sections.map(({ rows: { length } }) => length + 1)
  const heights = sections.map(() => 0)
  let left = rows
  const give = (at: number, upTo: number): void => {
    const more = Math.max(0, Math.min(Math.min(wanted[at] ?? 0, upTo) - (heights[at] ?? 0), left))
    // A head alone is a line lost.
    if ((heights[at] ?? 0) + more < 2) return
    heights[at] = (heights[at] ?? 0) + more
    left -= more
  }
  const focused = sections.findIndex(({ id }) => id === focus)
  const order = [...sections.keys()]
  give(focused, 3)
  for (const at of order) give(at, (sections[at]?.least ?? 1) + 1)
  // The one in use gets its rows before others get more, but leaves them half of what is left.
  give(focused, (heights[focused] ?? 0) + Math.ceil(left / 2))
  for (const at of order) give(at, Infinity)
  return heights
}

function drawHead(screen: Screen, state: HostState, now: number): void {
  const frame = state.frame()
  const heard = state.heardAt()
  const late = heard !== undefined && now - heard > LATE_MS
  let x = screen.put(0, 0, state.name(), { bold: true })
  const say = (text: string, style?: Style): void => void (x = screen.put(x, 0, `  ${text}`, style))
  if (state.simulated()) say('simulated', { colour: 'warning' })
  if (frame === undefined) return say(state.problem() ?? 'waiting for the first figures', { colour: state.problem() === undefined ? 'accent' : 'critical' })
  const sum = (measure: 'memory_used_bytes' | 'memory_total_bytes' | 'power_watts'): number => frame.gpus.reduce((total, gpu) => total + (gpu[measure] ?? 0), 0)
  const firing = state.firing().filter(({ silenced, severity }) => silenced === undefined && severity !== 'info')
  const critical = firing.filter(({ severity }) => severity === 'critical').length
  if (firing.length === 0) say('nothing fires', { colour: 'good' })
  else
    say(`${firing.length} ${firing.length === 1 ? 'incident' : 'incidents'}${critical === 0 ? '' : `, ${critical} critical`}`, {
      bold: true,
      colour: critical === 0 ? 'warning' : 'critical',
    })
  if (frame.gpus.length > 0) {
    say(`${frame.gpus.length} GPUs ${memoryText(sum('memory_used_bytes')).replace(/ GiB$/, '')}/${memoryText(sum('memory_total_bytes'))}`)
    say(`${(sum('power_watts') / 1_000).toFixed(1)} kW`)
  }
  const clock = late ? `no figures for ${Math.round((now - heard) / 1_000)} s` : `${utcClock(frame.t)} UTC`
  if (x + clock.length + 2 <= screen.columns) screen.put(screen.columns - clock.length, 0, clock, late ? { colour: 'critical', bold: true } : { dim: true })
}

export type Shown = { readonly sections: readonly Section[]; readonly offsets: Map<string, number> }

export function drawTables(screen: Screen, sections: readonly Section[], ui: Ui, offsets: Map<string, number>): void {
  const focus = sections.some(({ id }) => id === ui.focus) ? ui.focus : (sections.at(-1)?.id ?? '')
  const heights = heightsOf(sections, screen.rows - 2, focus)
  let y = 1
  for (const [i, section] of sections.entries()) {
    const height = heights[i] ?? 0
    if (height < 2) continue
    const [visible, at] = [height - 1, selectedAt(section, ui)]
    const has = ui.selected[section.id] !== undefined
    // The selected row stays in sight; the rest moves only as far as it must.
    let offset = Math.min(offsets.get(section.id) ?? 0, Math.max(0, section.rows.length - visible))
    if (has && at < offset) offset = at
    if (has && at >= offset + visible) offset = at - visible + 1
    offsets.set(section.id, offset)
    drawTable(screen, y, height, section, { focused: section.id === focus, selected: ui.selected[section.id], offset, sort: sortOf(section, ui) })
    y += height
  }
}

/** Draws all of it and returns the tables as they are shown, which the keys then mean. */
export function drawHost(screen: Screen, state: HostState, ui: Ui, offsets: Map<string, number>, capabilities: Capabilities, now: number): readonly Section[] {
  const sections = sectionsOf(state, capabilities).map((section) => arranged(section, ui))
  screen.clear()
  drawHead(screen, state, now)
  drawTables(screen, sections, ui, offsets)
  const { overlay } = ui
  if (overlay?.kind === 'help') drawOverlay(screen, helpLines(), 0)
  if (overlay?.kind === 'incident') {
    const incident = state.firing().find(({ id }) => id === overlay.id)
    drawOverlay(screen, incident === undefined ? [{ text: 'It is resolved.' }] : incidentLines(incident), overlay.offset)
  }
  const footer = footerOf(ui, state.frame() === undefined ? undefined : state.problem())
  screen.put(0, screen.rows - 1, footer.text, footer.style)
  return sections
}
