// What else is told about an incident: its place in a story, and what people said of it. Words for terminal and report.
import type { IncidentLink, IncidentSummary } from '../../model/incident.ts'
import { utcText } from '../../text/time.ts'

const linkText = ({ kind, id }: IncidentLink): string => `${kind} ${id}`

/** Pairs of what it is and what it says, those that are known. */
export function toldAbout(
  incident: Pick<IncidentSummary, 'story' | 'part_of' | 'led_to' | 'silenced' | 'acknowledged' | 'resolution'>,
): readonly (readonly [string, string])[] {
  const { story, part_of: partOf, led_to: ledTo = [], silenced, acknowledged, resolution } = incident
  const from = partOf !== undefined && story !== undefined && story !== partOf.id ? `; the story began with ${story}` : ''
  const told: (readonly [string, string])[] = []
  if (partOf !== undefined) told.push(['Part of', `${linkText(partOf)}${from}`])
  if (ledTo.length > 0) told.push(['Led to', ledTo.map(linkText).join(', ')])
  if (silenced !== undefined) told.push(['Silenced', `until ${utcText(silenced.until)} (${silenced.id})`])
  if (acknowledged !== undefined) {
    const { by, note } = acknowledged
    told.push(['Acknowledged', `${by === undefined ? '' : `by ${by}, `}${utcText(acknowledged.at)}${note === undefined ? '' : `: ${note}`}`])
  }
  if (resolution !== undefined) told.push(['Over because', resolution])
  return told
}
