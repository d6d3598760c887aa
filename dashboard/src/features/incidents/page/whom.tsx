// Whom an incident hit, each part a way to its page: the job, the GPU, the allocator of the process.
import type { Incident } from '../../../../../agent/model/incident.ts'
import type { AllocatorRow } from '../../../../../agent/model/live.ts'
import { whom } from '../../../parts/incident/subject.ts'
import { jobHit } from '../../../parts/job/identity.ts'
import { gpuHref, jobHref } from '../../../parts/job/links.ts'
import { agentNow, frame, views } from '../../../parts/live/state.ts'
import { hrefOf } from '../../../parts/route.ts'
import { allocatorReservedBytes } from '../../../text/metric-names.ts'

type Props = { readonly incident: Incident }

/** Whose probe speaks for it now: of its container on its GPU. */
const speaking = ({ subject: { gpu, container } }: Incident): readonly AllocatorRow[] =>
  frame.value?.allocators.filter(
    (row) => (gpu?.uuid === undefined || row.uuid === gpu.uuid) && (container === undefined || row['container'] === container.name),
  ) ?? []

/** The process itself where it still speaks, else whichever of that number does. */
function Allocator({ incident }: Props) {
  const rows = speaking(incident)
  const row = rows.find(({ pid }) => pid === incident.subject.process?.pid) ?? rows[0]
  const index = views.value?.find(({ uuid }) => uuid === row?.uuid)?.index
  if (row === undefined || index === undefined) return null
  return <a href={hrefOf('allocator', [], { process: `${row.pid}-${index}` })}>Allocator now</a>
}

/** Minutes before and after: what led to it, and what became of it. */
const [BEFORE_S, AFTER_S] = [600, 300]

/**
 * The process that was hit, where the evidence has its allocator; of an incident that names none the first that it has. An earlier occurrence keeps few
 * readings: where its container has a probe now, it had one then.
 */
function allocatorThen(incident: Incident): string | undefined {
  const { subject, evidence } = incident
  const own = subject.process === undefined ? undefined : String(subject.process.pid)
  const known = evidence.series.find(({ metric, labels }) => metric === allocatorReservedBytes && (own === undefined || labels['pid'] === own))?.labels
  const [now] = known === undefined && own !== undefined ? speaking(incident) : []
  const [pid, gi] = [known?.['pid'] ?? own, known?.['gi'] ?? now?.gi ?? '']
  const index = views.value?.find(({ uuid }) => uuid === (known?.['uuid'] ?? now?.uuid))?.index
  return pid === undefined || index === undefined ? undefined : `${pid}-${index}${gi === '' ? '' : `.${gi}`}`
}

/** The charts of its GPU, its job and its allocator around that time. */
function Then({ incident, index }: Props & { readonly index: number | undefined }) {
  const job = jobHit(incident)?.key
  const at = Math.round((incident.occurred_at ?? incident.started_at) / 1000)
  const to = Math.min(at + AFTER_S, Math.floor(agentNow.peek() / 1000))
  const around = { from: String(at - BEFORE_S), to: String(to) }
  const process = allocatorThen(incident)
  return (
    <>
      {index !== undefined && <a href={hrefOf('gpus', [String(index)], around)}>{`GPU ${index} at that time`}</a>}
      {job !== undefined && <a href={hrefOf('jobs', [job], around)}>Job at that time</a>}
      {process !== undefined && <a href={hrefOf('allocator', [], { process, ...around })}>Allocator at that time</a>}
    </>
  )
}

export function Whom({ incident }: Props) {
  const { container, gpu } = incident.subject
  const job = jobHit(incident)
  const index = gpu?.uuid === undefined ? undefined : (views.value?.find(({ uuid }) => uuid === gpu.uuid)?.index ?? gpu.index)
  if (job === undefined && index === undefined) return <span class="whom">{whom(incident)}</span>
  return (
    <span class="whom ways">
      {job !== undefined && (
        <a href={jobHref(job.key)} title="The job now and its past">
          {container === undefined ? `Slurm job ${job.name}` : job.name}
        </a>
      )}
      {index !== undefined && (
        <a href={gpuHref(index)} title="The GPU now">
          GPU {index}
        </a>
      )}
      <Then incident={incident} index={index} />
      <Allocator incident={incident} />
    </span>
  )
}

/** Which card it is, for whoever is before the machine. */
export function Card({ incident: { subject } }: Props) {
  const { gpu } = subject
  const row = views.value?.find(({ uuid }) => uuid === gpu?.uuid)?.row
  if (gpu?.uuid === undefined || row === undefined) return null
  const named = Object.entries({ serial: row['serial'], bus: row['pci_bus_id'], UUID: gpu.uuid })
  const parts = named.flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? [`${name} ${value}`] : []))
  return <p class="sub card-identity">{parts.join(' · ')}</p>
}
