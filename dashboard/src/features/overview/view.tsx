// The overview: what is wrong, the cards of all GPUs, who holds them.
import './style.css'
import { computed } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { GapRow } from '../../../../agent/model/live.ts'
import { frame, gpus, painted, stale } from '../../parts/live/state.ts'
import { Loading } from '../../parts/loading.tsx'
import { ChartBar } from '../../parts/range/bar.tsx'
import { showRange } from '../../parts/range/charted.ts'
import { ProcessTable } from '../../parts/table/processes.tsx'
import { gapText } from '../../text/words.ts'
import { ContainerTable } from './containers.tsx'
import { GpuCard } from './gpu-card.tsx'
import { IncidentList, SilenceList } from './incidents.tsx'

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

/** No GPU: why comes from the host’s gaps, and from nowhere else. */
function NoGpu() {
  const gaps: readonly GapRow[] = (frame.value?.host.gaps ?? []).filter((gap) => /gpu|nvml|nvidia/i.test(`${gap.measure} ${gap.detail ?? ''}`))
  return (
    <div class="notice">
      <h2>No NVIDIA GPU to watch</h2>
      {gaps.length === 0 ? (
        <p>
          No GPU is read on this host; the <a href="#/doctor">Doctor</a> says why.
        </p>
      ) : (
        <ul class="tried">
          {gaps.map((gap) => (
            <li key={`${gap.measure} ${gap.reason} ${gap.detail ?? ''}`}>{gap.detail ?? `${gap.measure}: ${gapText(gap.reason)}`}</li>
          ))}
        </ul>
      )}
      <p>
        To see the dashboard at work without one: <code>npm start -- --simulate</code>
      </p>
    </div>
  )
}
