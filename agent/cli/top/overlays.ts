// What is over the tables: the help, an incident's verdict with its remedies, the question before a signal.
import { subjectText } from '../../diagnosis/incidents/report.ts'
import { writtenLines, type IncidentSummary } from '../../model/incident.ts'
import { CONFIDENCE_TEXTS } from '../../text/confidence.ts'
import { utcText } from '../../text/time.ts'
import type { Style } from './terminal/look.ts'
import type { Screen } from './terminal/screen.ts'
import { oneLine, widthOf } from './terminal/width.ts'
import type { Ui } from './ui.ts'

type Line = { readonly text: string; readonly style?: Style; readonly indent?: number }
const MAX_LOG_LINES = 12
const WIDEST = 110

const HELP: readonly Line[] = [
  { text: 'Keys', style: { bold: true } },
  ...[
    'Tab, Shift-Tab   next or previous table',
    '↑ ↓ PgUp PgDn    select a row',
    'v                verdict of the selected incident, or of the worst',
    'Enter            open the incident or the host that is selected',
    'Esc              close, clear the filter, back to all hosts',
    's  <  >  r       sort by the next column, choose it, reverse',
    '/  n             search, next match',
    'f                show only rows with a text',
    'k                send a signal to the selected process (asks first)',
    'Mouse            click a row, again to open it; the wheel scrolls',
    'm                mouse off and on; off, the terminal selects text',
    'Ctrl-L           redraw the screen',
    'q                quit',
  ].map((text) => ({ text, indent: 2 })),
]

export const helpLines = (): readonly Line[] => HELP

export function incidentLines(incident: IncidentSummary): readonly Line[] {
  const { severity, title, verdict, confidence, remedies, started_at: began, count, kind, id, evidence } = incident
  const written = writtenLines(evidence.log_lines)
  const note = severity === 'info' ? 'accent' : severity
  return [
    { text: title, style: { bold: true, colour: note } },
    { text: `${severity}, since ${utcText(began)}${count > 1 ? `, seen ${count} times` : ''}: ${subjectText(incident)}`, style: { dim: true } },
    { text: '' },
    { text: verdict },
    ...(confidence === undefined ? [] : [{ text: `confidence: ${CONFIDENCE_TEXTS[confidence]}`, style: { dim: true } }]),
    ...(remedies.length === 0 ? [] : [{ text: '' }, { text: 'What to do', style: { bold: true } }]),
    ...remedies.flatMap(({ text, command }, i) => [
      { text: `${i + 1}. ${text}`, indent: 2 },
      ...(command === undefined ? [] : command.split('\n').map((one): Line => ({ text: one, indent: 5, style: { colour: 'good' } }))),
    ]),
    ...(written.length === 0 ? [] : [{ text: '' }, { text: 'Log', style: { bold: true } }]),
    ...written.slice(-MAX_LOG_LINES).map(({ text }) => ({ text, indent: 2, style: { dim: true } })),
    { text: '' },
    { text: `${kind}: warpwatch incidents ${id}`, style: { dim: true } },
  ]
}

/** Words onto lines of a width; a word that is longer is cut by the screen. */
function wrapped({ text, style, indent = 0 }: Line, width: number): readonly Line[] {
  const lines: Line[] = []
  let line = ''
  for (const word of oneLine(text).split(' ')) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width - indent) {
      lines.push({ text: line, indent, ...(style === undefined ? {} : { style }) })
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, { text: line, indent, ...(style === undefined ? {} : { style }) }]
}

/** Over everything between the first and the last line. */
export function drawOverlay(screen: Screen, lines: readonly Line[], offset: number): void {
  const width = Math.min(WIDEST, screen.columns - 4)
  const all = lines.flatMap((line) => wrapped(line, width))
  const height = screen.rows - 2
  const from = Math.min(offset, Math.max(0, all.length - height))
  for (let y = 1; y <= height; y++) {
    screen.put(0, y, ' '.repeat(screen.columns))
    const line = all[from + y - 1]
    if (line !== undefined) screen.put(2 + (line.indent ?? 0), y, line.text, line.style, 2 + width)
  }
  if (all.length > from + height) screen.put(2, screen.rows - 2, '↓ more', { dim: true })
}

/** The last line: what is asked, what was answered, or which keys there are. */
export function footerOf(ui: Ui, problem: string | undefined): Line {
  const { prompt, overlay, message, filter } = ui
  if (prompt !== undefined) return { text: `${prompt === 'search' ? 'Search' : 'Show only'}: ${ui[prompt]}_` }
  if (overlay?.kind === 'signal') {
    return overlay.signal === undefined
      ? { text: `Signal to ${overlay.what}: t SIGTERM  i SIGINT  h SIGHUP  k SIGKILL  Esc none`, style: { bold: true } }
      : { text: `Send ${overlay.signal} to ${overlay.what}? y yes, any other key no`, style: { bold: true, colour: 'critical' } }
  }
  if (overlay !== undefined) return { text: overlay.kind === 'incident' ? '↑ ↓ scroll, any other key closes' : 'Any key closes', style: { dim: true } }
  if (message !== undefined) return { text: message, style: { bold: true } }
  if (problem !== undefined) return { text: problem, style: { colour: 'critical', bold: true } }
  return {
    text: `${filter === '' ? '' : `only "${filter}" (Esc all)  `}Tab table  ↑ ↓ select  v verdict  s sort  / search  f filter  k signal  ? help  q quit`,
    style: { dim: true },
  }
}
