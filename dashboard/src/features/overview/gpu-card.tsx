// One GPU: what it does, who holds its memory, whether it can be believed.
import { useComputed } from '@preact/signals'
import { Readout } from '../../parts/chart/readout.tsx'
import { Live } from '../../parts/figure.tsx'
import { whyMissing } from '../../parts/gpu/activity.tsx'
import { TroubleNote } from '../../parts/gpu/alarms.tsx'
import { GpuMemory } from '../../parts/gpu/memory.tsx'
import { MigList } from '../../parts/gpu/mig-list.tsx'
import { later } from '../../parts/later.tsx'
import type { GpuView } from '../../parts/live/gpu-view.ts'
import { LANE } from '../../parts/live/lanes.ts'
import { hovered, painted } from '../../parts/live/state.ts'
import { charted } from '../../parts/range/charted.ts'
import { celsiusFigure, clock, percent, percentFigure, wattsFigure } from '../../text/format.ts'
import { Card, type CardProps } from './card.tsx'

const GpuServers = later(async () => (await import('../../parts/server/gpu.tsx')).GpuServers)

const clockOf = ({ row }: GpuView, ...names: readonly string[]): string =>
  clock(names.map((name) => row.clock_hertz?.[name]).find((hertz) => hertz !== undefined))

function Throttles({ of }: CardProps) {
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
function Clocks({ of }: CardProps) {
  const roomy = useComputed(() => of.value.throttles.length === 0)
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

function Mig({ of }: CardProps) {
  const { row, index } = of.value
  return <MigList instances={row.mig ?? []} gpu={index} />
}

export function GpuCard({ of }: CardProps) {
  const { uuid } = of.peek()
  const trouble = useComputed(() => of.value.trouble !== undefined)
  const index = useComputed(() => of.value.index).value
  const divided = useComputed(() => (of.value.row.mig ?? []).length > 0)
  const at = (lane: string, now: number | undefined): number | undefined => (hovered.value === undefined ? now : charted.value.timeline.at(lane, hovered.value))
  const limit = (): number | undefined => of.value.row.power_limit_watts
  const memoryTemperature = (): number | undefined => of.value.row.memory_temperature_celsius
  return (
    <Card of={of} kind="gpu" Calm={Clocks}>
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
      {trouble.value && <TroubleNote of={of} brief />}
    </Card>
  )
}
