// What a template can say of a summary of waste: the names of an incident's message, so that one template serves both, and the summary itself.
import type { WasteReport } from '../../../agent/model/ledger.ts'
import type { WasteMessage } from '../../../agent/model/notification.ts'
import { messagePageUrl } from '../../messages/links.ts'
import { wasteHeadline, wasteMessageText } from '../../messages/waste-text.ts'

function itemView(message: WasteMessage, report: WasteReport): object {
  const { period, date, from, to } = report
  return {
    event: 'waste',
    reason: 'new',
    id: `waste-${period}-${date}`,
    kind: 'waste',
    alert: 'Waste',
    severity: 'info',
    headline: wasteHeadline(report),
    title: wasteHeadline(report),
    verdict: null,
    count: 1,
    gpu: null,
    gpu_name: null,
    uuid: null,
    container: null,
    image: null,
    namespace: null,
    pod: null,
    process: null,
    pid: null,
    started_at: new Date(from).toISOString(),
    resolved_at: new Date(to).toISOString(),
    resolution: null,
    remedies: [],
    url: null,
    runbook: messagePageUrl(message, 'waste_summary') ?? null,
    directions: null,
    facts: {},
    incident: null,
    waste: report,
    message: { ...message, waste: [report] },
  }
}

export function wasteViewOf(message: WasteMessage, secrets: Readonly<Record<string, string>>): object {
  const { key, t, host, base_url, waste, expired } = message
  return {
    key,
    time: new Date(t).toISOString(),
    host,
    dashboard: base_url ?? null,
    event: 'waste',
    test: false,
    severity: 'info',
    headline: wasteMessageText(message).headline,
    count: waste.length,
    expired: expired?.count ?? null,
    items: waste.map((report) => itemView(message, report)),
    message,
    secrets,
  }
}
