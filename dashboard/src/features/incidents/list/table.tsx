// The list of incidents as a table: what fires first. Rows stand still while someone points at them or walks through them with the keyboard.
import { age } from '../../../../../agent/text/span.ts'
import { momentText, zoneName } from '../../../../../agent/text/time.ts'
import type { IncidentSummary } from '../../../../../agent/model/incident.ts'
import { IncidentLinkTo, StateMark } from '../../../parts/incident/account.tsx'
import { Sentence } from '../../../parts/command.tsx'
import { lastedSeconds } from '../../../parts/incident/filter.ts'
import { MOST_LINKS, whom } from '../../../parts/incident/subject.ts'
import { placedTitle } from '../../../parts/live/summary.ts'
import { agentNow } from '../../../parts/live/state.ts'
import { hrefOf } from '../../../parts/route.ts'
import { DASH } from '../../../text/format.ts'
import { hold, release, rows } from './state.ts'

function Story({ incident: { part_of: partOf, led_to: ledTo = [], consequences } }: { readonly incident: IncidentSummary }) {
  if (partOf === undefined && ledTo.length === 0 && consequences.length === 0) return <span class="faint">{DASH}</span>
  return (
    <>
      {partOf !== undefined && (
        <span class="story-part">
          from <IncidentLinkTo link={partOf} />
        </span>
      )}
      {ledTo.slice(-MOST_LINKS).map((link) => (
        <span key={link.id} class="story-part">
          led to <IncidentLinkTo link={link} timed />
        </span>
      ))}
      {ledTo.length > MOST_LINKS && <span class="story-part">{`and ${ledTo.length - MOST_LINKS} earlier`}</span>}
      {partOf === undefined && ledTo.length === 0 && (
        <span class="faint">{consequences.length === 1 ? '1 consequence' : `${consequences.length} consequences`}</span>
      )}
    </>
  )
}

/** Moves on once a second while it fires. */
function Lasted({ incident }: { readonly incident: IncidentSummary }) {
  return <>{age(lastedSeconds(incident, incident.status === 'resolved' ? 0 : agentNow.value))}</>
}

function Row({ incident }: { readonly incident: IncidentSummary }) {
  const { id, kind, severity, status, started_at: startedAt, count } = incident
  return (
    <tr role="row" data-row={id} data-severity={severity} data-status={status}>
      <td role="cell" class="col-state" data-label="State">
        <StateMark incident={incident} />
      </td>
      <td role="cell" class="col-incident" data-label="Incident">
        <a class="name row-link" href={hrefOf('incidents', [id])}>
          <Sentence text={placedTitle(incident)} />
        </a>
        <span class="sub">{kind}</span>
      </td>
      <td role="cell" class="col-whom" data-label="Affected">
        {whom(incident).replaceAll('GPU ', 'GPU\u00a0')}
      </td>
      <td role="cell" class="numeric" data-label="Began">
        <time dateTime={new Date(startedAt).toISOString()} title={new Date(startedAt).toLocaleString()}>
          {momentText(startedAt, agentNow.peek())}
        </time>
      </td>
      <td role="cell" class="numeric" data-label="Lasted">
        <Lasted incident={incident} />
      </td>
      <td role="cell" class="numeric" data-label="Times">
        {count}
      </td>
      <td role="cell" class="col-story" data-label="Related">
        <Story incident={incident} />
      </td>
    </tr>
  )
}

const HEADS = ['State', 'Incident', 'Affected', 'Began', 'Lasted', 'Times', 'Related']
const NUMERIC: ReadonlySet<string> = new Set(['Began', 'Lasted', 'Times'])

export function IncidentTable() {
  return (
    <table
      id="incidents"
      role="table"
      aria-label="Incidents"
      class="incident-table"
      onPointerEnter={(event) => event.pointerType === 'mouse' && hold()}
      onPointerLeave={release}
      onFocusIn={hold}
      onFocusOut={(event) => (event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget) ? undefined : release())}
    >
      <thead role="rowgroup">
        <tr role="row">
          {HEADS.map((head) => (
            <th key={head} role="columnheader" scope="col" class={NUMERIC.has(head) ? 'numeric' : undefined}>
              {head === 'Began' ? `Began (${zoneName(agentNow.peek())})` : head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.value.rows.map((incident) => (
          <Row key={incident.id} incident={incident} />
        ))}
      </tbody>
    </table>
  )
}
