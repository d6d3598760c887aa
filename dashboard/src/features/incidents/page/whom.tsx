// Whom an incident hit, each part a way to its page: the job, the GPU, the allocator of the process.
import type { Incident } from '../../../../../agent/model/incident.ts'
import { whom } from '../../../parts/incident/filter.ts'
import { jobOf } from '../../../parts/job/identity.ts'
import { gpuHref, jobHref } from '../../../parts/job/links.ts'
import { frame, views } from '../../../parts/live/state.ts'
import { hrefOf } from '../../../parts/route.ts'

type Props = { readonly incident: Incident }

/** The process itself where it still speaks, else whichever of that number does. */
function Allocator({ incident: { subject } }: Props) {
  const { gpu, process, container } = subject
  const rows =
    frame.value?.allocators.filter(
      (row) => (gpu?.uuid === undefined || row.uuid === gpu.uuid) && (container === undefined || row['container'] === container.name),
    ) ?? []
  const row = rows.find(({ pid }) => pid === process?.pid) ?? rows[0]
  const index = views.value?.find(({ uuid }) => uuid === row?.uuid)?.index
  if (row === undefined || index === undefined) return null
  return <a href={hrefOf('allocator', [], { process: `${row.pid}-${index}` })}>Allocator now</a>
}

export function Whom({ incident }: Props) {
  const { container, gpu } = incident.subject
  const index = gpu?.uuid === undefined ? undefined : (views.value?.find(({ uuid }) => uuid === gpu.uuid)?.index ?? gpu.index)
  if (container === undefined && index === undefined) return <span class="whom">{whom(incident)}</span>
  return (
    <span class="whom ways">
      {container !== undefined && (
        <a href={jobHref(jobOf({ container: container.name, namespace: container.namespace, pod: container.pod }).key)} title="The job now and its past">
          {container.name}
        </a>
      )}
      {index !== undefined && (
        <a href={gpuHref(index)} title="The GPU now">
          GPU {index}
        </a>
      )}
      <Allocator incident={incident} />
    </span>
  )
}

/** Which card it is, for whoever stands before the machine. */
export function Card({ incident: { subject } }: Props) {
  const { gpu } = subject
  const row = views.value?.find(({ uuid }) => uuid === gpu?.uuid)?.row
  if (gpu?.uuid === undefined || row === undefined) return null
  const named = Object.entries({ serial: row['serial'], bus: row['pci_bus_id'], UUID: gpu.uuid })
  const parts = named.flatMap(([name, value]) => (typeof value === 'string' && value !== '' ? [`${name} ${value}`] : []))
  return <p class="sub card-identity">{parts.join(' · ')}</p>
}
