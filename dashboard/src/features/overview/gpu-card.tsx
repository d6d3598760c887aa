// One GPU: what it does, who holds its memory, whether it can be believed.
import { type ReadonlySignal, useComputed } from '@preact/signals'
import { Readout } from '../../parts/chart/readout.tsx'
import { Live } from '../../parts/figure.tsx'
import { Activity, whyMissing } from '../../parts/gpu/activity.tsx'
import { GpuAlarms, TroubleNote } from '../../parts/gpu/alarms.tsx'
import { forecastOf, nearFull } from '../../parts/gpu/forecast.ts'
import { GpuMemory } from '../../parts/gpu/memory.tsx'
import { MigList } from '../../parts/gpu/mig-list.tsx'
import { later } from '../../parts/later.tsx'
import { firingOn } from '../../parts/incident/known.ts'
import type { GpuView } from '../../parts/live/gpu-view.ts'
import { LANE } from '../../parts/live/lanes.ts'
import { hovered, painted } from '../../parts/live/state.ts'
import { charted } from '../../parts/range/charted.ts'
import { rangeParams } from '../../parts/range/range.ts'
import { hrefOf } from '../../parts/route.ts'
import { celsiusFigure, clock, percent, percentFigure, wattsFigure } from '../../text/format.ts'
import { shortGpuName } from '../../text/names.ts'

const GpuServers = later(async () => (await import('../../parts/server/gpu.tsx')).GpuServers)

type Props = { readonly of: ReadonlySignal<GpuView> }

const clockOf = ({ row }: GpuView, ...names: readonly string[]): string =>
  clock(names.map((name) => row.clock_hertz?.[name]).find((hertz) => hertz !== undefined))

function Throttles({ of }: Props) {
  const reasons = useComputed(() => of.value.throttles.map(({ reason }) => reason).join())
  if (reasons.value === '') return null
  const { throttles } = of.peek()
  // Beside heat or a brake, a power cap is no news.
  const harmful = throttles.filter((throttle) => throttle.harmful)
  const shown = harmful.length > 0 ? harmful : throttles
  return (
    <span class="throttles" title={throttles.map((throttle) => throttle.text).join(', ')}>
      {shown.map((throttle) => (
        <span key={throttle.reason} class={throttle.harmful ? 'throttle harmful' : 'throttle'}>
          {throttle.text}
        </span>
      ))}
    </span>
  )
}

/** What a card without alarms says below its name. */
function Clocks({ of }: Props) {
  const roomy = useComputed(() => !of.value.throttles.some((throttle) => throttle.harmful))
  const fan = useComputed(() => of.value.row.fan_speed_ratio !== undefined)
  return (
    <p class="gpu-foot">
      <span title="clock of the SMs">
        <Live text={() => `SM ${clockOf(of.value, 'sm', 'graphics')}`} />
      </span>
      {roomy.value && (
        <span title="clock of the memory">
          <Live text={() => `mem ${clockOf(of.value, 'memory')}`} />
        </span>
      )}
      {fan.value && (
        <span>
          <Live text={() => `fan ${percent(of.value.row.fan_speed_ratio)}`} />
        </span>
      )}
      <Throttles of={of} />
    </p>
  )
}

function Mig({ of }: Props) {
  const { row, index } = of.value
  return <MigList instances={row.mig ?? []} gpu={index} />
}

/** A second changes figures, not the card: what reads `of.value` here is redrawn, all else goes on by itself. */
export function GpuCard({ of }: Props) {
  const { uuid } = of.peek()
  // Seldom another: after a driver's restart, or a name that comes late.
  const index = useComputed(() => of.value.index).value
  const name = useComputed(() => of.value.name).value
  const trouble = useComputed(() => of.value.trouble?.kind)
  const short = useComputed(() => trouble.value === undefined && (forecastOf(of.value.row) !== undefined || nearFull(of.value.row) !== undefined))
  const alarm = useComputed(() => firingOn(uuid)[0]?.severity ?? (short.value ? 'warning' : undefined))
  const divided = useComputed(() => (of.value.row.mig ?? []).length > 0)
  const at = (lane: string, now: number | undefined): number | undefined => (hovered.value === undefined ? now : charted.value.timeline.at(lane, hovered.value))
  const limit = (): number | undefined => of.value.row.power_limit_watts
  const memoryTemperature = (): number | undefined => of.value.row.memory_temperature_celsius
  return (
    <article
      class="gpu"
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
      {alarm.value === undefined ? <Clocks of={of} /> : <GpuAlarms of={of} most={1} />}
      {trouble.value !== undefined && <TroubleNote of={of} brief />}
      <div class="gpu-body">
        <GpuMemory of={of} height={124} most={5} />
        {divided.value && <Mig of={of} />}
        {painted.value && <GpuServers index={index} />}
        {painted.value && (
          <>
            <div class="readouts">
              <Readout
                name="Utilisation"
                id="utilization_ratio"
                figure={() => percentFigure(at(LANE.utilization(uuid), of.value.row.utilization_ratio))}
                why={() => whyMissing(of.value, 'utilization_ratio')}
                lane={LANE.utilization(uuid)}
                range={() => [0, 1]}
              />
              <Readout
                name="Power"
                id="power_watts"
                figure={() => wattsFigure(at(LANE.power(uuid), of.value.row.power_watts))}
                beside={() => (limit() === undefined ? undefined : `/ ${wattsFigure(limit()).value}`)}
                why={() => whyMissing(of.value, 'power_watts')}
                lane={LANE.power(uuid)}
                range={() => [0, of.peek().row.power_limit_watts ?? 400]}
              />
              <Readout
                name="Temperature"
                id="temperature_celsius"
                figure={() => celsiusFigure(at(LANE.temperature(uuid), of.value.row.temperature_celsius))}
                beside={() => (memoryTemperature() === undefined ? undefined : `mem ${celsiusFigure(memoryTemperature()).value}°`)}
                why={() => whyMissing(of.value, 'temperature_celsius')}
                lane={LANE.temperature(uuid)}
                range={() => [20, 95]}
              />
            </div>
          </>
        )}
      </div>
    </article>
  )
}
