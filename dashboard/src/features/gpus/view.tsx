// One GPU at large, by its index in the address (`#/gpus/3`): whether it can be believed, what is wrong, its memory, its charts, who is on it, its health.
import { indexRanges } from '../../../../agent/text/grammar.ts'
import './style.css'
import { useEffect } from 'preact/hooks'
import { Activity } from '../../parts/gpu/activity.tsx'
import { GpuAlarms, TroubleNote } from '../../parts/gpu/alarms.tsx'
import { GpuMemory } from '../../parts/gpu/memory.tsx'
import { MigList } from '../../parts/gpu/mig-list.tsx'
import { GpuServers } from '../../parts/server/gpu.tsx'
import { firingOn, flapping, isOnGpu } from '../../parts/incident/known.ts'
import type { GpuView } from '../../parts/live/gpu-view.ts'
import { type ProcessView, processViews } from '../../parts/live/rows.ts'
import { agentNow, follow, frame, stale, views } from '../../parts/live/state.ts'
import { Loading } from '../../parts/loading.tsx'
import { ChartBar } from '../../parts/range/bar.tsx'
import { showRange } from '../../parts/range/charted.ts'
import { rangeParams } from '../../parts/range/range.ts'
import { hrefOf } from '../../parts/route.ts'
import { PROCESS_COLUMNS } from '../../parts/table/processes.tsx'
import { type Column, DataTable } from '../../parts/table/table.tsx'
import { memory } from '../../text/format.ts'
import { shortGpuName } from '../../text/names.ts'
import type { ViewProps } from '../feature.ts'
import { CompareChoice, comparedWith } from './compare.tsx'
import { GpuFacts } from './facts.tsx'
import { GpuIncidents } from './incidents.tsx'
import { LineFigures } from './line-figures.tsx'
import { closeUp } from './measures.ts'
import { memoryTable } from './tables.ts'
import { ThrottleLanes } from './throttles.tsx'

const COLUMNS: readonly Column<ProcessView>[] = [
  ...PROCESS_COLUMNS,
  { id: 'gpu', label: 'Memory on this GPU', numeric: true, key: (view) => view.gpuBytes, cell: (view) => memory(view.gpuBytes) },
]

/** Those that hold memory of this GPU now. */
function GpuProcesses({ view: { uuid, trouble, lastProcesses, sinceMs } }: { readonly view: GpuView }) {
  const now = (frame.value?.processes ?? []).filter((row) => row.uuid === uuid)
  const before = trouble !== undefined && now.length === 0
  return (
    <DataTable
      id="gpu-processes"
      title={before ? 'GPU processes when it was last read' : 'GPU processes'}
      columns={COLUMNS}
      rows={before ? processViews(lastProcesses, sinceMs ?? agentNow.value) : processViews(now, agentNow.value)}
      rowKey={(view) => view.key}
      sort={{ column: 'gpu', descending: true }}
      empty={before ? 'The driver lists no processes of a GPU that it cannot read. Its incidents show who was on it.' : 'No process holds memory of this GPU.'}
    />
  )
}

/** The way to a GPU beside it. What is wrong there is told by a sign and in words, not by colour alone. */
function Neighbour({ of: { uuid, index, trouble }, here }: { readonly of: GpuView; readonly here: boolean }) {
  const [first, ...more] = firingOn(uuid)
  const alarm = trouble === undefined ? first?.severity : 'critical'
  const wrong = [trouble?.verdict, first?.title, more.length > 0 ? `${more.length} more` : undefined].filter((text) => text !== undefined).join('; ')
  return (
    <a
      class="gpu-index"
      href={hrefOf('gpus', [String(index)], rangeParams.value)}
      aria-current={here ? 'page' : undefined}
      aria-label={wrong === '' ? `GPU ${index}` : `GPU ${index}: ${wrong}`}
      title={wrong === '' ? undefined : wrong}
      data-alarm={alarm}
    >
      {index}
      {alarm !== undefined && <span aria-hidden="true">{alarm === 'critical' ? '▲' : '◆'}</span>}
    </a>
  )
}

