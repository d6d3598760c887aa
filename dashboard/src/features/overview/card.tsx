// The frame of a GPU's card, large or small: which GPU it is, its activity, and one line for what is wrong with it.
import { type ReadonlySignal, useComputed } from '@preact/signals'
import type { ComponentChildren, ComponentType } from 'preact'
import { Activity } from '../../parts/gpu/activity.tsx'
import { GpuAlarms } from '../../parts/gpu/alarms.tsx'
import { forecastOf, nearFull } from '../../parts/gpu/forecast.ts'
import { firingOn } from '../../parts/incident/known.ts'
import type { GpuView } from '../../parts/live/gpu-view.ts'
import { rangeParams } from '../../parts/range/range.ts'
import { hrefOf } from '../../parts/route.ts'
import { shortGpuName } from '../../text/names.ts'

export type CardProps = { readonly of: ReadonlySignal<GpuView> }
type Props = CardProps & {
  readonly kind: 'gpu' | 'gpu small'
  /** The line below the name where nothing is wrong. */
  readonly Calm: ComponentType<CardProps>
  readonly children: ComponentChildren
}

/** A second changes figures, not the card: what reads `of.value` here is redrawn, all else goes on by itself. */
export function Card({ of, kind, Calm, children }: Props) {
  const { uuid } = of.peek()
  // Rarely another: after a driver's restart, or a name that comes late.
  const index = useComputed(() => of.value.index).value
  const name = useComputed(() => of.value.name).value
  const trouble = useComputed(() => of.value.trouble?.kind)
  const short = useComputed(() => trouble.value === undefined && (forecastOf(of.value.row) !== undefined || nearFull(of.value.row) !== undefined))
  const alarm = useComputed(() => firingOn(uuid)[0]?.severity ?? (short.value ? 'warning' : undefined))
  return (
    <article
      class={kind}
      id={`gpu-${index}`}
      data-uuid={uuid}
      data-trouble={trouble}
      data-alarm={alarm}
      data-short={short.value ? '' : undefined}
      aria-label={`GPU ${index}, ${name}`}
    >
      <header class="gpu-head">
        <span class="gpu-index">{String(index)}</span>
        <h3 class="gpu-name" title={`${name}\n${uuid}`}>
          <a href={hrefOf('gpus', [String(index)], rangeParams.value)} aria-label={`GPU ${index}, ${shortGpuName(name)}: details`}>
            {shortGpuName(name)}
          </a>
        </h3>
        <Activity of={of} />
      </header>
      {/* One line in either case: what is wrong with one GPU moves no other. */}
      {alarm.value === undefined ? <Calm of={of} /> : <GpuAlarms of={of} />}
      {children}
    </article>
  )
}
