// What a template can say of a message. Each name is there in every message, null where it is not known, so that a template that works once works always.
import { SEVERITIES, type Severity } from '../../../agent/model/severity.ts'
import { alertName } from '../../../agent/model/kinds.ts'
import type { Message, MessageItem } from '../../../agent/model/notification.ts'
import { directionsOf, incidentUrl, runbookUrl } from '../../messages/links.ts'
import { headline } from '../../messages/incident-text.ts'
import { messageText } from '../../messages/message-text.ts'

const isoTime = (t: number | undefined): string | null => (t === undefined ? null : new Date(t).toISOString())

function itemView(message: Message, item: MessageItem): object {
  const { event, reason, incident } = item
  const { id, kind, severity, title, verdict, subject, facts, remedies, count, started_at, resolved_at, resolution } = incident
  const { gpu, container, process } = subject
  return {
    event,
    reason,
    id,
    kind,
    alert: alertName(kind),
    severity,
    headline: headline(item, message),
    title,
    verdict,
    count,
    gpu: gpu?.index ?? null,
    gpu_name: gpu?.name ?? null,
    uuid: gpu?.uuid ?? null,
    container: container?.name ?? null,
    image: container?.image ?? null,
    namespace: container?.namespace ?? null,
    pod: container?.pod ?? null,
    process: process?.name ?? null,
    pid: process?.pid ?? null,
    started_at: isoTime(started_at),
    resolved_at: isoTime(resolved_at),
    resolution: resolution ?? null,
    remedies: remedies.map(({ text, command }) => ({ text, command: command ?? null })),
    url: incidentUrl(message, id) ?? null,
    runbook: runbookUrl(message, kind) ?? null,
    directions: directionsOf(incident, message)?.text ?? null,
    facts,
    incident,
    message: { ...message, items: [item], count: 1 },
  }
}

/** Of what still fires, or else of all that is over. */
function worst(items: readonly MessageItem[]): Severity {
  const firing = items.filter(({ event }) => event === 'firing')
  const found = new Set((firing.length > 0 ? firing : items).map(({ incident }) => incident.severity))
  return SEVERITIES.findLast((severity) => found.has(severity)) ?? 'info'
}

export function viewOf(message: Message, secrets: Readonly<Record<string, string>>): object {
  const { key, t, host, base_url, items, count, expired } = message
  return {
    key,
    time: isoTime(t),
    host,
    dashboard: base_url ?? null,
    event: items.some(({ event }) => event === 'firing') ? 'firing' : 'resolved',
    test: items.every(({ reason }) => reason === 'test'),
    severity: worst(items),
    headline: messageText(message).headline,
    count,
    expired: expired?.count ?? null,
    items: items.map((item) => itemView(message, item)),
    message,
    secrets,
  }
}
