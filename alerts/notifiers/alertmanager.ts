// Alertmanager, API v2: each incident is an alert that is reported again while it fires; grouping, routing and silences are Alertmanager's work.
import { onOff, text, texts } from '../../agent/config/field.ts'
import { xidLabels } from '../../agent/model/incident.ts'
import { alertName } from '../../agent/model/kinds.ts'
import type { Message, MessageItem, OutgoingIncident } from '../../agent/model/notification.ts'
import { directionsOf, incidentUrl, runbookUrl } from '../messages/links.ts'
import { hostOf, receiverUrl, secretText, type OptionProblem } from './common.ts'
import { defineNotifier, type OutgoingRequest } from './definition.ts'

/** Alertmanager asks its clients to send what still fires each 30 s to 3 min. */
const REFRESH_MS = 60_000
/** As Prometheus does it: an alert that was not told for three turns ends by itself, so that those of a dead agent do. */
const TURNS = 3
const MOST = 200
export const HEARTBEAT_ALERT = 'WarpwatchHeartbeat'

type Texts = Readonly<Record<string, string>>
type Alert = {
  readonly labels: Texts
  readonly annotations: Texts
  readonly startsAt?: string
  readonly endsAt: string
  readonly generatorURL?: string
}

const isoTime = (t: number): string => new Date(t).toISOString()
const OWN_LABELS: ReadonlySet<string> = new Set(['alertname', 'kind', 'severity', 'gpu', 'uuid', 'container', 'xid', 'sxid', 'incident'])
const isLabel = (name: string, value: string): boolean => /^[a-zA-Z_]\w*$/.test(name) && !name.startsWith('__') && !OWN_LABELS.has(name) && value !== ''

/**
 * As `warpwatch_incident_active` has them, so that rules for inhibition fit both ways; and the incident, since Alertmanager takes alerts with equal labels
 * for one: two services that are down, say, would hide each other, and the first that is over would end both.
 */
function labelsOf({ id, kind, severity, facts, subject: { gpu, container } }: OutgoingIncident): Texts {
  return {
    alertname: alertName(kind),
    kind,
    severity,
    ...(gpu?.uuid === undefined ? {} : { uuid: gpu.uuid, ...(gpu.index === undefined ? {} : { gpu: String(gpu.index) }) }),
    ...(container === undefined ? {} : { container: container.name }),
    ...xidLabels(kind, facts),
    incident: id,
  }
}

export const alertmanager = defineNotifier({
  type: 'alertmanager',
  summary: 'Alertmanager, API v2',
  takesRuns: false,
  options: {
    url: receiverUrl('Where Alertmanager is; the path of its API is added.', 'http://alertmanager.example.com:9093'),
    username: text({ default: '', description: 'For Basic authentication, with the password.' }),
    password: secretText('The password of the username.'),
    token: secretText('For Bearer authentication, in place of a username.'),
    labels: texts({
      default: {},
      valid: isLabel,
      expected: `label names of letters, digits and _ with their values, none of ${[...OWN_LABELS].join(', ')}`,
      description: 'Added to each alert; instance is the name of the host unless it is set here.',
    }),
    heartbeat: onOff({ default: false, description: `Send the alert ${HEARTBEAT_ALERT}, which fires for as long as the agent samples.` }),
  },
  required: ['url'],
  check({ username, password, token }): readonly OptionProblem[] {
    if (username === '' && password !== '') return [{ option: 'password', text: 'needs a username: set username too' }]
    if (username !== '' && token !== '') return [{ option: 'token', text: 'username and token exclude each other: leave out one' }]
    return username.includes(':') ? [{ option: 'username', text: 'must not hold a colon: Basic authentication does not allow it' }] : []
  },
  create({ url, username, password, token, labels: added, heartbeat }) {
    const authorization = token !== '' ? `Bearer ${token}` : username !== '' ? `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` : undefined
    const request = (alerts: readonly Alert[]): OutgoingRequest => ({
      method: 'POST',
      url: apiUrl(url),
      headers: { 'Content-Type': 'application/json', ...(authorization === undefined ? {} : { Authorization: authorization }) },
      body: JSON.stringify(alerts),
    })
    const alertOf = (message: Message, { event, incident }: MessageItem): Alert => {
      const { kind, verdict, title, remedies, started_at, fired_at = started_at, resolved_at } = incident
      const [remedy] = remedies
      const link = incidentUrl(message, incident.id)
      const runbook = runbookUrl(message, kind)
      const dashboard = link ?? directionsOf(incident, message)?.text
      return {
        labels: { instance: message.host, ...added, ...labelsOf(incident) },
        annotations: {
          summary: title,
          description: verdict,
          ...(remedy === undefined ? {} : { remedy: remedy.command === undefined ? remedy.text : `${remedy.text}\n${remedy.command}` }),
          ...(runbook === undefined ? {} : { runbook_url: runbook }),
          // Words without a URL where there is no link: Alertmanager's page makes a link of each URL.
          ...(dashboard === undefined ? {} : { dashboard }),
        },
        // Not when its first sign was seen: what began longer ago than group_wait is sent at once, before the rest of its group is there.
        startsAt: isoTime(fired_at),
        endsAt: isoTime(event === 'resolved' ? (resolved_at ?? message.t) : message.t + TURNS * REFRESH_MS),
        ...(link === undefined ? {} : { generatorURL: link }),
      }
    }
    return {
      most: MOST,
      refreshMs: REFRESH_MS,
      host: hostOf(url),
      request: (message) => request(newest(message.items).map((item) => alertOf(message, item))),
      ...(heartbeat
        ? {
            heartbeat: ({ t, host, base_url }) =>
              request([
                {
                  labels: { instance: host, ...added, alertname: HEARTBEAT_ALERT, severity: 'none' },
                  annotations: { summary: `Warpwatch watches ${host}`, description: 'It fires for as long as all is well: have its absence reported.' },
                  endsAt: isoTime(t + TURNS * REFRESH_MS),
                  ...(base_url === undefined ? {} : { generatorURL: base_url }),
                },
              ]),
          }
        : {}),
    }
  },
})

/** Of an incident that is there firing and resolved the last word counts: Alertmanager knows no order within a request. */
const newest = (items: readonly MessageItem[]): readonly MessageItem[] => [...new Map(items.map((item) => [item.incident.id, item])).values()]

function apiUrl(base: string): string {
  const url = new URL(base)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/api/v2/alerts`
  return url.href
}
