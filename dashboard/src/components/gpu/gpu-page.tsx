// One GPU at large: whether it can be believed, what is wrong, its memory, its charts, who is on it, its health.
import { useEffect } from 'preact/hooks'
import { follow, frame, stale, views } from '../../state/app.ts'
import { showRange } from '../../state/charted.ts'
import { closeUp } from '../../state/gpu-measures.ts'
import type { GpuView } from '../../state/gpu-view.ts'
import { rangeParams } from '../../state/range.ts'
import { hrefOf } from '../../state/route.ts'
import { shortGpuName } from '../../text/names.ts'
import { ChartBar } from '../chart-bar.tsx'
import { GpuAlarms } from '../gpu-alarms.tsx'
import { Activity } from '../gpu-card.tsx'
import { GpuMemory } from '../gpu-memory.tsx'
import { MigList } from '../mig-list.tsx'
import { TroubleNote } from '../trouble-note.tsx'
import { GpuFacts } from './gpu-facts.tsx'
import { GpuProcesses } from './gpu-processes.tsx'
import { LineFigures } from './line-figures.tsx'
import { ThrottleLanes } from './throttle-lanes.tsx'

/** To the GPUs beside it, in the order of the host. */
function Neighbours({ index }: { readonly index: number }) {
  return (
    <nav class="neighbours" aria-label="GPUs">
      {(views.value ?? []).map((other) => (
        <a
          key={other.uuid}
          class="gpu-index"
          href={hrefOf('gpus', [String(other.index)], rangeParams.value)}
          aria-current={other.index === index ? 'page' : undefined}
          aria-label={`GPU ${other.index}`}
          data-trouble={other.trouble?.kind}
        >
          {other.index}
        </a>
      ))}
    </nav>
  )
}

export function GpuPage({ view }: { readonly view: GpuView }) {
  const { uuid, index, row, trouble } = view
  const of = follow(view)
  useEffect(() => showRange(closeUp(uuid)), [uuid])
  const probed = frame.value?.allocators.some((each) => each.uuid === uuid) === true
  return (
    <div class={stale.value ? 'content stale gpu-page' : 'content gpu-page'} data-uuid={uuid}>
      <article class="gpu large" data-trouble={trouble?.kind} aria-labelledby="gpu-title">
        <header class="gpu-head">
          <Neighbours index={index} />
          <h2 id="gpu-title" class="gpu-name">
            {`GPU ${index}`} <span class="of">{shortGpuName(view.name)}</span>
          </h2>
          <Activity of={of} />
        </header>
        <TroubleNote of={of} />
        <GpuAlarms of={of} most={6} />
        <ChartBar probed={probed} />
        <div class="gpu-body">
          <GpuMemory of={of} height={260} most={12} />
          {row.mig !== undefined && row.mig.length > 0 && <MigList instances={row.mig} gpu={index} />}
          <LineFigures view={view} />
          <ThrottleLanes uuid={uuid} />
        </div>
      </article>
      <GpuProcesses uuid={uuid} />
      <GpuFacts view={view} />
    </div>
  )
}
