// The overview: what is wrong, the cards of all GPUs, who holds them.
import './style.css'
import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { frame, gpus, painted, ready, stale } from '../../parts/live/state.ts'
import { Loading } from '../../parts/loading.tsx'
import { ChartBar } from '../../parts/range/bar.tsx'
import { showRange } from '../../parts/range/charted.ts'
import { later } from '../../parts/later.tsx'
import { cards, keepArranged } from '../../parts/gpu/arranged.ts'
import { GpuCard } from './gpu-card.tsx'
import { IncidentList } from './incidents.tsx'
import { SilenceList } from './silences.tsx'

const probed = computed(() => (frame.value?.allocators.length ?? 0) > 0)
const there = computed(() => frame.value !== undefined && ready.value)

/** What stands below the cards comes once these are on the screen. */
const Tables = later(async () => (await import('./tables.tsx')).Tables)
const NoGpu = later(async () => (await import('./no-gpu.tsx')).NoGpu)

export function Overview() {
  useEffect(showRange, [])
  useEffect(keepArranged, [])
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
          {cards.value.map((of) => (
            <GpuCard key={of.peek().uuid} of={of} />
          ))}
        </section>
      )}
      {painted.value && <Tables />}
    </div>
  )
}
