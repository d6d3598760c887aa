// What needs attention on a GPU: that it cannot be believed, incidents that fire, and when its memory runs out. Each leads to the incident that tells why.
import { age } from '../../../../agent/text/span.ts'
import { since, timeWithSeconds } from '../../../../agent/text/time.ts'
import type { GpuRow } from '../../../../agent/model/live.ts'
import type { ReadonlySignal } from '@preact/signals'
import { firingOn } from '../incident/known.ts'
import type { GpuView } from '../live/gpu-view.ts'
import { agentNow } from '../live/state.ts'
import { hrefOf } from '../route.ts'
import { LANE } from '../live/lanes.ts'
import { timeline } from '../live/state.ts'
import { forecastOf, forecastText, nearFull, rateText } from './forecast.ts'

const FORECAST = 'memory_exhaustion_forecast'
/** Over so many seconds a rise is measured. */
const RISE_S = 120

/** Bytes a minute that the GPU's memory has risen by of late; undefined: not known. */
function growth(uuid: string): number | undefined {
  const end = timeline.end()
  const [then, now] = [timeline.at(LANE.used(uuid), end - RISE_S), timeline.at(LANE.used(uuid), end)]
  return then === undefined || now === undefined ? undefined : ((now - then) / RISE_S) * 60
}

export function GpuAlarms({ of, most }: { readonly of: ReadonlySignal<GpuView>; readonly most: number }) {
  const view = of.value
  const all = firingOn(view.uuid)
  const forecast = view.trouble === undefined ? forecastOf(view.row) : undefined
  const foreseen = all.find(({ kind }) => kind === FORECAST)
  // Where the agent still says when, its incident is told with that.
  const others = forecast === undefined ? all : all.filter(({ kind }) => kind !== FORECAST)
  const full = forecast === undefined && view.trouble === undefined ? nearFull(view.row) : undefined
  if (others.length === 0 && forecast === undefined && full === undefined) return null
  const rate = forecast === undefined ? '' : rateText(growth(view.uuid))
  const shown = others.slice(0, most)
  // The card says which GPU.
  const prefix = `GPU ${view.index}: `
  return (
    <ul class="alarms" aria-label={`What is wrong with GPU ${view.index}`}>
      {forecast !== undefined && (
        <li data-severity={foreseen?.severity ?? 'warning'} data-forecast="">
          {foreseen === undefined ? (
            <span class="alarm-text">{`memory ${forecastText(forecast)}${rate}`}</span>
          ) : (
            <a class="alarm-text" href={hrefOf('incidents', [foreseen.id])} title={foreseen.title}>{`memory ${forecastText(forecast)}${rate}`}</a>
          )}
        </li>
      )}
      {full !== undefined && (
        <li data-severity="warning" data-full="">
          <span class="alarm-text">{full}</span>
        </li>
      )}
      {shown.map(({ id, title, severity, started_at: startedAt }) => (
        <li key={id} data-severity={severity}>
          <a class="alarm-text" href={hrefOf('incidents', [id])} title={title}>
            {title.startsWith(prefix) ? title.slice(prefix.length) : title}
          </a>
          <span class="alarm-since">{since(startedAt, agentNow.value)}</span>
        </li>
      ))}
      {others.length > shown.length && (
        <li>
          <a class="alarm-text" href={hrefOf('incidents', [], { state: 'firing' })}>{`${others.length - shown.length} more`}</a>
        </li>
      )}
    </ul>
  )
}

const identityOf = (row: GpuRow): string =>
  Object.entries({ serial: row['serial'], bus: row['pci_bus_id'] })
    .flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? [`${name} ${value}`] : []))
    .join(' · ')

/** A GPU that cannot be believed: since when, why, and of which moment its figures are. */
export function TroubleNote({ of }: { readonly of: ReadonlySignal<GpuView> }) {
  const { trouble, sinceMs, row } = of.value
  if (trouble === undefined) return null
  return (
    <div class="trouble" role="status">
      <strong>
        {trouble.state}
        {sinceMs !== undefined && ` for ${age((agentNow.value - sinceMs) / 1000)}`}
      </strong>
      <span>
        {trouble.detail ?? trouble.reason}
        {sinceMs !== undefined && `. Figures are of ${timeWithSeconds(sinceMs)}.`}
      </span>
      <span class="sub">{identityOf(row)}</span>
    </div>
  )
}
