// Of an incident what comes a moment after its words: what it led to, who silenced or acknowledged it, the buttons to do so, and its report.
import { since, timeWithSeconds } from '../../../../agent/text/time.ts'
import type { IncidentLink, IncidentSummary } from '../../../../agent/model/incident.ts'
import { MOST_LINKS } from '../../parts/incident/subject.ts'
import { incidents } from '../../parts/incident/known.ts'
import { acknowledge, silenceForAnHour } from '../../parts/incident/operator.ts'
import { agentNow } from '../../parts/live/state.ts'
import { getText, storedToken } from '../../parts/connection/api.ts'
import { hrefOf } from '../../parts/route.ts'

/** By its title where the page knows it, and the time, as several of one title may be together. */
function Linked({ link: { id, kind } }: { readonly link: IncidentLink }) {
  const known = incidents.value.get(id)
  return (
    <>
      <a href={hrefOf('incidents', [id])}>{known?.title ?? kind}</a>
      {known === undefined ? '' : ` ${timeWithSeconds(known.started_at)}`}
    </>
  )
}

type Props = {
  readonly incident: IncidentSummary
  /** Ids of incidents that are beside it already. */
  readonly listed: ReadonlySet<string>
}

export function IncidentWords({ incident, listed }: Props) {
  const { status, part_of: partOf, led_to: all = [], silenced, acknowledged } = incident
  const ledTo = all.filter(({ id }) => !listed.has(id))
  const now = agentNow.peek()
  const firing = status === 'firing'
  return (
    <>
      {partOf !== undefined && !listed.has(partOf.id) && (
        <p class="story">
          part of: <Linked link={partOf} />
        </p>
      )}
      {ledTo.slice(-MOST_LINKS).map((link) => (
        <p key={link.id} class="story">
          led to: <Linked link={link} />
        </p>
      ))}
      {ledTo.length > MOST_LINKS && (
        <p class="story">
          and <a href={hrefOf('incidents', [incident.id])}>{`${ledTo.length - MOST_LINKS} earlier`}</a>
        </p>
      )}
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

/** A link cannot carry a token, so with one the report is fetched and opened from here. */
function open(event: MouseEvent, path: string): void {
  const token = storedToken()
  if (token === undefined) return
  event.preventDefault()
  getText(path, token)
    .then((text) => window.open(URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }))))
    .catch((error: unknown) => console.warn(error))
}

export function Report({ id }: { readonly id: string }) {
  const path = `api/v1/incidents/${id}/report`
  return (
    <a class="report" href={path} target="_blank" rel="noreferrer" onClick={(event) => open(event, path)}>
      report
    </a>
  )
}
