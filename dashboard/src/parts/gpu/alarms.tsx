// What needs attention on a GPU: that it cannot be believed, incidents that fire, and when its memory runs out. Each leads to the incident that tells why.
import { age } from '../../../../agent/text/span.ts'
import { since, timeWithSeconds } from '../../../../agent/text/time.ts'
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import type { GpuRow } from '../../../../agent/model/live.ts'
import type { ReadonlySignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { firingOn } from '../incident/known.ts'
import type { GpuView } from '../live/gpu-view.ts'
import { agentNow, timeline } from '../live/state.ts'
import { hrefOf } from '../route.ts'
import { LANE } from '../live/lanes.ts'
import { forecastOf, memoryWarning } from './forecast.ts'

const FORECAST = 'memory_exhaustion_forecast'
/** Over so many seconds a rise is measured where the forecast's incident does not tell it. */
const RISE_S = 120

/** Bytes a minute by which memory rises: of the process that the forecast is about, else of the GPU of late. */
function growth(uuid: string, foreseen: IncidentSummary | undefined): number | undefined {
  const slope = foreseen?.facts['slope_bytes_per_second']
  if (typeof slope === 'number') return slope * 60
  const end = timeline.end()
  const [then, now] = [timeline.at(LANE.used(uuid), end - RISE_S), timeline.at(LANE.used(uuid), end)]
  return then === undefined || now === undefined ? undefined : ((now - then) / RISE_S) * 60
}

type Alarm = {
  readonly id: string
  readonly severity: IncidentSummary['severity']
  readonly text: string
  readonly incident?: IncidentSummary | undefined
  /** What the row says of memory, not an incident's title. */
  readonly memory?: 'forecast' | 'full'
}

const critical = ({ severity }: Alarm): number => Number(severity === 'critical')

/** What memory does, then what fires; the critical ones before all else. */
function alarmsOf(view: GpuView): readonly Alarm[] {
  const all = firingOn(view.uuid)
  const foreseen = all.find(({ kind }) => kind === FORECAST)
  const ahead = view.trouble === undefined && forecastOf(view.row) !== undefined
  const memory = view.trouble === undefined ? memoryWarning(view.row, growth(view.uuid, foreseen)) : undefined
  // The card says which GPU.
  const prefix = `GPU ${view.index}: `
  const alarms: Alarm[] =
    memory === undefined
      ? []
      : [{ id: 'memory', severity: foreseen?.severity ?? 'warning', text: memory, incident: foreseen, memory: ahead ? 'forecast' : 'full' }]
  for (const incident of all) {
    const { id, title, severity, kind } = incident
    // Where the agent still says when, its incident is reported with that.
    if (ahead && kind === FORECAST) continue
    alarms.push({ id, severity, text: title.startsWith(prefix) ? title.slice(prefix.length) : title, incident })
  }
  return alarms.toSorted((a, b) => critical(b) - critical(a))
}

type AlarmsProps = {
  readonly of: ReadonlySignal<GpuView>
  /** In its place where nothing is wrong. */
  readonly calm?: ComponentChildren
  /** Where all that is wrong is listed, if not on the GPU's page. */
  readonly moreHref?: string
}

/** One line, so that what arrives moves nothing. */
export function GpuAlarms({ of, calm = null, moreHref }: AlarmsProps) {
  const view = of.value
  const all = alarmsOf(view)
  if (all.length === 0) return <>{calm}</>
  const shown = all.slice(0, 1)
  return (
    <ul class="alarms" data-severity={all[0]?.severity} aria-label={`What is wrong with GPU ${view.index}`}>
      {shown.map(({ id, severity, text, incident, memory }) => (
        <li key={id} data-severity={severity} data-forecast={memory === 'forecast' ? '' : undefined} data-full={memory === 'full' ? '' : undefined}>
          {incident === undefined ? (
            <span class="alarm-text">{text}</span>
          ) : (
            <a class="alarm-text" href={hrefOf('incidents', [incident.id])} title={incident.title}>
              {text}
            </a>
          )}
          {incident !== undefined && memory === undefined && <span class="alarm-since">{since(incident.started_at, agentNow.value)}</span>}
        </li>
      ))}
      {all.length > shown.length && (
        <li class="alarm-more">
          <a class="alarm-text" href={moreHref ?? hrefOf('gpus', [String(view.index)])} aria-label={`${all.length - shown.length} more of GPU ${view.index}`}>
            {`+${all.length - shown.length}`}
          </a>
        </li>
      )}
    </ul>
  )
}

/** `brief` without the domain of the bus that nearly every host has. */
const identityOf = (row: GpuRow, brief: boolean): string =>
  Object.entries({ serial: row['serial'], bus: row['pci_bus_id'] })
    .flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? [`${name} ${brief ? value.replace(/^0+:/, '') : value}`] : []))
    .join(' · ')

/** A GPU that cannot be believed: since when, of which moment its figures are, and which card it is; why, where there is room for it. */
export function TroubleNote({ of, brief = false }: { readonly of: ReadonlySignal<GpuView>; readonly brief?: boolean }) {
  const { trouble, sinceMs, row } = of.value
  if (trouble === undefined) return null
  const why = trouble.detail ?? trouble.reason
  const identity = identityOf(row, brief)
  return (
    <div class={brief ? 'trouble brief' : 'trouble'} role="status" title={brief ? why : undefined}>
      <p>
        <strong>
          {trouble.state}
          {sinceMs !== undefined && ` for ${age((agentNow.value - sinceMs) / 1000)}`}
        </strong>
        {sinceMs !== undefined && ` · figures of ${timeWithSeconds(sinceMs)}`}
      </p>
      {!brief && <p>{why}</p>}
      {identity !== '' && <p class="sub">{identity}</p>}
    </div>
  )
}
