// Containers: what they hold on which GPU, beside what they asked for; CPU; host memory against its limit.
import { PALETTES } from '../charts/palette.ts'
import { colours, containers } from '../state/app.ts'
import type { ContainerView } from '../state/rows.ts'
import { theme } from '../state/theme.ts'
import { cores, DASH, indexRanges, memory } from '../text/format.ts'
import { containerKey } from '../text/names.ts'
import { DataTable, type Column } from './data-table.tsx'
import { Holdings } from './holdings.tsx'
import { Meter } from './meter.tsx'

function Name({ view }: { readonly view: ContainerView }) {
  const { row } = view
  const palette = PALETTES[theme.value]
  const project = row.compose_project === undefined ? row.namespace : row.compose_project
  return (
    <span class="named">
      {view.holdings.length === 0 ? (
        <span class="swatch none" />
      ) : (
        <span class="swatch container" style={{ '--swatch': palette.containers[colours.slot(containerKey(row)) % palette.containers.length] }} />
      )}
      <span class="named-text">
        <span class="name">{containerKey(row)}</span>
        <span class="sub">{[row.image, project].filter((part) => part !== undefined && part !== '').join(' · ') || row.container_id.slice(0, 12)}</span>
      </span>
    </span>
  )
}

function Asked({ view }: { readonly view: ContainerView }) {
  if (view.requested.length === 0) return <span class="faint">{DASH}</span>
  return (
    <span>
      {indexRanges(view.requested)}
      {view.unused.length > 0 && (
        <span class="unused" title="asked for, but holds no memory there">
          {view.unused.length === view.requested.length ? 'all unused' : `${indexRanges(view.unused)} unused`}
        </span>
      )}
    </span>
  )
}

function HostMemory({ view }: { readonly view: ContainerView }) {
  const { memory_bytes: used, memory_limit_bytes: limit } = view.row
  return (
    <span class="against">
      <Meter value={used} limit={limit} label={`host memory of ${view.row.container} against its limit`} />
      <span>
        {memory(used)}
        <span class="of">{limit === undefined ? ' no limit' : ` / ${memory(limit)}`}</span>
      </span>
    </span>
  )
}

const COLUMNS: readonly Column<ContainerView>[] = [
  { id: 'container', label: 'Container', key: (view) => containerKey(view.row), cell: (view) => <Name view={view} /> },
  {
    id: 'gpu',
    label: 'GPU memory',
    numeric: true,
    key: (view) => view.gpuBytes,
    cell: (view) => `${view.partial && view.gpuBytes !== undefined ? '≥ ' : ''}${memory(view.gpuBytes)}`,
  },
  { id: 'by-gpu', label: 'by GPU', key: (view) => view.holdings[0]?.index, cell: (view) => <Holdings holdings={view.holdings} /> },
  { id: 'asked', label: 'GPUs asked for', key: (view) => view.requested[0], cell: (view) => <Asked view={view} /> },
  { id: 'cpu', label: 'CPU cores', numeric: true, key: (view) => view.row.cpu_cores, cell: (view) => cores(view.row.cpu_cores) },
  { id: 'memory', label: 'Host memory', numeric: true, key: (view) => view.row.memory_bytes, cell: (view) => <HostMemory view={view} /> },
  {
    id: 'oom',
    label: 'OOM kills',
    numeric: true,
    key: (view) => view.row.oom_kills_total,
    cell: (view) => <span class={(view.row.oom_kills_total ?? 0) > 0 ? 'bad' : 'faint'}>{view.row.oom_kills_total ?? DASH}</span>,
  },
]

export function ContainerTable() {
  return (
    <DataTable
      id="containers"
      title="Containers"
      columns={COLUMNS}
      rows={containers.value}
      rowKey={(view) => view.key}
      sort={{ column: 'gpu', descending: true }}
      empty="No container is running, or none can be seen."
    />
  )
}
