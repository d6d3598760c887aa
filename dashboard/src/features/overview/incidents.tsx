// What went wrong: firing and recent incidents with verdict and first remedy; and what is silenced. All words come from logs in the end, so they are only ever set as text.
import { since, timeWithSeconds } from '../../../../agent/text/time.ts'
import type { Silence } from '../../../../agent/model/maintenance.ts'
import { getText, storedToken } from '../../parts/connection/api.ts'
import { besideTitle } from '../../parts/incident/filter.ts'
import { rows, shown } from '../../parts/incident/known.ts'
import type { Repeated } from '../../parts/incident/repeats.ts'
import { placedTitle } from '../../parts/live/summary.ts'
import { endSilence, refused, silences } from '../../parts/incident/silences.ts'
import { agentNow, views } from '../../parts/live/state.ts'
import { hrefOf } from '../../parts/route.ts'
import { IncidentWords } from './said.tsx'

/** A link cannot carry a token, so with one the report is fetched and opened from here. */
function open(event: MouseEvent, path: string): void {
  const token = storedToken()
  if (token === undefined) return
  event.preventDefault()
  getText(path, token)
    .then((text) => window.open(URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }))))
    .catch((error: unknown) => console.warn(error))
}

function Entry({ of: { incident, times, since: begun } }: { readonly of: Repeated }) {
  const { id, kind, severity, status, verdict, count, remedies, consequences, started_at: startedAt, last_seen_at: lastSeen } = incident
  const now = agentNow.peek()
  const beside = besideTitle(incident)
  const [first] = remedies
  const path = `api/v1/incidents/${id}/report`
  return (
    <li class="incident" data-kind={kind} data-severity={severity} data-status={status} data-silenced={incident.silenced === undefined ? undefined : ''}>
      <p class="incident-head">
        <b>
          <a href={hrefOf('incidents', [id])}>{placedTitle(incident)}</a>
        </b>
        {beside !== '' && <span>{beside}</span>}
        <span>
          {status === 'resolved' ? `resolved ${timeWithSeconds(incident.resolved_at ?? lastSeen)}` : `since ${since(startedAt, now)}`}
          {count > 1 ? ` · ${count} times${status === 'resolved' ? '' : `, last ${since(lastSeen, now)}`}` : ''}
          {consequences.length > 0 ? ` · ${consequences.length === 1 ? '1 consequence' : `${consequences.length} consequences`}` : ''}
        </span>
        {times > 1 && (
          <a
            class="flapping"
            href={hrefOf('incidents', [], { kind, text: incident.subject.gpu?.uuid ?? incident.subject.container?.name })}
          >{`flapping: ${times} times since ${since(begun, now)}`}</a>
        )}
        <a class="report" href={path} target="_blank" rel="noreferrer" onClick={(event) => open(event, path)}>
          report
        </a>
      </p>
      {/* What is over keeps one line: its page has the rest. */}
      {status !== 'resolved' && <p>{verdict}</p>}
      {status !== 'resolved' && first !== undefined && (
        <p class="remedy">
          {first.text} {first.command !== undefined && <code>{first.command}</code>}
        </p>
      )}
      {status !== 'resolved' && <IncidentWords incident={incident} />}
    </li>
  )
}

export function IncidentList() {
  const entries = shown.value
  if (entries.length === 0) return null
  const more = rows.value.length - entries.length
  return (
    <section class="incidents" aria-labelledby="incidents-title">
      <h2 id="incidents-title">Incidents</h2>
      {refused.value !== undefined && (
        <p class="refused" role="alert">
          That was not taken: {refused.value}
        </p>
      )}
      <ul aria-live="polite">
        {entries.map((of) => (
          <Entry key={of.incident.id} of={of} />
        ))}
      </ul>
      {more > 0 && (
        <p class="more">
          <a href={hrefOf('incidents')}>{more} more</a>
        </p>
      )}
    </section>
  )
}

const scopeText = ({ kind, gpu, container, severity }: Silence): string =>
  [kind, severity, gpu === undefined ? undefined : `GPU ${views.peek()?.find(({ uuid }) => uuid === gpu)?.index ?? gpu}`, container]
    .filter((part) => part !== undefined)
    .join(' · ') || 'the whole host'

/** Whom nobody is told of, until when, why; each can be ended here. */
export function SilenceList() {
  const entries = silences.value
  if (entries.length === 0) return null
  return (
    <section class="silences" aria-labelledby="silences-title">
      <h2 id="silences-title">Silenced</h2>
      <ul>
        {entries.map((silence) => (
          <li key={silence.id}>
            <b>{scopeText(silence)}</b> until {since(silence.until, agentNow.peek())}: {silence.reason}
            {silence.by === undefined ? '' : ` (${silence.by})`}{' '}
            <button type="button" class="word" aria-label={`end the silence of ${scopeText(silence)}`} onClick={() => void endSilence(silence.id)}>
              end
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
