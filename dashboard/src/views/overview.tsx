// The overview: what is wrong, the cards of all GPUs, who holds them.
import { useEffect } from 'preact/hooks'
import { frame, stale, views } from '../state/app.ts'
import { showRange } from '../state/charted.ts'
import { ChartBar } from '../components/chart-bar.tsx'
import { ContainerTable } from '../components/container-table.tsx'
import { GpuCard } from '../components/gpu-card.tsx'
import { IncidentList } from '../components/incident-list.tsx'
import { Loading, NoGpu } from '../components/notices.tsx'
import { ProcessTable } from '../components/process-table.tsx'
import { SilenceList } from '../components/silence-list.tsx'

export function Overview() {
  useEffect(showRange, [])
  const gpus = views.value
  if (frame.value === undefined || gpus === undefined) return <Loading />
  return (
    <div class={stale.value ? 'content stale' : 'content'}>
      <IncidentList />
      <SilenceList />
      {gpus.length === 0 ? (
        <NoGpu />
      ) : (
        <section aria-labelledby="gpus-title" class="gpus" data-count={gpus.length}>
          <h2 id="gpus-title" class="spoken">
            GPUs
          </h2>
          <ChartBar probed={frame.value.allocators.length > 0} />
          {gpus.map((view) => (
            <GpuCard key={view.uuid} view={view} />
          ))}
        </section>
      )}
      <ContainerTable />
      <ProcessTable />
    </div>
  )
}
