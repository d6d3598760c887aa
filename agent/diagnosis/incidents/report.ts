// One incident as Markdown, to paste into a ticket. What came from outside is in code, so that it cannot become markup.
import { bytesText } from '../../text/bytes.ts'
import type { HangRank } from '../../model/facts.ts'
import { writtenLines, type Incident, type IncidentProcess, type IncidentSeries } from '../../model/incident.ts'
import { actionText } from '../../text/action.ts'
import { CONFIDENCE_TEXTS } from '../../text/confidence.ts'
import { alertName, runbookPath } from '../../model/kinds.ts'
import { percent } from '../../text/figures.ts'
import { MOMENTS } from '../../text/facts.ts'
import { block, code, prose, table } from '../../text/markdown.ts'
import { isoText } from '../../text/time.ts'
import { incidentContext } from './incident-context.ts'

export function subjectText({ subject }: Pick<Incident, 'subject'>): string {
  const { gpu, container, process, host } = subject
  const parts = [
    ...(container === undefined
      ? []
      : [`container ${container.name}${container.id === undefined || container.id === container.name ? '' : ` (${container.id})`}`]),
    ...(gpu === undefined ? [] : [`GPU ${gpu.index ?? gpu.pci_bus_id ?? '?'}${gpu.uuid === undefined ? '' : ` (${gpu.uuid})`}`]),
    ...(process === undefined ? [] : [`process ${process.pid}${process.name === undefined ? '' : ` (${process.name})`}`]),
    ...(host === undefined ? [] : [`host ${host.name}`]),
  ]
  return parts.join(', ')
}

/** Behind a title in a list: what the title does not name, without ids. A title that names the container may end with another one, whose process this would seem to be. */
export function placeText({ title, subject: { gpu, container, process, host } }: Pick<Incident, 'title' | 'subject'>): string {
  const isNamed = container !== undefined && title.includes(container.name)
  const parts = [
    ...(container === undefined || isNamed ? [] : [`container ${container.name}`]),
    ...(gpu === undefined || new RegExp(`GPU ${gpu.index}\\b`).test(title) ? [] : [`GPU ${gpu.index ?? gpu.pci_bus_id ?? '?'}`]),
    ...(process === undefined || isNamed || new RegExp(`(?:process|pid) ${process.pid}\\b`).test(title)
      ? []
      : [`process ${process.pid}${process.name === undefined ? '' : ` (${process.name})`}`]),
    ...(host === undefined || title.includes(host.name) ? [] : [`host ${host.name}`]),
  ]
  return parts.join(', ')
}
/** The title with it. */
export const placedTitle = (incident: Pick<Incident, 'title' | 'subject'>): string =>
  [incident.title, placeText(incident)].filter((part) => part !== '').join(': ')

