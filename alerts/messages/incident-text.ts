// One incident as plain, format-free parts, for a reader who does not know Warpwatch: which job on which GPU died, why, what to change.
import type { Facts } from '../../agent/model/facts.ts'
import type { Remedy } from '../../agent/model/fault.ts'
import { LOG_KINDS } from '../../agent/model/kinds.ts'
import type { Severity } from '../../agent/model/severity.ts'
import type { Consequence, IncidentLink } from '../../agent/model/incident.ts'
import type { Message, MessageItem, NotificationReason, OutgoingIncident, Reach } from '../../agent/model/notification.ts'
import { figureText } from '../../agent/text/figures.ts'
import { twoUnitSpan } from '../../agent/text/span.ts'
import { utcClock, utcText } from '../../agent/text/time.ts'
import { clean, clip, oneLine } from './clean.ts'
import { sparkText } from './sparkline.ts'
import { directionsOf, linksOf, type Directions, type Link } from './links.ts'
import { headlineOf, whereOf } from './subject.ts'

export type IncidentText = {
  /** The incident's own, with the reason of the notification in front: `Still firing: …`. */
  readonly headline: string
  readonly resolved: boolean
  readonly severity: Severity
  readonly when: string
  readonly where: string
  /** What failed and why; of what is over, why it is. */
  readonly why: string
  readonly remedies: readonly Remedy[]
  readonly moreRemedies: number
  readonly log: readonly string[]
  readonly spark?: { readonly title: string; readonly line: string }
  readonly figures: readonly string[]
  readonly followed: readonly string[]
  /** The incident that caused it. */
  readonly began?: string
  readonly links: readonly Link[]
  /** Where a link would lead nobody anywhere. */
  readonly directions?: Directions
}

const PREFIX: Readonly<Record<NotificationReason, string>> = {
  new: '',
  worse: 'Now worse: ',
  repeat: 'Still firing: ',
  held: 'During quiet hours: ',
  resolved: '',
  test: 'Test, nothing happened: ',
}

const lasted = ({ started_at: from, resolved_at: to }: OutgoingIncident, t: number): string => twoUnitSpan((to ?? t) - from)

export function headline({ event, reason, incident }: MessageItem, { host, t }: Pick<Message, 'host' | 't'>): string {
  const own = headlineOf(incident, host)
  return event === 'resolved' ? `Resolved after ${lasted(incident, t)}: ${own}` : `${PREFIX[reason]}${own}`
}

function whenOf({ event, incident }: MessageItem, t: number): string {
  const { started_at: from, resolved_at: to, last_seen_at: last, count, acknowledged } = incident
  const times = count > 1 ? `, seen ${count} times, last at ${utcText(last)}` : ''
  const taken = acknowledged === undefined ? '' : `; acknowledged${acknowledged.by === undefined ? '' : ` by ${clip(oneLine(acknowledged.by), 80)}`}`
  if (event === 'resolved') return `${utcText(from)} to ${utcText(to ?? t)}${times}`
  // A log's lines can be minutes old where the agent has just started.
  const since = t - from >= 60_000 ? ` (${twoUnitSpan(t - from)} ago)` : ''
  return `${utcText(from)}${since}${times}${taken}`
}

function whyOf({ event, incident }: MessageItem): string {
  const verdict = clip(oneLine(incident.verdict), 1_200)
  if (event !== 'resolved') return verdict
  const { resolution } = incident
  // A crash is over when its log says no more of it, which is less than a job that runs.
  const silent = (LOG_KINDS as readonly string[]).includes(incident.kind) ? '; that does not say whether the job runs again' : ''
  const over = resolution === undefined ? `Not seen again since ${utcText(incident.last_seen_at)}${silent}` : clip(oneLine(resolution), 300)
  return `${over.charAt(0).toUpperCase()}${over.slice(1)}. What it was: ${verdict}`
}

