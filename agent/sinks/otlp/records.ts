// An incident as an OTLP log record: one when it fires, one when it is over.
import { SeverityNumber } from '@opentelemetry/api'
import type { ReadableLogRecord } from '@opentelemetry/sdk-logs'
import type { Severity } from '../../model/severity.ts'
import type { IncidentSummary } from '../../model/incident.ts'
import type { Labels } from '../../model/series.ts'
import { createAttributeBook } from './attributes.ts'
import { hrTime } from './hr-time.ts'
import { SCOPE, type Resource } from './resource.ts'

export type IncidentEvent = 'firing' | 'resolved'

const SEVERITY: Readonly<Record<Severity, SeverityNumber>> = { info: SeverityNumber.INFO, warning: SeverityNumber.WARN, critical: SeverityNumber.ERROR }

/** No identity is looked up here: an incident names what it affected. */
const book = createAttributeBook()

/** The subject in the words that its metrics have. */
function labelsOf({ gpu, container, process }: IncidentSummary['subject']): Labels {
  const labels: Record<string, string | number | undefined> = {
    uuid: gpu?.uuid,
    gpu: gpu?.index,
    name: gpu?.name,
    pci_bus_id: gpu?.pci_bus_id,
    container: container?.name,
    container_id: container?.id,
    image: container?.image,
    namespace: container?.namespace,
    pod: container?.pod,
    pid: process?.pid,
    inner_pid: process?.inner_pid,
    process: process?.name,
  }
  return Object.fromEntries(Object.entries(labels).flatMap(([label, value]) => (value === undefined ? [] : [[label, String(value)]])))
}

function attributesOf(incident: IncidentSummary): ReadableLogRecord['attributes'] {
  const { id, kind, severity, status, title, count, started_at, fired_at, resolved_at, resolution, story, silenced, facts, remedies, subject } = incident
  const own: Readonly<Record<string, unknown>> = {
    id,
    kind,
    severity,
    status,
    title,
    count,
    started_at_ms: started_at,
    fired_at_ms: fired_at,
    resolved_at_ms: resolved_at,
    resolution,
    story,
    silenced: silenced === undefined ? undefined : true,
    remedies: remedies.map(({ text, command }) => (command === undefined ? text : `${text} ${command}`)),
  }
  const attributes: ReadableLogRecord['attributes'] = { ...book.of(labelsOf(subject)) }
  for (const [name, value] of Object.entries(own)) if (value !== undefined) attributes[`warpwatch.incident.${name}`] = value
  for (const [name, value] of Object.entries(facts)) if (value !== undefined) attributes[`warpwatch.fact.${name}`] = value
  return attributes
}

export function recordOf(incident: IncidentSummary, event: IncidentEvent, resource: Resource, now: number): ReadableLogRecord {
  const at = event === 'firing' ? (incident.fired_at ?? incident.started_at) : (incident.resolved_at ?? incident.last_seen_at)
  // That it is over is no fault; how bad it was is in the attributes.
  const severityNumber = event === 'firing' ? SEVERITY[incident.severity] : SeverityNumber.INFO
  return {
    hrTime: hrTime(at),
    hrTimeObserved: hrTime(now),
    severityNumber,
    severityText: SeverityNumber[severityNumber] ?? '',
    body: event === 'firing' ? incident.verdict : `Resolved${incident.resolution === undefined ? '' : ` (${incident.resolution})`}: ${incident.verdict}`,
    eventName: `warpwatch.incident.${event}`,
    attributes: attributesOf(incident),
    resource,
    instrumentationScope: SCOPE,
    droppedAttributesCount: 0,
  }
}
