// The overview: what is wrong, the cards of all GPUs, who holds them.
import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { frame, gpus, painted, stale } from '../../parts/live/state.ts'
import { showRange } from '../../parts/range/charted.ts'
import { ChartBar } from '../../parts/range/bar.tsx'
import { ContainerTable } from './containers.tsx'
import { GpuCard } from './gpu-card.tsx'
import { IncidentList } from './incidents.tsx'
import { Loading, NoGpu } from '../../parts/loading.tsx'
import { ProcessTable } from '../../parts/table/processes.tsx'
import { SilenceList } from './silence-list.tsx'

const there = computed(() => frame.value !== undefined)
const probed = computed(() => (frame.value?.allocators.length ?? 0) > 0)

/** What stands below the cards comes once these are on the screen: it is no part of what is looked for first. */
function Tables() {
  if (!painted.value) return null
  return (
    <>
      <ContainerTable />
      {/* Without a GPU nobody has looked for them. */}
      {gpus.value.length > 0 && <ProcessTable />}
    </>
  )
}

export function Overview() {
  useEffect(showRange, [])
  if (!there.value) return <Loading />
  return (
    <div class={stale.value ? 'content stale' : 'content'}>
      <IncidentList />
      <SilenceList />
      {gpus.value.length === 0 ? (
        <NoGpu />
      ) : (
        <section aria-labelledby="gpus-title" class={painted.value ? 'gpus' : 'gpus first'} data-count={gpus.value.length}>
          <h2 id="gpus-title" class="spoken">
            GPUs
          </h2>
          <ChartBar probed={probed.value} />
          {gpus.value.map((of) => (
            <GpuCard key={of.peek().uuid} of={of} />
          ))}
        </section>
      )}
      <Tables />
    </div>
  )
}