type Shown = readonly [fact: keyof Facts, label: string, unit: string]
/** What a verdict may leave out; the order is that of their worth. */
const SHOWN: readonly Shown[] = [
  ['requested_bytes', 'asked for', 'By'],
  ['free_bytes', 'free', 'By'],
  ['total_bytes', 'card', 'By'],
  ['process_bytes', 'held by the process', 'By'],
  ['limit_bytes', 'limit', 'By'],
  ['anon_rss_bytes', 'held when killed', 'By'],
  ['temperature_celsius', 'GPU', 'Cel'],
  ['memory_temperature_celsius', 'its memory', 'Cel'],
  ['power_watts', 'power', 'W'],
  ['power_limit_watts', 'power limit', 'W'],
  ['sm_clock_hertz', 'SM clock', 'Hz'],
  ['sm_clock_max_hertz', 'highest', 'Hz'],
  ['utilization_ratio', 'utilization', '1'],
  ['exit_code', "the job's exit code", ''],
]
const MOST_FIGURES = 6

function figuresOf(facts: Facts): readonly string[] {
  return SHOWN.flatMap(([name, label, unit]) => {
    const value = facts[name]
    return typeof value === 'number' && Number.isFinite(value) ? [`${label} ${unit === '' ? value : figureText(value, unit)}`] : []
  }).slice(0, MOST_FIGURES)
}

const MOST_LINES = 3
/** The lines that show the fault; a fault that only numbers show has its own words for a line, which are above already. */
function logOf({ evidence }: OutgoingIncident): readonly string[] {
  const lines = evidence.log_lines.filter(({ stream }) => stream !== 'numbers')
  const marked = lines.filter(({ matched }) => matched === true)
  const shown = (marked.length > 0 ? marked : lines.slice(-MOST_LINES)).map(({ t, text }) => `${utcClock(t)} ${clip(clean(text), 400)}`)
  return [...new Set(shown)].slice(0, MOST_LINES)
}

function followedLines(consequences: readonly Consequence[]): readonly string[] {
  const lines = new Map<string, number>()
  for (const { title, container, count } of consequences) {
    const line = `${clip(oneLine(title), 120)}${container === undefined ? '' : ` in container ${clip(oneLine(container), 80)}`}`
    lines.set(line, (lines.get(line) ?? 0) + count)
  }
  const all = [...lines].map(([line, count]) => (count > 1 ? `${line} (${count} times)` : line))
  return all.length <= 4 ? all : [...all.slice(0, 3), `${all.length - 3} others`]
}
const linkText = ({ kind, id }: IncidentLink): string => `incident ${kind} (${id})`

const MOST_REMEDIES = 3

export function incidentText(item: MessageItem, message: Reach & Pick<Message, 'host' | 't'>): IncidentText {
  const { incident } = item
  const resolved = item.event === 'resolved'
  const remedies = resolved ? [] : incident.remedies
  const directions = directionsOf(incident, message)
  return {
    headline: headline(item, message),
    resolved,
    severity: incident.severity,
    when: whenOf(item, message.t),
    where: whereOf(incident, message.host),
    why: whyOf(item),
    remedies: remedies
      .slice(0, MOST_REMEDIES)
      .map(({ text, command }) => ({ text: clip(oneLine(text), 400), ...(command === undefined ? {} : { command: clip(clean(command), 400) }) })),
    moreRemedies: Math.max(0, remedies.length - MOST_REMEDIES),
    log: resolved ? [] : logOf(incident),
    ...(resolved || incident.spark === undefined ? {} : { spark: sparkText(incident.spark) }),
    figures: resolved ? [] : figuresOf(incident.facts),
    followed: [...followedLines(incident.consequences), ...(incident.led_to ?? []).slice(0, 3).map(linkText)],
    ...(incident.part_of === undefined ? {} : { began: linkText(incident.part_of) }),
    links: linksOf(incident, message),
    ...(directions === undefined ? {} : { directions }),
  }
}
