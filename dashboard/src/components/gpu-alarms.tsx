// What needs attention on a GPU: incidents that fire, and when its memory runs out. Each leads to the incident that tells why.
import type { ReadonlySignal } from '@preact/signals'
import { since } from '../../../agent/text/time.ts'
import { agentNow } from '../state/app.ts'
import { forecastOf, forecastText } from '../state/forecast.ts'
import type { GpuView } from '../state/gpu-view.ts'
import { firingOn } from '../state/incidents.ts'
import { hrefOf } from '../state/route.ts'

const FORECAST = 'memory_exhaustion_forecast'

export function GpuAlarms({ of, most }: { readonly of: ReadonlySignal<GpuView>; readonly most: number }) {
  const view = of.value
  const all = firingOn(view.uuid)
  const forecast = view.trouble === undefined ? forecastOf(view.row) : undefined
  const foreseen = all.find(({ kind }) => kind === FORECAST)
  // Where the agent still says when, its incident is told with that.
  const others = forecast === undefined ? all : all.filter(({ kind }) => kind !== FORECAST)
  if (others.length === 0 && forecast === undefined) return null
  const shown = others.slice(0, most)
  // The card says which GPU.
  const prefix = `GPU ${view.index}: `
  return (
    <ul class="alarms" aria-label={`What is wrong with GPU ${view.index}`}>
      {forecast !== undefined && (
        <li data-severity={foreseen?.severity ?? 'warning'} data-forecast="">
          {foreseen === undefined ? (
            <span class="alarm-text">{`memory ${forecastText(forecast)}`}</span>
          ) : (
            <a class="alarm-text" href={hrefOf('incidents', [foreseen.id])} title={foreseen.title}>{`memory ${forecastText(forecast)}`}</a>
          )}
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
