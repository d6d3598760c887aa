// What went wrong: firing and recent incidents with verdict and first remedy. What arrives later is counted in the line above them (`parts/incident/laid.ts`). All words come from logs in the end, so they are only ever set as text.
import { effect } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { since, timeWithSeconds } from '../../../../agent/text/time.ts'
import { getText, storedToken } from '../../parts/connection/api.ts'
import { besideTitle, MOST_LINKS } from '../../parts/incident/subject.ts'
import { isCurrent, type Group } from '../../parts/incident/groups.ts'
import { grouped, isLaid, lay, listing, shown, unlay } from '../../parts/incident/known.ts'
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
      <WhatToDo of={of} open={isOpen} />
    </li>
  )
}

/** A phone first shows what is wrong, all of it, and what to do at a touch. */
const roomy = matchMedia('(min-width: 721px)')

const LISTING = { asked: 'Asking for incidents …', failed: 'The list of incidents could not be fetched.', there: 'None in the last hour.' } as const

const SHOWN_OVER = 3

/** What arrived since the rows were laid out: the first of it by its title, all of it by its number. */
function Arrived({ of: [first, ...others] }: { readonly of: readonly Group[] }) {
  if (first === undefined) return null
  const { incident, severity } = first
  return (
    <span class="incident-new" data-kind={incident.kind} data-severity={severity}>
      <span class="state-mark" data-severity={severity} data-status="firing">
        <span aria-hidden="true">{severity === 'critical' ? '▲' : '◆'}</span>
        {`${others.length + 1} new`}
      </span>
      <b>
        <a href={hrefOf('incidents', [incident.id])}>{placedTitle(incident)}</a>
      </b>
      <span>{whenText(incident)}</span>
    </span>
  )
}

/** One line of one height, whatever comes: how many there are, what arrived, what is over. Nothing below it moves before the reader asks for it. */
function Head({ onLay }: { readonly onLay: () => void }) {
  const { rows, hidden, arrived, over } = shown.value
  const current = rows.filter(({ group }) => isCurrent(group))
  const count = current.length + hidden.length + arrived.length
  const shownOver = over.slice(0, SHOWN_OVER)
  return (
    <div class="incidents-head">
      <h2 id="incidents-title">Incidents {count > 0 && <span class="count">{count}</span>}</h2>
      <p class={listing.value === 'failed' ? 'over bad' : 'over'} aria-live="polite">
        <Arrived of={arrived} />
        {count === 0 && over.length === 0 && LISTING[listing.value]}
        {shownOver.map(({ incident, times, members }) => (
          <span key={incident.id} class="incident-over" data-kind={incident.kind} data-status="resolved">
            <b>
              <a href={hrefOf('incidents', [incident.id])}>{placedTitle(incident)}</a>
            </b>{' '}
            {whenText(incident)}
            {times + members.length > 1 ? `, ${times + members.length} times` : ''}
          </span>
        ))}
        {over.length > SHOWN_OVER && <a class="more" href={hrefOf('incidents', [], { since: '1h' })}>{`${over.length - SHOWN_OVER} more`}</a>}
      </p>
      {(arrived.length > 0 || current.length < rows.length) && (
        <button type="button" class="word" onClick={onLay}>
          {arrived.length > 0 ? 'Show' : 'Hide resolved'}
        </button>
      )}
    </div>
  )
}

/** The rows keep the height that they have when something arrives; what a reader does gives it free. */
function useLaid(box: RefObject<HTMLDivElement | null>): () => void {
  const free = (): void => void (box.current !== null && (box.current.style.height = ''))
  const layAnew = (): void => {
    free()
    lay()
  }
  useEffect(() => {
    const back = (): void => {
      if (document.visibilityState === 'visible') layAnew()
    }
    document.addEventListener('visibilitychange', back)
    addEventListener('resize', free)
    const stopLaying = effect(() => {
      if (listing.value === 'there' && !isLaid.value) lay()
    })
    let known: unknown
    const stopHolding = effect(() => {
      // It runs before the change is drawn: this is the height before it.
      if (known !== undefined && isLaid.peek() && box.current !== null) box.current.style.height = `${box.current.offsetHeight}px`
      known = grouped.value
    })
    return () => {
      document.removeEventListener('visibilitychange', back)
      removeEventListener('resize', free)
      stopLaying()
      stopHolding()
      unlay()
    }
  }, [])
  return layAnew
}

export function IncidentList() {
  const box = useRef<HTMLDivElement>(null)
  const layAnew = useLaid(box)
  const { rows, hidden } = shown.value
  return (
    <section class="incidents" aria-labelledby="incidents-title">
      <Head onLay={layAnew} />
      {refused.value !== undefined && (
        <p class="refused" role="alert">
          That was not taken: {refused.value}
        </p>
      )}
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
