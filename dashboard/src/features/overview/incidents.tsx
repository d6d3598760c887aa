// What went wrong: firing and recent incidents with verdict and first remedy. What arrives later is counted in the line above them (`parts/incident/laid.ts`). All words come from logs in the end, so they are only ever set as text.
import { useRef } from 'preact/hooks'
import { since } from '../../../../agent/text/time.ts'
import { besideTitle, MOST_LINKS } from '../../parts/incident/subject.ts'
import { isCurrent, type Group } from '../../parts/incident/groups.ts'
import { shown } from '../../parts/incident/known.ts'
import type { Repeated } from '../../parts/incident/repeats.ts'
import { later } from '../../parts/later.tsx'
import { placedTitle } from '../../parts/live/summary.ts'
import { agentNow } from '../../parts/live/state.ts'
import { hrefOf } from '../../parts/route.ts'
import { whenText } from './when.ts'

/** Buttons come a moment after the words; their line is kept. */
const IncidentWords = later(async () => (await import('./said.tsx')).IncidentWords)
const Report = later(async () => (await import('./said.tsx')).Report)
const News = later(async () => (await import('./news.tsx')).News)

/** What comes and goes is led to its history, in which each time stands. */
function Times({ of: { incident, times, since: begun } }: { readonly of: Repeated }) {
  if (times < 2) return null
  const { kind, subject } = incident
  const href = hrefOf('incidents', [], { kind, text: subject.gpu?.uuid ?? subject.container?.name })
  return <a class="flapping" href={href}>{`${times} times, first ${since(begun, agentNow.peek())}`}</a>
}

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

/** What to do is open where it matters most, and behind a word in the other rows, so that eight of them fit a screen. */
function WhatToDo({ of: { incident, ids }, open: isOpen }: { readonly of: Group; readonly open: boolean }) {
  const { verdict, remedies, status } = incident
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
      {/* Room for its buttons, which only one that fires has. */}
      <div class={status === 'firing' ? 'said' : undefined}>
        <IncidentWords incident={incident} listed={ids} />
      </div>
    </details>
  )
}

function Entry({ of, open: isOpen }: { readonly of: Group; readonly open: boolean }) {
  const { incident, members, severity, flapping } = of
  const { id, kind, status, count, consequences, last_seen_at: lastSeen } = incident
  const beside = besideTitle(incident)
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
        <Report id={id} />
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
      <WhatToDo of={of} open={isOpen} />
    </li>
  )
}

/** A phone first shows what is wrong, all of it, and what to do at a touch. */
const roomy = matchMedia('(min-width: 721px)')

export function IncidentList() {
  const box = useRef<HTMLDivElement>(null)
  const { rows, hidden, arrived } = shown.value
  const count = rows.filter(({ group }) => isCurrent(group)).length + hidden.length + arrived.length
  return (
    <section class="incidents" aria-labelledby="incidents-title">
      {/* One line of one height, whatever comes: nothing below it moves before the reader asks for it. */}
      <div class="incidents-head">
        <h2 id="incidents-title">Incidents {count > 0 && <span class="count">{count}</span>}</h2>
        <News box={box} count={count} />
      </div>
      <div class="incident-rows" ref={box} onClick={() => box.current?.style.removeProperty('height')}>
        <ul aria-live="polite">
          {rows.map(({ seat, group }, place) => (
            <Entry key={seat} of={group} open={place === 0 && roomy.matches} />
          ))}
        </ul>
        {hidden.length > 0 && (
          <p class="more">
            <a href={hrefOf('incidents', [], { state: 'firing' })}>{hidden.length} more</a>
          </p>
        )}
      </div>
    </section>
  )
}
