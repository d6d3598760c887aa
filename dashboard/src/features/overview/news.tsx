// The line above the incidents: how many are new and how many are over since the list was laid out, and the button that updates it. Loaded after the first view.
import { effect } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { fresh, isCurrent, type Group } from '../../parts/incident/groups.ts'
import { arranged, grouped, listing, shown, SHOWN } from '../../parts/incident/known.ts'
import { layOut, standing } from '../../parts/incident/laid.ts'
import { refused, silences } from '../../parts/incident/silences.ts'
import { placedTitle } from '../../parts/live/summary.ts'
import { hrefOf } from '../../parts/route.ts'
import { whenText } from './when.ts'
import css from './news.css?inline'

const sheet = new CSSStyleSheet()
sheet.replaceSync(css)
document.adoptedStyleSheets.push(sheet)

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

function lay(): void {
  const laid = layOut(grouped.peek(), SHOWN)
  arranged.value = (all) => standing(all, laid)
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
      if (listing.value === 'there' && arranged.value === fresh) lay()
    })
    let known: unknown
    const stopHolding = effect(() => {
      // It runs before the change is drawn: this is the height before it.
      if (known !== undefined && arranged.peek() !== fresh && box.current !== null) box.current.style.height = `${box.current.offsetHeight}px`
      known = grouped.value
    })
    return () => {
      document.removeEventListener('visibilitychange', back)
      removeEventListener('resize', free)
      stopLaying()
      stopHolding()
      arranged.value = fresh
    }
  }, [])
  return layAnew
}

/** Whether the rows have grown beyond the height that is kept. Their end then fades, so that nobody takes a cut line for the last one. */
function useCut(box: RefObject<HTMLDivElement | null>): boolean {
  const [cut, setCut] = useState(false)
  useEffect(() => {
    const rows = box.current
    if (rows === null) return undefined
    const look = (): void => {
      const beyond = rows.scrollHeight - rows.clientHeight
      rows.toggleAttribute('data-more', beyond - rows.scrollTop > 1)
      setCut(beyond > 1)
    }
    const watch = new ResizeObserver(look)
    for (const each of [rows, ...rows.children]) watch.observe(each)
    rows.addEventListener('scroll', look)
    return () => {
      watch.disconnect()
      rows.removeEventListener('scroll', look)
    }
  }, [])
  return cut
}

export function News({ box, count }: { readonly box: RefObject<HTMLDivElement | null>; readonly count: number }) {
  const layAnew = useLaid(box)
  const cut = useCut(box)
  const { rows, arrived, over } = shown.value
  const shownOver = over.slice(0, SHOWN_OVER)
  return (
    <>
      {refused.value !== undefined && (
        <p class="refused" role="alert">
          That was not taken: {refused.value}
        </p>
      )}
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
      {(arrived.length > 0 || cut || rows.some(({ group }) => !isCurrent(group))) && (
        <button type="button" class="word" onClick={layAnew}>
          {arrived.length > 0 ? 'Show' : cut ? 'Show all' : 'Hide resolved'}
        </button>
      )}
      {silences.value.length > 0 && (
        <button type="button" class="word" onClick={() => document.querySelector('.silences')?.scrollIntoView()}>
          {silences.value.length === 1 ? '1 silence' : `${silences.value.length} silences`}
        </button>
      )}
    </>
  )
}
