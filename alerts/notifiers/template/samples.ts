// Messages on which a template is tried before the first real one comes: one with all that there can be, one with next to nothing, an end, a storm.
import type { Incident } from '../../../agent/model/incident.ts'
import type { Message, MessageItem, Reach } from '../../../agent/model/notification.ts'
import { outgoing } from '../../messages/outgoing.ts'
import { sampleIncident } from '../../sample.ts'

const T = Date.UTC(2026, 0, 1)
/** What would break a body that does not escape. */
const SHARP = 'a "sharp" \\ text\nof <two> lines & more'

const whole: Incident = { ...sampleIncident({ kind: 'cuda_oom', t: T }), verdict: SHARP }
/** Of the host, and nothing else is known. */
const host: Incident = {
  ...sampleIncident({ kind: 'disk_full', t: T }),
  severity: 'warning',
  subject: { host: { name: 'host' } },
  facts: {},
  remedies: [],
  evidence: { log_lines: [], series: [], processes: [] },
}
const over: Incident = sampleIncident({ kind: 'cuda_oom', t: T, resolved: true })

const item = (incident: Incident): MessageItem => {
  const resolved = incident.status === 'resolved'
  return { event: resolved ? 'resolved' : 'firing', reason: resolved ? 'resolved' : 'new', incident: outgoing(incident) }
}
const LOCAL: Reach = { local_url: 'http://127.0.0.1:9839' }
const message = (items: readonly MessageItem[], reach: Reach = { ...LOCAL, base_url: 'http://host:9839' }): Message => ({
  key: 'sample',
  t: T,
  host: 'host',
  ...reach,
  items,
  count: new Set(items.map(({ incident }) => incident.id)).size,
})

/** `most`: as many items as a message of this notifier can have. */
export function sampleMessages(most: number): readonly (readonly [name: string, message: Message])[] {
  const many = Array.from({ length: most }, (_, i) => item({ ...whole, id: `${i}`.padStart(16, '0') }))
  return [
    ['an incident of a container on a GPU', message([item(whole)])],
    ['an incident of the host', message([item(host)])],
    ['the end of an incident', message([item(over)])],
    ['an incident without links, as alerts.base_url is not set', message([item(whole)], LOCAL)],
    [`${most} incidents`, { ...message(many), expired: { count: 3, from: T - 1_000, to: T } }],
  ]
}
