// Below an incident: its story, what people said of it, and what the reader may say.
import type { IncidentLink, IncidentSummary } from '../../../agent/model/incident.ts'
import { agentNow } from '../state/app.ts'
import { incidents } from '../state/incidents.ts'
import { acknowledge, silenceForAnHour } from '../state/maintenance.ts'
import { since } from '../text/format.ts'

/** By its title where the page knows it. */
const nameOf = ({ id, kind }: IncidentLink): string => incidents.value.get(id)?.title ?? kind

export function IncidentWords({ incident }: { readonly incident: IncidentSummary }) {
  const { status, part_of: partOf, led_to: ledTo = [], silenced, acknowledged } = incident
  const now = agentNow.peek()
  const firing = status === 'firing'
  return (
    <>
      {partOf !== undefined && <p class="story">part of: {nameOf(partOf)}</p>}
      {ledTo.length > 0 && <p class="story">led to: {ledTo.map(nameOf).join(', ')}</p>}
      <p class="words">
        {silenced !== undefined && <span>silenced until {since(silenced.until, now)}</span>}
        {acknowledged !== undefined && (
          <span>
            acknowledged {since(acknowledged.at, now)}
            {acknowledged.by === undefined ? '' : ` by ${acknowledged.by}`}
            {acknowledged.note === undefined ? '' : `: ${acknowledged.note}`}
          </span>
        )}
        {firing && silenced === undefined && (
          <button type="button" class="word" onClick={() => void silenceForAnHour(incident)}>
            silence 1 h
          </button>
        )}
        {firing && acknowledged === undefined && (
          <button type="button" class="word" onClick={() => void acknowledge(incident)}>
            acknowledge
          </button>
        )}
      </p>
    </>
  )
}
