// GPUs as a table that can be sorted: a line each.
import { Meter, meterPercent } from '../../../parts/figure.tsx'
import { memoryWarning } from '../../../parts/gpu/forecast.ts'
import { foundCards } from '../../../parts/gpu/found.ts'
import { firingOn } from '../../../parts/incident/known.ts'
import type { GpuView } from '../../../parts/live/gpu-view.ts'
import { sickness } from '../../../parts/live/order.ts'
import { frame } from '../../../parts/live/state.ts'
import { hrefOf } from '../../../parts/route.ts'
import { type Column, DataTable } from '../../../parts/table/table.tsx'
import { celsiusFigure, memory, percent, wattsFigure } from '../../../text/format.ts'
import { shortGpuName } from '../../../text/names.ts'
import { type Holder, holdersOf, holdersText } from './holders.ts'
import { styleDense } from './sheet.ts'

styleDense()

type Row = {
  readonly view: GpuView
  readonly state: string
  readonly sick: 0 | 1 | 2
  readonly incident: string | undefined
  readonly holders: readonly Holder[]
}

function rowOf(view: GpuView): Row {
  const firing = firingOn(view.uuid)
  const [first] = firing
  const activity = view.busy === undefined ? (view.row.mig === undefined ? 'unknown' : 'MIG') : view.busy ? 'busy' : 'idle'
  const prefix = `GPU ${view.index}: `
  const title = first?.title.startsWith(prefix) === true ? first.title.slice(prefix.length) : first?.title
  const throttle = view.throttles.find(({ harmful }) => harmful)?.text
  return {
    view,
    sick: sickness(view, firing),
    state: title ?? view.trouble?.state ?? memoryWarning(view.row) ?? throttle ?? activity,
    incident: first?.id,
    holders: frame.value === undefined ? [] : holdersOf(frame.value, view.uuid),
  }
}

const spaced = ({ value, unit }: { readonly value: string; readonly unit: string }): string => (unit === '' ? value : `${value} ${unit}`)
const utilization = ({ view }: Row): string => percent(view.row.utilization_ratio)
const power = ({ view }: Row): string => spaced(wattsFigure(view.row.power_watts))
const temperature = ({ view }: Row): string => spaced(celsiusFigure(view.row.temperature_celsius))
const free = ({ view }: Row): string => memory(view.row.memory_free_bytes)
const held = ({ holders }: Row): string => holdersText(holders, 2)
const MARKS = ['▲ ', '◆ ', ''] as const
const TONES = ['bad', 'warn', undefined] as const

const COLUMNS: readonly Column<Row>[] = [
  {
    id: 'card',
    label: 'GPU',
    key: ({ view }) => view.index,
    shows: ({ view }) => `${view.index} ${view.name}`,
    cell: ({ view }) => (
      <a class="name" href={hrefOf('gpus', [String(view.index)])}>
        {`GPU ${view.index}`} <span class="sub">{shortGpuName(view.name)}</span>
      </a>
    ),
  },
  {
    id: 'state',
    label: 'State',
    key: ({ sick, view }) => sick * 1_000 + view.index,
    shows: ({ state, sick, incident }) => `${state} ${sick} ${incident}`,
    cell: ({ state, sick, incident }) => {
      const text = `${MARKS[sick]}${state}`
      return incident === undefined ? (
        <span class={TONES[sick]}>{text}</span>
      ) : (
        <a class={TONES[sick]} href={hrefOf('incidents', [incident])}>
          {text}
        </a>
      )
    },
  },
  {
    id: 'memory',
    label: 'Memory',
    numeric: true,
    key: ({ view }) => view.row.memory_used_bytes,
    shows: ({ view: { row } }) =>
      `${memory(row.memory_used_bytes)} ${memory(row.memory_total_bytes)} ${meterPercent(row.memory_used_bytes, row.memory_total_bytes)}`,
    cell: ({ view: { row, index } }) => (
      <span class="against">
        <Meter value={row.memory_used_bytes} limit={row.memory_total_bytes} label={`memory of GPU ${index}`} />
        <span>
          {memory(row.memory_used_bytes)}
          <span class="of">{` / ${memory(row.memory_total_bytes)}`}</span>
        </span>
      </span>
    ),
  },
  { id: 'free', label: 'Free', numeric: true, key: ({ view }) => view.row.memory_free_bytes, shows: free, cell: free },
  { id: 'busy', label: 'Utilisation', numeric: true, key: ({ view }) => view.row.utilization_ratio, shows: utilization, cell: utilization },
  { id: 'power', label: 'Power', numeric: true, key: ({ view }) => view.row.power_watts, shows: power, cell: power },
  { id: 'temperature', label: 'Temperature', numeric: true, key: ({ view }) => view.row.temperature_celsius, shows: temperature, cell: temperature },
  { id: 'by-gpu', label: 'Held by', key: ({ holders }) => holders[0]?.name, shows: held, cell: held },
]

export function GpuTable() {
  return (
    <DataTable
      id="gpu-table"
      title="GPUs"
      columns={COLUMNS}
      rows={foundCards.value.map((of) => rowOf(of.value))}
      rowKey={({ view }) => view.uuid}
      sort={{ column: 'state', descending: false }}
      empty="No GPU fits the filter."
    />
  )
}
