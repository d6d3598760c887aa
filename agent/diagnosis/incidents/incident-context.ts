// The context of an incident as text for terminal and report: what led to it, what followed, silence, acknowledgement.
import type { IncidentLink, IncidentSummary } from '../../model/incident.ts'
import { utcText } from '../../text/time.ts'

const linkText = ({ kind, id }: IncidentLink): string => `${kind} ${id}`

/** Pairs of what it is and what it says, those that are known. */
export function incidentContext(
  incident: Pick<IncidentSummary, 'story' | 'part_of' | 'led_to' | 'silenced' | 'acknowledged' | 'resolution'>,
): readonly (readonly [string, string])[] {
  const { story, part_of: partOf, led_to: ledTo = [], silenced, acknowledged, resolution } = incident
  const from = partOf !== undefined && story !== undefined && story !== partOf.id ? `; the chain began with ${story}` : ''
  const rows: (readonly [string, string])[] = []
  if (partOf !== undefined) rows.push(['Part of', `${linkText(partOf)}${from}`])
  if (ledTo.length > 0) rows.push(['Led to', ledTo.map(linkText).join(', ')])
  if (silenced !== undefined) rows.push(['Silenced', `until ${utcText(silenced.until)} (${silenced.id})`])
  if (acknowledged !== undefined) {
    const { by, note } = acknowledged
    rows.push(['Acknowledged', `${by === undefined ? '' : `by ${by}, `}${utcText(acknowledged.at)}${note === undefined ? '' : `: ${note}`}`])
  }
  if (resolution !== undefined) rows.push(['Over because', resolution])
  return rows
}
