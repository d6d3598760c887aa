// What went wrong with one GPU before and now, the newest first.
import { momentText, zoneName } from '../../../../agent/text/time.ts'
import { StateMark } from '../../parts/incident/account.tsx'
import { incidents, isOnGpu } from '../../parts/incident/known.ts'
import { Sentence } from '../../parts/command.tsx'
import { agentNow } from '../../parts/live/state.ts'
import { placedTitle } from '../../parts/live/summary.ts'
import { hrefOf } from '../../parts/route.ts'

const MOST = 8

export function GpuIncidents({ uuid }: { readonly uuid: string }) {
  const all = [...incidents.value.values()].filter((incident) => isOnGpu(incident, uuid)).toSorted((a, b) => b.started_at - a.started_at)
  return (
    <section class="panel gpu-incidents" aria-labelledby="gpu-incidents-title">
      <h2 id="gpu-incidents-title">Incidents of this GPU</h2>
      {all.length === 0 ? (
        <p class="nothing">No recent incident on this GPU.</p>
      ) : (
        <ul class="incident-lines">
          {all.slice(0, MOST).map((incident) => (
            <li key={incident.id} data-severity={incident.severity} data-status={incident.status}>
              <StateMark incident={incident} />
              <a href={hrefOf('incidents', [incident.id])}>
                <Sentence text={placedTitle(incident)} />
              </a>
              <span class="of">
                {`${momentText(incident.started_at, agentNow.peek())} ${zoneName(incident.started_at)}`}
                {incident.count > 1 ? ` · ${incident.count} times` : ''}
              </span>
            </li>
          ))}
          <li>
            <a href={hrefOf('incidents', [], { text: uuid })}>All incidents of this GPU</a>
          </li>
        </ul>
      )}
    </section>
  )
}
