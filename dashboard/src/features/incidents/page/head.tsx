// The head of an incident: what happened to whom, since when, the verdict, and what a reader can say of it.
import { CONFIDENCE_TEXTS } from '../../../../../agent/text/confidence.ts'
import { age } from '../../../../../agent/text/span.ts'
import { momentText, zoneName } from '../../../../../agent/text/time.ts'
import type { Incident } from '../../../../../agent/model/incident.ts'
import { StateMark } from '../../../parts/incident/account.tsx'
import { lastedSeconds } from '../../../parts/incident/filter.ts'
import { Sentence } from '../../../parts/command.tsx'
import { agentNow } from '../../../parts/live/state.ts'
import { placedTitle } from '../../../parts/live/summary.ts'
import { Actions } from './actions.tsx'
import { Card, Whom } from './whom.tsx'

/** For how long, moving on while it fires. */
function Times({ incident }: { readonly incident: Incident }) {
  const { kind, status, started_at: startedAt, resolved_at: resolvedAt, count, last_seen_at: lastSeen } = incident
  const now = agentNow.value
  const over = status === 'resolved'
  return (
    <p class="incident-line incident-times">
      <span>
        began{' '}
        <time dateTime={new Date(startedAt).toISOString()}>
          {momentText(startedAt, now)} {zoneName(startedAt)}
        </time>
      </span>
      <span>
        {over
          ? `resolved after ${age(lastedSeconds(incident, now))}${resolvedAt === undefined ? '' : `, ${momentText(resolvedAt, now)}`}`
          : `${status} for ${age(lastedSeconds(incident, now))}`}
      </span>
      {count > 1 && <span>{`${count} times, last ${momentText(lastSeen, now)}`}</span>}
      <code>{kind}</code>
    </p>
  )
}

/** The verdict is of when it fired, and in its present tense. */
function Over({ resolution }: { readonly resolution: string }) {
  return (
    <div class="resolution">
      <p>Resolved: {resolution}</p>
      <p class="faint">While it lasted:</p>
    </div>
  )
}

function Said({ incident: { silenced, acknowledged } }: { readonly incident: Incident }) {
  const now = agentNow.peek()
  if (silenced === undefined && acknowledged === undefined) return null
  return (
    <ul class="said">
      {silenced !== undefined && <li>Silenced until {momentText(silenced.until, now)}: nobody is notified.</li>}
      {acknowledged !== undefined && (
        <li>
          Acknowledged {momentText(acknowledged.at, now)}
          {acknowledged.by === undefined ? '' : ` by ${acknowledged.by}`}
          {acknowledged.note === undefined ? '.' : `: ${acknowledged.note}`}
        </li>
      )}
    </ul>
  )
}

export function IncidentHead({ incident }: { readonly incident: Incident }) {
  const { verdict, confidence, severity, status, subject, resolution } = incident
  return (
    <header class="incident-top" data-severity={severity} data-status={status}>
      <p class="incident-line">
        <StateMark incident={incident} />
        <Whom incident={incident} />
        {subject.gpu?.name !== undefined && <span>{subject.gpu.name}</span>}
        {subject.container?.image !== undefined && <span>{subject.container.image}</span>}
        {subject.process !== undefined && <span>{`pid ${subject.process.pid}${subject.process.name === undefined ? '' : ` ${subject.process.name}`}`}</span>}
      </p>
      <h2 id="incident-title">
        <Sentence text={placedTitle(incident)} />
      </h2>
      <Times incident={incident} />
      <Card incident={incident} />
      {resolution !== undefined && <Over resolution={resolution} />}
      <p class="verdict">
        <Sentence text={verdict} />
      </p>
      {confidence !== undefined && <p class="sub">{`Confidence: ${CONFIDENCE_TEXTS[confidence]}`}</p>}
      <Said incident={incident} />
      <Actions incident={incident} />
    </header>
  )
}
