// The incidents of a job within the range, the newest first.
import { momentText, zoneName } from '../../../../../agent/text/time.ts'
import { StateMark } from '../../../parts/incident/account.tsx'
import { Sentence } from '../../../parts/command.tsx'
import { agentNow } from '../../../parts/live/state.ts'
import { hrefOf } from '../../../parts/route.ts'
import { range, spanWords } from '../range.tsx'
import type { JobRow } from '../table/rows.ts'

const MOST = 8

export function JobIncidents({ row: { job, incidents } }: { readonly row: JobRow }) {
  const now = agentNow.peek()
  return (
    <section aria-labelledby="job-incidents-title">
      <h3 id="job-incidents-title">
        Incidents <span class="count">{incidents.length}</span>
      </h3>
      {incidents.length === 0 ? (
        <p class="nothing">{`No incident in ${spanWords(range.value)}.`}</p>
      ) : (
        <ul class="job-incidents incident-lines">
          {incidents.slice(0, MOST).map((incident) => (
            <li key={incident.id}>
              <StateMark incident={incident} />
              <a href={hrefOf('incidents', [incident.id])}>
                <Sentence text={incident.title} />
              </a>
              <span class="of">
                {momentText(incident.started_at, now)} {zoneName(incident.started_at)}
                {incident.count > 1 ? ` · ${incident.count} times` : ''}
              </span>
            </li>
          ))}
          {incidents.length > MOST && (
            <li>
              <a href={hrefOf('incidents', [], { text: job.name })}>{`${incidents.length - MOST} more`}</a>
            </li>
          )}
        </ul>
      )}
    </section>
  )
}
