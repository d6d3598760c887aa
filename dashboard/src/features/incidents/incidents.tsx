// The incidents: all of them, or the one that the address names.
import { stale } from '../../parts/live/state.ts'
import { IncidentPage } from './page/page.tsx'
import { IncidentPageList } from './view.tsx'
import type { ViewProps } from '../feature.ts'

export function Incidents({ rest }: ViewProps) {
  const [id] = rest
  return <div class={stale.value ? 'content stale' : 'content'}>{id === undefined ? <IncidentPageList /> : <IncidentPage key={id} id={id} />}</div>
}
