// Incidents of one GPU or job, a line each, the newest first. What comes and goes is one line, as above the cards of the overview.
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import { momentText, since, zoneName } from '../../../../agent/text/time.ts'
import { Sentence } from '../command.tsx'
import { agentNow } from '../live/state.ts'
import { hrefOf } from '../route.ts'
import { StateMark } from './account.tsx'
import { repeats, type Repeated } from './repeats.ts'

const MOST = 8

type LineProps = { readonly of: Repeated; readonly titleOf: (incident: IncidentSummary) => string }

function Line({ of: { incident, times, since: begun, flapping }, titleOf }: LineProps) {
  const { id, severity, status, kind, subject, started_at: startedAt, count } = incident
  const now = agentNow.peek()
  return (
    <li data-severity={severity} data-status={status}>
      <StateMark incident={incident} flapping={flapping} />
      <a href={hrefOf('incidents', [id])}>
        <Sentence text={titleOf(incident)} />
      </a>
      <span class="of">
        {`${momentText(startedAt, now)} ${zoneName(startedAt)}`}
        {count > 1 ? ` · ${count} times` : ''}
      </span>
      {times > 1 && (
        <a class="of" href={hrefOf('incidents', [], { kind, text: subject.gpu?.uuid ?? subject.container?.name })}>
          {`${times} incidents, first ${since(begun, now)}`}
        </a>
      )}
    </li>
  )
}

type Props = {
  readonly incidents: readonly IncidentSummary[]
  readonly titleOf: (incident: IncidentSummary) => string
  /** Of the list that has all of them. */
  readonly text: string
  /** The words that lead there; without them only where lines are left out. */
  readonly all?: string
}

export function IncidentLines({ incidents, titleOf, text, all }: Props) {
  const lines = repeats(incidents.toSorted((a, b) => b.started_at - a.started_at))
  const last = all ?? (lines.length > MOST ? `${lines.length - MOST} more` : undefined)
  return (
    <ul class="incident-lines">
      {lines.slice(0, MOST).map((line) => (
        <Line key={line.incident.id} of={line} titleOf={titleOf} />
      ))}
      {last !== undefined && (
        <li>
          <a href={hrefOf('incidents', [], { text })}>{last}</a>
        </li>
      )}
    </ul>
  )
}
