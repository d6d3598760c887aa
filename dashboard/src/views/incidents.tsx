// The incidents: all of them, or the one that the address names.
import { stale } from '../state/app.ts'
import { IncidentPage } from '../components/incidents/incident-page.tsx'
import { IncidentPageList } from '../components/incidents/incident-page-list.tsx'
import type { ViewProps } from './definition.ts'

export function Incidents({ rest }: ViewProps) {
  const [id] = rest
  return <div class={stale.value ? 'content stale' : 'content'}>{id === undefined ? <IncidentPageList /> : <IncidentPage key={id} id={id} />}</div>
}
