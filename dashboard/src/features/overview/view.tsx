// The overview: what is wrong, the cards of all GPUs, who holds them.
import './style.css'
import './incidents.css'
import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { frame, gpus, painted, ready, stale, views } from '../../parts/live/state.ts'
import { Loading } from '../../parts/loading.tsx'
import { ChartBar } from '../../parts/range/bar.tsx'
import { showRange } from '../../parts/range/charted.ts'
import { later } from '../../parts/later.tsx'
import { keepArranged } from '../../parts/gpu/arranged.ts'
import { find, foundCards } from '../../parts/gpu/found.ts'
import { silences } from '../../parts/incident/silences.ts'
import { layout } from '../../parts/settings.ts'
import { GpuCard } from './gpu-card.tsx'
import { IncidentList } from './incidents.tsx'

const probed = computed(() => (frame.value?.allocators.length ?? 0) > 0)
const there = computed(() => frame.value !== undefined && ready.value)

/** What is below the cards comes once these are on the screen. */
const Tables = later(async () => (await import('./tables.tsx')).Tables)
const Bar = later(async () => (await import('./bar.tsx')).OverviewBar)
const CompactGpus = later(async () => (await import('./dense/compact.tsx')).CompactGpus)
const GpuTable = later(async () => (await import('./dense/table.tsx')).GpuTable)
const SilenceList = later(async () => (await import('./silences.tsx')).SilenceList)
const NoGpu = later(async () => (await import('./no-gpu.tsx')).NoGpu)

/** One of the GPUs is not read: only the past has its last figures. */
const dark = computed(() => (views.value ?? []).some(({ trouble }) => trouble !== undefined))

/** Its charts have a range; small cards and the table have none. */
function Gpus() {
  const cards = layout.value === 'cards'
  const needed = cards || dark.value
  useEffect(() => (needed ? showRange() : undefined), [needed])
  return (
    <section
      aria-labelledby="gpus-title"
      class={cards ? (painted.value ? 'gpus' : 'gpus first') : 'dense'}
      data-count={find.value === undefined ? gpus.value.length : undefined}
    >
      <h2 id="gpus-title" class="spoken">
        GPUs
      </h2>
      <div class="gpus-bar">
        {cards && <ChartBar probed={probed.value} />}
        <div class="overview-bar">{painted.value && <Bar />}</div>
      </div>
      {layout.value === 'table' && <GpuTable />}
      {layout.value === 'compact' && <CompactGpus />}
      {cards && foundCards.value.map((of) => <GpuCard key={of.peek().uuid} of={of} />)}
      {foundCards.value.length === 0 && <p class="nothing">No GPU fits the filter.</p>}
    </section>
  )
}

export function Overview() {
  useEffect(keepArranged, [])
  if (!there.value) return <Loading />
  return (
    <div class={stale.value ? 'content stale' : 'content'}>
      <IncidentList />
      {gpus.value.length === 0 ? <NoGpu /> : <Gpus />}
      {painted.value && <Tables />}
      {/* At the end, as silences of others come at any time: the line above the incidents counts them and leads here. */}
      {silences.value.length > 0 && <SilenceList />}
    </div>
  )
}