function factText(name: string, value: unknown): string {
  if (typeof value === 'number' && MOMENTS.has(name)) return isoText(value)
  if (typeof value === 'number' && name.endsWith('_bytes')) return `${bytesText(value)} (${value})`
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A program counts the GPUs that it sees, which in a container is rarely the host's count: beside a title that names GPU 6 a bare 0 would look wrong. */
function ownCount({ subject: { gpu } }: Incident, name: string, value: unknown): string {
  const differs = name === 'gpu_index' && gpu?.uuid !== undefined && gpu.index !== undefined && gpu.index !== value
  return differs ? ` (the program's own count; GPU ${gpu.index} of the host)` : ''
}

const valueText = (metric: string, value: number): string =>
  metric.endsWith('_bytes') ? bytesText(value) : metric.endsWith('_ratio') ? percent(value) : String(Math.round(value * 100) / 100)

function seriesRow({ metric, labels, t, value }: IncidentSeries, startedAt: number): readonly string[] {
  const before = value[t.findLastIndex((when) => when <= startedAt)] ?? value[0] ?? 0
  const whose = ['container', 'process', 'pid', 'gpu'].flatMap((name) => (labels[name] === undefined ? [] : [`${name} ${labels[name]}`])).join(', ')
  const shown = (n: number | undefined): string => (n === undefined ? '' : valueText(metric, n))
  return [code(metric.replace(/^warpwatch_/, '')), whose, shown(value[0]), shown(before), shown(value.at(-1)), shown(Math.max(...value))]
}
const processRow = (row: IncidentProcess): readonly string[] => [
  String(row.pid) + (row.inner_pid === undefined ? '' : ` (${row.inner_pid} inside)`),
  row.process === undefined ? '' : code(row.process),
  row.container === undefined ? '' : code([row.namespace, row.pod, row.container].filter(Boolean).join('/')),
  row.gpu ?? '',
  bytesText(row.gpu_memory_bytes),
]

const rankRow = ({
  rank,
  culprit,
  gpu = '',
  host = '',
  container,
  pid,
  waits_for: waits = '',
  since_ms: since,
  stands_at: stands,
}: HangRank): readonly string[] => [
  `${rank}${culprit === true ? ' (holds it up)' : ''}`,
  gpu,
  prose(host),
  container === undefined ? '' : code(container),
  pid === undefined ? '' : String(pid),
  prose(waits),
  since === undefined ? '' : isoText(since),
  stands === undefined ? '' : code(stands),
]

export function incidentReport(incident: Incident, host: string): string {
  const { kind, severity, status, title, verdict, facts, remedies, consequences, evidence, count } = incident
  const { actions = [], started_at: startedAt, occurred_at: occurredAt = startedAt, occurrences = [] } = incident
  const seconds = incident.resolved_at === undefined ? '' : `, resolved ${isoText(incident.resolved_at)}`
  const parts = [
    `# ${prose(title)}`,
    prose(verdict),
    table(
      ['', ''],
      [
        ['Incident', `${code(incident.id)} (${kind}, alert ${alertName(kind)})`],
        ['Runbook', `${code(runbookPath(kind))} on the agent's port`],
        ['Severity', severity],
        ...(incident.confidence === undefined ? [] : [['Confidence', CONFIDENCE_TEXTS[incident.confidence]]]),
        ['Status', `${status}${seconds}`],
        ['Host', code(host)],
        ['Hit', code(subjectText(incident))],
        ['Began', isoText(incident.started_at)],
        ['Seen', count === 1 ? 'once' : `${count} times, last ${isoText(incident.last_seen_at)}`],
        ...incidentContext(incident).map(([name, text]) => [name, code(text)]),
      ],
    ),
  ]
  if (remedies.length > 0)
    parts.push(
      '## What to do',
      remedies
        .map(({ text, command }, i) => `${i + 1}. ${prose(text)}${command === undefined ? '' : `\n\n   ${block(command, 'sh').replaceAll('\n', '\n   ')}`}`)
        .join('\n'),
    )
  if (actions.length > 0)
    parts.push(
      '## Actions',
      ...actions.map((done) =>
        [`- ${isoText(done.at)} ${code(done.action)} ${prose(actionText(done))}`, ...(done.output === undefined ? [] : [block(done.output)])].join('\n\n'),
      ),
    )
  const { ranks = [] } = facts
  if (ranks.length > 0) parts.push('## Ranks', table(['Rank', 'GPU', 'Host', 'Container', 'PID', 'Waits for', 'Since', 'At'], ranks.map(rankRow)))
  const known = Object.entries(facts).filter(([name, value]) => value !== undefined && name !== 'ranks')
  if (known.length > 0)
    parts.push(
      '## Figures',
      table(
        ['Fact', 'Value'],
        known.map(([name, value]) => [code(name), code(factText(name, value)) + ownCount(incident, name, value)]),
      ),
    )
  if (consequences.length > 0)
    parts.push(
      '## What followed from it',
      consequences
        .map(
          (one) =>
            `- ${isoText(one.first_seen_at)} ${prose(one.title)}${one.container === undefined ? '' : ` in ${code(one.container)}`}${one.count > 1 ? ` (${one.count} times)` : ''}`,
        )
        .join('\n'),
    )
  const written = writtenLines(evidence.log_lines)
  if (written.length > 0)
    parts.push(
      '## Log',
      block(
        written
          .map(({ t, origin, text, matched }) => `${matched === true ? '>' : ' '} ${isoText(t)} ${origin ?? ''}: ${text.replaceAll('\n', '\n  ')}`)
          .join('\n'),
      ),
    )
  if (evidence.processes.length > 0)
    parts.push('## Processes on the GPU', table(['Pid', 'Process', 'Container', 'GPU', 'GPU memory'], evidence.processes.map(processRow)))
  if (evidence.series.length > 0)
    parts.push(
      `## Readings, ${isoText(occurredAt - 120_000)} to 30 s after`,
      table(
        ['Metric', 'Of', 'First', 'At the fault', 'Last', 'Highest'],
        evidence.series.map((series) => seriesRow(series, occurredAt)),
      ),
    )
  if (occurrences.length > 0)
    parts.push(
      '## Earlier occurrences, newest first',
      ...occurrences.map(({ at, pid, verdict: said, log_lines: all }) => {
        const lines = writtenLines(all)
        return [
          `**${isoText(at)}**${pid === undefined ? '' : `, process ${pid}`}: ${prose(said)}`,
          ...(lines.length === 0 ? [] : [block(lines.map(({ text }) => text).join('\n'))]),
        ].join('\n\n')
      }),
    )
  if (evidence.container !== undefined) {
    const { env, ...settings } = evidence.container
    const rows = [...Object.entries(settings), ...Object.entries(env ?? {})].map(([name, value]) => [code(name), code(factText(name, value))])
    parts.push('## Container settings', table(['Setting', 'Value'], rows))
  }
  return `${parts.join('\n\n')}\n`
}
