// One GPU: what it does, who holds its memory, whether it can be believed.
import { hovered } from '../state/app.ts'
import { charted } from '../state/charted.ts'
import type { GpuView } from '../state/gpu-view.ts'
import { firingOn } from '../state/incidents.ts'
import { LANE } from '../state/lanes.ts'
import { rangeParams } from '../state/range.ts'
import { hrefOf } from '../state/route.ts'
import { celsiusFigure, clock, percent, percentFigure, wattsFigure } from '../text/format.ts'
import { shortGpuName } from '../text/names.ts'
import { gapWords } from '../text/words.ts'
import { GpuAlarms } from './gpu-alarms.tsx'
import { GpuMemory } from './gpu-memory.tsx'
import { MigList } from './mig-list.tsx'
import { Readout } from './readout.tsx'
import { TroubleNote } from './trouble-note.tsx'

/** Why a figure is missing, for its tooltip. */
function whyMissing(view: GpuView, measure: string, value: unknown): string | undefined {
  if (value !== undefined) return undefined
  const gap = view.row.gaps?.find((found) => found.measure === measure)
  return gap === undefined ? undefined : `not read: ${gap.detail ?? gapWords(gap.reason)}`
}

function Footer({ view }: { readonly view: GpuView }) {
  const { row } = view
  // Beside heat or a brake, a power cap is no news.
  const harmful = view.throttles.filter((throttle) => throttle.harmful)
  const throttles = harmful.length > 0 ? harmful : view.throttles
  const sm = row.clock_hertz?.['sm'] ?? row.clock_hertz?.['graphics']
  return (
    <footer class="gpu-foot">
      <span title="clock of the SMs">{`SM ${clock(sm)}`}</span>
      {harmful.length === 0 && <span title="clock of the memory">{`mem ${clock(row.clock_hertz?.['memory'])}`}</span>}
      {row.fan_speed_ratio !== undefined && <span>{`fan ${percent(row.fan_speed_ratio)}`}</span>}
      {throttles.length > 0 && (
        <span class="throttles" title={view.throttles.map((throttle) => throttle.text).join(', ')}>
          {throttles.map((throttle) => (
            <span key={throttle.reason} class={throttle.harmful ? 'throttle harmful' : 'throttle'}>
              {throttle.text}
            </span>
          ))}
        </span>
      )}
    </footer>
  )
}

export function GpuCard({ view }: { readonly view: GpuView }) {
  const { row, uuid, index, trouble } = view
  const past = hovered.value
  const at = (lane: string, now: number | undefined): number | undefined => (past === undefined ? now : charted.value.timeline.at(lane, past))
  const limit = row.power_limit_watts
  const memoryTemperature = row.memory_temperature_celsius
  const alarm = firingOn(uuid)[0]?.severity
  return (
    <article class="gpu" id={`gpu-${index}`} data-uuid={uuid} data-trouble={trouble?.kind} data-alarm={alarm} aria-label={`GPU ${index}, ${view.name}`}>
      <header class="gpu-head">
        <span class="gpu-index">{index}</span>
        <h3 class="gpu-name" title={`${view.name}\n${uuid}`}>
          <a href={hrefOf('gpus', [String(index)], rangeParams.value)} aria-label={`GPU ${index}, ${shortGpuName(view.name)}, at large`}>
            {shortGpuName(view.name)}
          </a>
        </h3>
        {row.performance_state !== undefined && trouble === undefined && <span class="pstate" title="performance state">{`P${row.performance_state}`}</span>}
        <span class={`activity ${trouble === undefined ? (view.busy ? 'busy' : 'idle') : 'trouble-mark'}`}>
          {trouble === undefined ? (view.busy ? 'busy' : 'idle') : trouble.kind}
        </span>
      </header>
      <GpuAlarms view={view} most={2} />
      <div class="gpu-body">
        <GpuMemory view={view} height={124} most={5} />
        {row.mig !== undefined && row.mig.length > 0 && <MigList instances={row.mig} gpu={index} />}
        <div class="readouts">
          <Readout
            name="Utilisation"
            id="utilization_ratio"
            figure={percentFigure(at(LANE.utilization(uuid), row.utilization_ratio))}
            why={whyMissing(view, 'utilization_ratio', row.utilization_ratio)}
            lane={LANE.utilization(uuid)}
            range={[0, 1]}
          />
          <Readout
            name="Power"
            id="power_watts"
            figure={wattsFigure(at(LANE.power(uuid), row.power_watts))}
            beside={limit === undefined ? undefined : `/ ${limit.toFixed(0)}`}
            why={whyMissing(view, 'power_watts', row.power_watts)}
            lane={LANE.power(uuid)}
            range={[0, limit ?? 400]}
          />
          <Readout
            name="Temperature"
            id="temperature_celsius"
            figure={celsiusFigure(at(LANE.temperature(uuid), row.temperature_celsius))}
            beside={memoryTemperature === undefined ? undefined : `mem ${memoryTemperature.toFixed(0)}`}
            why={whyMissing(view, 'temperature_celsius', row.temperature_celsius)}
            lane={LANE.temperature(uuid)}
            range={[20, 95]}
          />
        </div>
        <Footer view={view} />
      </div>
      <TroubleNote view={view} />
    </article>
  )
}
