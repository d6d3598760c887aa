// One incident: what it is and what to do about it on the left, what was seen around it on the right.
import { useEffect } from 'preact/hooks'
import type { Incident } from '../../../../../agent/model/incident.ts'
import { Facts, Remedies } from '../../../parts/incident/account.tsx'
import { connection } from '../../../parts/live/state.ts'
import { Loading } from '../../../parts/loading.tsx'
import { hrefOf, route } from '../../../parts/route.ts'
import { Evidence } from '../evidence/evidence.tsx'
import { ActionResults, Consequences, Settings, Story } from './account.tsx'
import { IncidentHead } from './head.tsx'
import { atOccurrence } from './occurrence.ts'
import { OccurrencePicker } from './occurrences.tsx'
import { Ranks } from './ranks.tsx'
import { Runbook } from './runbook.tsx'
import { detail, watchDetail } from './state.ts'

function Whole({ incident: whole }: { readonly incident: Incident }) {
  const { incident, earlier } = atOccurrence(whole, route.value.params.get('occurrence'))
  const shown = incident.occurred_at ?? incident.started_at
  return (
    <article class="incident-page" data-id={incident.id} aria-labelledby="incident-title">
      <IncidentHead incident={incident} />
      <OccurrencePicker incident={whole} shown={shown} />
      <Ranks incident={whole} />
      <div class="incident-columns">
        <div class="account">
          {earlier ? (
            <p class="nothing">
              <a href={hrefOf('incidents', [incident.id])}>Remedies</a> are for the newest occurrence.
            </p>
          ) : (
            <Remedies incident={incident} />
          )}
          <ActionResults incident={whole} />
          <Facts incident={incident} />
          <Story incident={incident} />
          <Consequences incident={incident} />
          <Settings incident={incident} />
        </div>
        <Evidence key={shown} incident={incident} />
      </div>
      <Runbook kind={incident.kind} />
    </article>
  )
}

function Otherwise({ id }: { readonly id: string }) {
  const now = detail.value
  if (now.state === 'unknown')
    return (
      <div class="notice">
        <h2>No such incident</h2>
        <p>
          This agent knows no incident <code>{id.slice(0, 60)}</code>: it may be older than what is kept, or of another host.
        </p>
        <p>
          <a href={hrefOf('incidents')}>All incidents</a>
        </p>
      </div>
    )
  if (now.state === 'failed')
    return (
      <div class="notice" role="alert">
        <h2>The incident could not be fetched</h2>
        <p>{now.why}. The page tries again when the agent is back.</p>
      </div>
    )
  if (connection.value.state === 'waiting') return <Loading />
  return (
    <p class="nothing" role="status">
      Asking the agent …
    </p>
  )
}

export function IncidentPage({ id }: { readonly id: string }) {
  useEffect(() => watchDetail(id), [id])
  const now = detail.value
  return (
    <>
      <p class="back">
        <a href={hrefOf('incidents')}>← All incidents</a>
      </p>
      {now.state === 'there' && now.incident.id === id ? <Whole incident={now.incident} /> : <Otherwise id={id} />}
    </>
  )
}