/** To the GPUs of the host, in its order. */
const Neighbours = ({ index }: { readonly index: number }) => (
  <nav class="neighbours" aria-label="GPUs">
    {(views.value ?? []).map((view) => (
      <Neighbour key={view.uuid} of={view} here={view.index === index} />
    ))}
  </nav>
)

/** Nothing fires. What comes and goes is named, as the line above the page names it. */
function Calm({ of: { uuid, trouble } }: { readonly of: GpuView }) {
  const flaps = flapping.value.find(({ incident }) => isOnGpu(incident, uuid))
  return (
    <p class="calm sub">
      {trouble === undefined && 'No incident now'}
      {flaps !== undefined && (
        <>
          {trouble === undefined && ' · '}
          <a href={hrefOf('incidents', [flaps.incident.id])}>{`${flaps.incident.title}: flapping, ${flaps.times} times`}</a>
        </>
      )}
    </p>
  )
}

/** What is wrong takes its room from the chart, which has stopped: nothing else moves. */
const [CHART_PX, NOTE_PX] = [260, 82]

function GpuPage({ view }: { readonly view: GpuView }) {
  const { uuid, index, row, trouble } = view
  const of = follow(view)
  const other = comparedWith(view)?.uuid
  useEffect(() => showRange(other === undefined ? closeUp(uuid) : closeUp(uuid, other)), [uuid, other])
  const probed = frame.value?.allocators.some((each) => each.uuid === uuid) === true
  return (
    <div class={stale.value ? 'content stale gpu-page' : 'content gpu-page'} data-uuid={uuid}>
      <article class="gpu large" data-trouble={trouble?.kind} aria-labelledby="gpu-title">
        <header class="gpu-head">
          <Neighbours index={index} />
          <h2 id="gpu-title" class="gpu-name">
            {`GPU ${index}`} <span class="of">{shortGpuName(view.name)}</span>
          </h2>
          <Activity of={of} />
        </header>
        <GpuAlarms of={of} calm={<Calm of={view} />} moreHref={hrefOf('incidents', [], { text: uuid })} />
        <ChartBar probed={probed} />
        <div class="gpu-body">
          <GpuMemory
            of={of}
            height={trouble === undefined ? CHART_PX : CHART_PX - NOTE_PX}
            most={12}
            table={() => memoryTable(view)}
            note={<TroubleNote of={of} />}
          />
          {row.mig !== undefined && row.mig.length > 0 && <MigList instances={row.mig} gpu={index} />}
          <GpuServers index={index} />
          <CompareChoice view={view} />
          <LineFigures view={view} />
          <ThrottleLanes uuid={uuid} />
        </div>
      </article>
      <GpuProcesses view={view} />
      <GpuIncidents uuid={uuid} />
      <GpuFacts view={view} />
    </div>
  )
}

export function Gpu({ rest }: ViewProps) {
  const [index = ''] = rest
  const gpus = views.value
  if (frame.value === undefined || gpus === undefined) return <Loading />
  const view = gpus.find((each) => String(each.index) === index)
  if (view === undefined)
    return (
      <div class="content">
        <div class="notice">
          {/* Of a host that cannot be read nobody knows which it has. */}
          <h2>{gpus.length === 0 ? 'No GPU can be read on this host' : `This host has no GPU ${index.slice(0, 20)}`}</h2>
          {gpus.length > 0 && <p>{`It has ${gpus.length === 1 ? 'GPU' : 'GPUs'} ${indexRanges(gpus.map((each) => each.index))}.`}</p>}
          <p>
            <a href="#/">Overview</a>
            {gpus.length === 0 && (
              <>
                {' · '}
                <a href="#/doctor">Why: the doctor’s checks</a>
              </>
            )}
          </p>
        </div>
      </div>
    )
  return <GpuPage key={view.uuid} view={view} />
}
