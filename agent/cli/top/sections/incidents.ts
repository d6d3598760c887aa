// What fires, the worst first; Enter shows why and what to do.
import type { IncidentSummary } from '../../../model/incident.ts'
import { twoUnitSpan } from '../../../text/span.ts'
import type { Row, Section } from './section.ts'

const stateOf = ({ silenced, acknowledged }: IncidentSummary): string =>
  silenced === undefined ? (acknowledged === undefined ? '' : 'acknowledged') : 'silenced'

const rowOf = (incident: IncidentSummary, t: number): Row => {
  const { id, severity, title, kind, started_at: began } = incident
  return {
    key: id,
    text: `${severity} ${kind} ${title}`,
    dim: incident.silenced !== undefined,
    values: [severity, began, stateOf(incident), title],
    cells: [
      [{ text: severity, style: severity === 'info' ? { colour: 'accent' } : { colour: severity, bold: true } }],
      twoUnitSpan(Math.max(0, t - began)),
      stateOf(incident),
      title,
    ],
  }
}

export const incidentSection = (firing: readonly IncidentSummary[], t: number): Section => ({
  id: 'incidents',
  title: 'incidents',
  least: 2,
  columns: [
    { title: 'SEVERITY', width: 8 },
    { title: 'SINCE', width: 11, right: true },
    { title: '', width: 12, drop: 1 },
    { title: 'WHAT', width: 20, grow: 1 },
  ],
  rows: firing.map((incident) => rowOf(incident, t)),
})
