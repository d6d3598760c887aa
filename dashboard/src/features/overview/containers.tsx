// Containers: what they hold on which GPU, beside what they asked for; CPU; host memory against its limit.
import { indexRanges } from '../../../../agent/text/grammar.ts'
import { Breakable } from '../../parts/breakable.tsx'
import { jobOf } from '../../parts/job/identity.ts'
import { jobHref } from '../../parts/job/links.ts'
import { PALETTES } from '../../parts/chart/palette.ts'
import { Meter, meterPercent } from '../../parts/figure.tsx'
import type { ContainerView } from '../../parts/live/rows.ts'
import { containers } from '../../parts/live/listed.ts'
import { colours } from '../../parts/live/state.ts'
import { words } from '../../parts/gpu/found.ts'
import { hasWords } from '../../parts/live/find.ts'
import { byGpuColumn } from '../../parts/table/holdings.tsx'
import { type Column, DataTable } from '../../parts/table/table.tsx'
import { theme } from '../../parts/theme.ts'
import { cores, DASH, memory } from '../../text/format.ts'
import { containerKey } from '../../text/names.ts'

/** Image and project, or where there is neither the id, if it is not the name. */
const originOf = ({ image, compose_project: project, namespace, container_id: id, container }: ContainerView['row']): string =>
  [image, project ?? namespace].filter((part) => part !== undefined && part !== '').join(' · ') || (id.startsWith(container) ? 'container' : id.slice(0, 12))

function Name({ view }: { readonly view: ContainerView }) {
  const { row } = view
  const palette = PALETTES[theme.value]
  return (
    <span class="named">
      {view.holdings.length === 0 ? (
        <span class="swatch none" />
      ) : (
        <span class="swatch container" style={{ '--swatch': palette.containers[colours.slot(containerKey(row)) % palette.containers.length] }} />
      )}
      <span class="named-text">
        <a class="name" href={jobHref(jobOf(row).key)}>
          <Breakable text={containerKey(row)} />
        </a>
        <span class="sub">{originOf(row)}</span>
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

const gpuText = (view: ContainerView): string => `${view.unread.length > 0 && view.gpuBytes !== undefined ? '≥ ' : ''}${memory(view.gpuBytes)}`
const cpuText = (view: ContainerView): string => cores(view.row.cpu_cores)
const killsText = (view: ContainerView): string => String(view.row.oom_kills_total ?? DASH)

const COLUMNS: readonly Column<ContainerView>[] = [
  {
    id: 'container',
    label: 'Container',
    key: (view) => containerKey(view.row),
    shows: (view) => `${containerKey(view.row)}\n${originOf(view.row)}\n${view.holdings.length > 0}`,
    cell: (view) => <Name view={view} />,
  },
  { id: 'gpu', label: 'GPU memory', numeric: true, key: (view) => view.gpuBytes, shows: gpuText, cell: gpuText },
  byGpuColumn(),
  {
    id: 'asked',
    label: 'GPUs asked for',
    key: (view) => view.requested[0],
    shows: (view) => `${view.requested.join()} ${view.unused.join()}`,
    cell: (view) => <Asked view={view} />,
  },
  { id: 'cpu', label: 'CPU cores', numeric: true, key: (view) => view.row.cpu_cores, shows: cpuText, cell: cpuText },
  {
    id: 'memory',
    label: 'Host memory',
    numeric: true,
    key: (view) => view.row.memory_bytes,
    shows: ({ row }) => `${memory(row.memory_bytes)} ${row.memory_limit_bytes} ${meterPercent(row.memory_bytes, row.memory_limit_bytes)}`,
    cell: (view) => <HostMemory view={view} />,
  },
  {
    id: 'oom',
    label: 'OOM kills',
    numeric: true,
    key: (view) => view.row.oom_kills_total,
    shows: killsText,
    cell: (view) => <span class={(view.row.oom_kills_total ?? 0) > 0 ? 'bad' : 'faint'}>{killsText(view)}</span>,
  },
]

/** None runs, or the agent may not ask the engine: what to look at. */
const NoContainers = () => (
  <>
    No container is running, or none can be seen. What the engine has: <code>docker ps</code>. The <a href="#/doctor">Doctor</a> says which engines answer the
    agent and how to let it ask.
  </>
)

export function ContainerTable() {
  return (
    <DataTable
      id="containers"
      title="Containers"
      columns={COLUMNS}
      rows={containers.value.filter(({ row }) => hasWords(words.value, [containerKey(row), originOf(row), jobOf(row).key]))}
      rowKey={(view) => view.key}
      sort={{ column: 'gpu', descending: true }}
      empty={words.value.length > 0 ? 'No container fits the filter.' : <NoContainers />}
    />
  )
}
