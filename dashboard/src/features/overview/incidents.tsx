// What went wrong: firing and recent incidents with verdict and first remedy; and what is silenced. All words come from logs in the end, so they are only ever set as text.
import { since, timeWithSeconds } from '../../../../agent/text/time.ts'
import { getText, storedToken } from '../../parts/connection/api.ts'
import { besideTitle, MOST_LINKS } from '../../parts/incident/subject.ts'
import type { Group } from '../../parts/incident/groups.ts'
import { hiddenOver, hiddenRows, listing, shown, shownOver } from '../../parts/incident/known.ts'
import type { Repeated } from '../../parts/incident/repeats.ts'
import { later } from '../../parts/later.tsx'
import { placedTitle } from '../../parts/live/summary.ts'
import { refused } from '../../parts/incident/silences.ts'
import { agentNow } from '../../parts/live/state.ts'
import { hrefOf } from '../../parts/route.ts'

/** Buttons come a moment after the words; their line is kept. */
const IncidentWords = later(async () => (await import('./said.tsx')).IncidentWords)

/** A link cannot carry a token, so with one the report is fetched and opened from here. */
function open(event: MouseEvent, path: string): void {
  const token = storedToken()
  if (token === undefined) return
  event.preventDefault()
  getText(path, token)
    .then((text) => window.open(URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }))))
    .catch((error: unknown) => console.warn(error))
}

/** What comes and goes is led to its history, in which each time stands. */
function Times({ of: { incident, times, since: begun } }: { readonly of: Repeated }) {
  if (times < 2) return null
  const { kind, subject } = incident
  const href = hrefOf('incidents', [], { kind, text: subject.gpu?.uuid ?? subject.container?.name })
  return <a class="flapping" href={href}>{`${times} times, first ${since(begun, agentNow.peek())}`}</a>
}

const whenText = ({ status, started_at: startedAt, resolved_at: resolvedAt, last_seen_at: lastSeen }: Repeated['incident']): string =>
  status === 'resolved' ? `resolved ${timeWithSeconds(resolvedAt ?? lastSeen)}` : `since ${since(startedAt, agentNow.peek())}`

/** Another incident with the same cause: one line. */
function Member({ of }: { readonly of: Repeated }) {
  const { id, kind, status } = of.incident
  return (
    <li class="incident-member" data-kind={kind} data-status={status}>
      <span aria-hidden="true">↳</span>
      <b>
        <a href={hrefOf('incidents', [id])}>{placedTitle(of.incident)}</a>
      </b>
      <span>{`${of.flapping ? 'flapping, ' : ''}${whenText(of.incident)}`}</span>
      <Times of={of} />
    </li>
  )
}

/** What to do stands open where it matters most, and behind a word in the other rows, so that eight of them fit a screen. */
function WhatToDo({ of: { incident, ids }, open: isOpen }: { readonly of: Group; readonly open: boolean }) {
  const { verdict, remedies } = incident
  const [first] = remedies
  return (
    <details class="incident-more" open={isOpen}>
      <summary>What to do</summary>
      <p>{verdict}</p>
      {first !== undefined && (
        <p class="remedy">
          {first.text} {first.command !== undefined && <code>{first.command}</code>}
        </p>
      )}
      <div class="said">
        <IncidentWords incident={incident} listed={ids} />
      </div>
    </details>
  )
}

function Entry({ of, open: isOpen }: { readonly of: Group; readonly open: boolean }) {
  const { incident, members, severity, flapping } = of
  const { id, kind, status, count, consequences, last_seen_at: lastSeen } = incident
  const beside = besideTitle(incident)
  const path = `api/v1/incidents/${id}/report`
  const state = flapping ? 'flapping' : status
  return (
    <li class="incident" data-kind={kind} data-severity={severity} data-status={state} data-silenced={incident.silenced === undefined ? undefined : ''}>
      <p class="incident-head">
        <span class="state-mark" data-severity={severity} data-status={status === 'resolved' && !flapping ? 'resolved' : 'firing'}>
          <span aria-hidden="true">{severity === 'critical' ? '▲' : '◆'}</span>
          {flapping ? 'flapping' : status === 'firing' ? severity : status}
        </span>
        <b>
          <a href={hrefOf('incidents', [id])}>{placedTitle(incident)}</a>
        </b>
        {beside !== '' && <span>{beside}</span>}
        <span>
          {whenText(incident)}
          {count > 1 ? ` · ${count} times${status === 'resolved' ? '' : `, last ${since(lastSeen, agentNow.peek())}`}` : ''}
          {consequences.length > 0 ? ` · ${consequences.length === 1 ? '1 consequence' : `${consequences.length} consequences`}` : ''}
        </span>
        <Times of={of} />
        <a class="report" href={path} target="_blank" rel="noreferrer" onClick={(event) => open(event, path)}>
          report
        </a>
      </p>
      {members.length > 0 && (
        <ul class="incident-members" aria-label="with the same cause">
          {members.slice(0, MOST_LINKS).map((member) => (
            <Member key={member.incident.id} of={member} />
          ))}
          {members.length > MOST_LINKS && (
            <li class="incident-member">
              <a href={hrefOf('incidents', [id])}>{`${members.length - MOST_LINKS} more`}</a>
            </li>
          )}
        </ul>
      )}
      {status !== 'resolved' && <WhatToDo of={of} open={isOpen} />}
    </li>
  )
}

/** A phone first shows what is wrong, all of it, and what to do at a touch. */
const roomy = matchMedia('(min-width: 721px)')

const LISTING = { asked: 'Asking for incidents …', failed: 'The list of incidents could not be fetched.', there: 'No incident in the last hour.' } as const

/** What is over keeps one line for all, always there, so that the cards stay where they are. */
function Over() {
  const over = shownOver.value
  if (over.length === 0 && shown.value.length > 0) return null
  return (
    <p class={listing.value === 'failed' ? 'over bad' : 'over'}>
      {over.length === 0 && LISTING[listing.value]}
      {over.map(({ incident, times, members }) => (
        <span key={incident.id} class="incident-over" data-kind={incident.kind} data-status="resolved">
          <b>
            <a href={hrefOf('incidents', [incident.id])}>{placedTitle(incident)}</a>
          </b>{' '}
          {whenText(incident)}
          {times + members.length > 1 ? `, ${times + members.length} times` : ''}
        </span>
      ))}
      {hiddenOver.value > 0 && <a class="more" href={hrefOf('incidents', [], { since: '1h' })}>{`${hiddenOver.value} more`}</a>}
    </p>
  )
}

export function IncidentList() {
  const entries = shown.value
  return (
    <section class="incidents" aria-labelledby="incidents-title">
      <h2 id="incidents-title" class={entries.length === 0 ? 'spoken' : undefined}>
        Incidents
      </h2>
      {refused.value !== undefined && (
        <p class="refused" role="alert">
          That was not taken: {refused.value}
        </p>
      )}
      <ul aria-live="polite">
        {entries.map((of, place) => (
          <Entry key={of.incident.id} of={of} open={place === 0 && roomy.matches} />
        ))}
      </ul>
      {hiddenRows.value > 0 && (
        <p class="more">
          <a href={hrefOf('incidents', [], { state: 'firing' })}>{hiddenRows.value} more</a>
        </p>
      )}
      <Over />
    </section>
  )
}
