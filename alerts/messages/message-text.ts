// A whole message as plain parts: one headline, the worst in full, the others on one line each, and what is left counted by kind.
import type { Severity } from '../../agent/model/severity.ts'
import type { Message, MessageItem } from '../../agent/model/notification.ts'
import { counted, firstOf, plural } from '../../agent/text/grammar.ts'
import { twoUnitSpan } from '../../agent/text/span.ts'
import { utcText } from '../../agent/text/time.ts'
import { clip, oneLine } from './clean.ts'
import { headline, incidentText, type IncidentText } from './incident-text.ts'
import { gpuRange, sharedTitle } from './subject.ts'

export type MessageText = {
  /** With the severity in front. */
  readonly headline: string
  /** The worst that still stands; undefined where all is over. */
  readonly severity: Severity | undefined
  /** What the receiver should know beside the incidents. */
  readonly notes: readonly string[]
  readonly incidents: readonly IncidentText[]
  readonly others: readonly string[]
  /** Those beyond, by what happened: `Xid 79: … × 12`. */
  readonly more: readonly string[]
}
/** How much is said of how many. */
export type Extent = { readonly incidents: number; readonly others: number }
export const USUAL: Extent = { incidents: 3, others: 20 }

const SEVERITY_WORD: Readonly<Record<Severity, string>> = { critical: 'CRITICAL', warning: 'Warning', info: 'Info' }
const RANK: Readonly<Record<Severity, number>> = { critical: 0, warning: 1, info: 2 }

type Group = { readonly title: string; readonly items: readonly MessageItem[] }

/** What is of one kind and one title, whatever the card: one thing that happened to many. */
function groupsOf(items: readonly MessageItem[]): readonly Group[] {
  const groups = new Map<string, MessageItem[]>()
  for (const item of items) {
    const key = `${item.event} ${item.incident.kind} ${sharedTitle(item.incident)}`
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [item])
    else group.push(item)
  }
  return [...groups.values()].map((found) => ({ title: found[0] === undefined ? '' : sharedTitle(found[0].incident), items: found }))
}

/** `Xid 79: GPU has fallen off the bus on GPU 0–7`, `Out of GPU memory × 12 on GPU 3`. */
function groupText({ title, items }: Group, counted = true): string {
  const incidents = new Map(items.map(({ incident }) => [incident.id, incident]))
  const gpus = gpuRange([...incidents.values()])
  const cards = new Set([...incidents.values()].flatMap(({ subject }) => subject.gpu?.index ?? [])).size
  const times = counted && incidents.size > 1 && incidents.size !== cards ? ` × ${incidents.size}` : ''
  return `${clip(title, 90)}${times}${gpus === undefined ? '' : ` on ${gpus}`}`
}

/** The last word on each incident, as what fired and is over is twice in a message; what still fires before what is over. */
function standing(items: readonly MessageItem[]): readonly MessageItem[] {
  const latest = [...new Map(items.map((item) => [item.incident.id, item])).values()]
  const rank = ({ event, incident }: MessageItem): number => (event === 'firing' ? RANK[incident.severity] : 3)
  return latest.toSorted((a, b) => rank(a) - rank(b))
}

function headlineOfMany(latest: readonly MessageItem[], { host, count, t }: Message): string {
  const firing = latest.filter(({ event }) => event === 'firing')
  const over = latest.length - firing.length
  const critical = firing.filter(({ incident }) => incident.severity === 'critical').length
  const groups = groupsOf(firing.length > 0 ? firing : latest)
  const named = groups.slice(0, 2).map((group) => groupText(group))
  const rest = groups.length > 2 ? `; ${counted(groups.length - 2, 'other fault')}` : ''
  if (firing.length === 0) {
    const longest = Math.max(...latest.map(({ incident }) => (incident.resolved_at ?? t) - incident.started_at))
    return `Resolved: ${counted(count, 'incident')} on ${oneLine(host)}, the longest after ${twoUnitSpan(longest)}: ${named.join('; ')}${rest}`
  }
  const figures = [
    counted(count, 'incident'),
    ...(critical > 0 && critical < count ? [`${critical} critical`] : []),
    ...(over > 0 ? [`${over} over already`] : []),
  ]
  return `${oneLine(host)}: ${figures.join(', ')}: ${named.join('; ')}${rest}`
}

function worstOf(items: readonly MessageItem[]): Severity | undefined {
  return items
    .filter(({ event }) => event === 'firing')
    .map(({ incident }) => incident.severity)
    .toSorted((a, b) => RANK[a] - RANK[b])[0]
}

function notesOf({ expired }: Message, latest: readonly MessageItem[]): readonly string[] {
  const notes: string[] = []
  if (expired !== undefined) {
    const [what, was] = expired.count === 1 ? ['One earlier notification', 'was'] : [`${expired.count} earlier notifications`, 'were']
    notes.push(
      `${what}, from ${utcText(expired.from)} to ${utcText(expired.to)}, could not be delivered here in time and ${was} dropped; on the host, "warpwatch incidents" lists all of them.`,
    )
  }
  if (latest.some(({ reason }) => reason === 'held')) notes.push('Some of this was delayed by quiet hours.')
  return notes
}

/** One of each group first, as one of eight equal faults says what all eight are. */
function inFull(latest: readonly MessageItem[], most: number): ReadonlySet<MessageItem> {
  const firing = latest.filter(({ event }) => event === 'firing')
  const groups = groupsOf(firing.length > 0 ? firing : latest)
  return new Set(groups.flatMap(({ items: [first] }) => first ?? []).slice(0, most))
}

/** So many of one group are named one by one; of more, who they are is enough. */
const ONE_BY_ONE = 3
const MOST_NAMES = 5

function jobsOf(items: readonly MessageItem[]): string {
  const names = [...new Set(items.flatMap(({ incident }) => incident.subject.container?.name ?? []))].map((name) => clip(oneLine(name), 60))
  if (names.length === 0) return ''
  return `, in ${plural(names.length, 'container')} ${firstOf(names, MOST_NAMES)}`
}

function linesOf(group: Group, message: Message): readonly string[] {
  const { items } = group
  if (items.length <= ONE_BY_ONE) return items.map((item) => headline(item, message))
  const over = items[0]?.event === 'resolved' ? 'resolved: ' : ''
  return [`${items.length} more: ${over}${groupText(group, false)}${jobsOf(items)}`]
}

export function messageText(message: Message, { incidents, others }: Extent = USUAL): MessageText {
  const { items } = message
  const latest = standing(items)
  const severity = worstOf(latest)
  const [only] = latest
  const own = latest.length === 1 && only !== undefined ? headline(only, message) : headlineOfMany(latest, message)
  const full = inFull(latest, incidents)
  const groups = groupsOf(latest.filter((item) => !full.has(item)))
  // A group is listed as a whole or counted.
  const lines = groups.map((group) => linesOf(group, message))
  let room = others
  const cut = lines.findIndex((some) => (room -= some.length) < 0)
  const shown = cut < 0 ? lines.length : cut
  return {
    headline: severity === undefined ? own : `${SEVERITY_WORD[severity]}: ${own}`,
    severity,
    notes: notesOf(message, latest),
    incidents: latest.filter((item) => full.has(item)).map((item) => incidentText(item, message)),
    others: lines.slice(0, shown).flat(),
    more: groups.slice(shown).map(({ title, items: left }) => (left.length === 1 ? title : `${title} × ${left.length}`)),
  }
}
