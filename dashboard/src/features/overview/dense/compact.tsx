// GPUs as small cards without charts: eight of them on two screens of a phone, sixteen and more on one of a desk.
import { type ReadonlySignal, useComputed } from '@preact/signals'
import { Live, LiveFigure, Meter } from '../../../parts/figure.tsx'
import { Activity } from '../../../parts/gpu/activity.tsx'
import { GpuAlarms } from '../../../parts/gpu/alarms.tsx'
import { forecastOf, nearFull } from '../../../parts/gpu/forecast.ts'
import { foundCards } from '../../../parts/gpu/found.ts'
import { firingOn } from '../../../parts/incident/known.ts'
import type { GpuView } from '../../../parts/live/gpu-view.ts'
import { frame } from '../../../parts/live/state.ts'
import { rangeParams } from '../../../parts/range/range.ts'
import { hrefOf } from '../../../parts/route.ts'
import { celsiusFigure, memory, memoryFigure, percentFigure, wattsFigure } from '../../../text/format.ts'
import { shortGpuName } from '../../../text/names.ts'
import { holdersOf, holdersText } from './holders.ts'

type Props = { readonly of: ReadonlySignal<GpuView> }

function Memory({ of }: Props) {
  const { memory_used_bytes: used, memory_total_bytes: total } = of.value.row
  return <Meter value={used} limit={total} label={`memory of GPU ${of.value.index}`} />
}

function Held({ of }: Props) {
  const holders = useComputed(() => (frame.value === undefined ? [] : holdersOf(frame.value, of.value.uuid)))
  return (
    <p class="small-held">
      <Live
        text={() =>
          of.value.trouble !== undefined
            ? (of.value.trouble.detail ?? of.value.trouble.reason)
            : holders.value.length === 0
              ? 'nobody holds memory'
              : holdersText(holders.value, 2)
        }
      />
    </p>
  )
}

function SmallCard({ of }: Props) {
  const { uuid } = of.peek()
  const index = useComputed(() => of.value.index).value
  const name = useComputed(() => shortGpuName(of.value.name)).value
  const trouble = useComputed(() => of.value.trouble?.kind)
  const short = useComputed(() => trouble.value === undefined && (forecastOf(of.value.row) !== undefined || nearFull(of.value.row) !== undefined))
  const alarm = useComputed(() => firingOn(uuid)[0]?.severity ?? (short.value ? 'warning' : undefined))
  return (
    <article
      class="gpu small"
      id={`gpu-${index}`}
      data-uuid={uuid}
      data-trouble={trouble}
      data-alarm={alarm}
      data-short={short.value ? '' : undefined}
      aria-label={`GPU ${index}, ${name}`}
    >
      <header class="gpu-head">
        <span class="gpu-index">{String(index)}</span>
        <h3 class="gpu-name" title={uuid}>
          <a href={hrefOf('gpus', [String(index)], rangeParams.value)} aria-label={`GPU ${index}, ${name}: details`}>
            {name}
          </a>
        </h3>
        <Activity of={of} />
      </header>
      {alarm.value === undefined ? <Held of={of} /> : <GpuAlarms of={of} most={1} />}
      <div class="gpu-body">
        <p class="small-figures">
          <span class="memory-used">
            <LiveFigure name="memory_used_bytes" figure={() => memoryFigure(of.value.row.memory_used_bytes)} />
            <span class="of">
              {' of '}
              <Live text={() => memory(of.value.row.memory_total_bytes)} />
            </span>
          </span>
          <LiveFigure name="utilization_ratio" figure={() => percentFigure(of.value.row.utilization_ratio)} />
          <LiveFigure name="power_watts" figure={() => wattsFigure(of.value.row.power_watts)} />
          <LiveFigure name="temperature_celsius" figure={() => celsiusFigure(of.value.row.temperature_celsius)} />
        </p>
        <Memory of={of} />
      </div>
    </article>
  )
}

export function CompactGpus() {
  return (
    <div class="small-gpus">
      {foundCards.value.map((of) => (
        <SmallCard key={of.peek().uuid} of={of} />
      ))}
    </div>
  )
}
