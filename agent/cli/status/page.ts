// `warpwatch status` for people: one screen with the verdict first, then the agent, then what fires.
import { placedTitle } from '../../diagnosis/incidents/report.ts'
import type { IncidentSummary } from '../../model/incident.ts'
import { SEVERITIES } from '../../model/severity.ts'
import { memoryText } from '../../text/bytes.ts'
import { twoUnitSpan } from '../../text/span.ts'
import { printable, type Paint } from '../paint.ts'
import { hanging } from '../wrapped.ts'
import type { Look } from './look.ts'

/** A GPU whose newest sample is older has stopped answering. */
const STALE_S = 5
const BUSY_RATIO = 0.05
/** More do not fit the screen beside the rest. */
const MAX_SHOWN = 10
/** Behind the severity. */
const INDENT = ' '.repeat(12)

const disturbs = ({ severity, silenced }: IncidentSummary): boolean => severity !== 'info' && silenced === undefined
/** What makes the answer "not well": silenced incidents and notes do not. */
export const problemsOf = ({ firing, notReady, notifiers }: Look): readonly string[] => [
  ...(notReady === undefined ? [] : [`the agent does not sample: ${notReady}`]),
  ...notifiers.filter(({ status }) => status !== 'ok').map(({ name, status }) => `notifier ${name}: ${status}`),
  ...SEVERITIES.toReversed().flatMap((severity) => {
    const count = firing.filter((incident) => disturbs(incident) && incident.severity === severity).length
    return count === 0 ? [] : [`${count} ${severity} ${count === 1 ? 'incident' : 'incidents'} firing`]
  }),
]

function gpuText({ gpus }: Look): string {
  if (gpus.length === 0) return 'none'
  const silent = gpus.filter(({ sample_age_seconds: age = 0 }) => age > STALE_S)
  const sum = (measure: 'memory_used_bytes' | 'memory_total_bytes'): number => gpus.reduce((total, gpu) => total + (gpu[measure] ?? 0), 0)
  const busy = gpus.filter(({ utilization_ratio: ratio = 0 }) => ratio > BUSY_RATIO).length
  return [
    `${gpus.length}`,
    ...(sum('memory_total_bytes') === 0 ? [] : [`${memoryText(sum('memory_used_bytes'))} of ${memoryText(sum('memory_total_bytes'))} used`]),
    `${busy} busy`,
    silent.length === 0 ? 'all answering' : `not answering: ${silent.map(({ index }) => `GPU ${index}`).join(', ')}`,
  ].join(', ')
}

export function statusPage(look: Look, now: number, paint: Paint, columns?: number): string {
  const problems = problemsOf(look)
  const { firing, notifiers, running, sampleAgeMs } = look
  const rank = (incident: IncidentSummary): number => (disturbs(incident) ? 0 : SEVERITIES.length) - SEVERITIES.indexOf(incident.severity)
  const shown = firing.toSorted((a, b) => rank(a) - rank(b) || b.started_at - a.started_at).slice(0, MAX_SHOWN)
  const lines = shown.map(({ id, severity, started_at: began, silenced, acknowledged, ...rest }) =>
    [
      `  ${paint(severity, severity.padEnd(8))}  ${hanging(`${INDENT}${printable(placedTitle(rest))}`, columns, INDENT).slice(INDENT.length)}`,
      paint('dim', `(${twoUnitSpan(now - began)}, ${id}${silenced === undefined ? '' : ', silenced'}${acknowledged === undefined ? '' : ', acknowledged'})`),
    ].join(columns === undefined ? '  ' : `\n${INDENT}`),
  )
  const worst = look.notReady === undefined && !firing.some((one) => disturbs(one) && one.severity === 'critical') ? 'warning' : 'critical'
  const verdict = problems.length === 0 ? 'all is well' : problems.join(', ')
  return `${[
    `${paint('strong', printable(look.host))}: ${problems.length === 0 ? verdict : paint(worst, printable(verdict))}`,
    '',
    `  agent      ${look.url}, ${look.notReady ?? `sampling${sampleAgeMs === undefined ? '' : `, newest sample ${(sampleAgeMs / 1_000).toFixed(1)} s old`}`}`,
    `  GPUs       ${gpuText(look)}`,
    `  jobs       ${running} running`,
    `  notifiers  ${notifiers.length === 0 ? 'none' : printable(notifiers.map(({ name, status }) => `${name} ${status}`).join(', '))}`,
    ...(lines.length === 0 ? [] : ['', paint('strong', 'Firing'), ...lines]),
    ...(firing.length > shown.length ? [`  and ${firing.length - shown.length} more`] : []),
    ...(lines.length === 0 ? [] : ['', paint('dim', 'Why, and what to do: warpwatch incidents ID')]),
  ].join('\n')}\n`
}
