// What went wrong with one GPU before and now, the newest first.
import { incidents, isOnGpu } from '../../parts/incident/known.ts'
import { IncidentLines } from '../../parts/incident/lines.tsx'
import { placedTitle } from '../../parts/live/summary.ts'

export function GpuIncidents({ uuid }: { readonly uuid: string }) {
  const all = [...incidents.value.values()].filter((incident) => isOnGpu(incident, uuid))
  return (
    <section class="panel gpu-incidents" aria-labelledby="gpu-incidents-title">
      <h2 id="gpu-incidents-title">Incidents of this GPU</h2>
      {all.length === 0 ? (
        <p class="nothing">No recent incident on this GPU.</p>
      ) : (
        <IncidentLines incidents={all} titleOf={placedTitle} text={uuid} all="All incidents of this GPU" />
      )}
    </section>
  )
}
