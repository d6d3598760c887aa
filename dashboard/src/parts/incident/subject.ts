// Whom an incident hit, in a few words, and which comes first. The overview needs no more of what lists of incidents know.
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import { placedTitle } from '../live/summary.ts'

/** In a list of incidents; a card that comes and goes leads to the same again and again, and its own page has them all. */
export const MOST_LINKS = 3

type Hit = Pick<IncidentSummary, 'subject' | 'facts'>
type Container = NonNullable<Hit['subject']['container']>

/** A pod with its namespace, as two namespaces may have pods of one name. */
const podText = ({ namespace, pod }: Container): string | undefined => (pod === undefined || namespace === undefined ? pod : `${namespace}/${pod}`)

/** Container or job, GPU, process or host: what is known of it. */
function hitParts({ subject: { container, gpu, process, host }, facts: { job_id: slurm } }: Hit): readonly string[] {
  const job = (container && podText(container)) ?? container?.name ?? (slurm === undefined ? undefined : `Slurm job ${slurm}`)
  const parts = [
    job,
    gpu === undefined ? undefined : gpu.uuid === undefined && gpu.index === undefined ? gpu.pci_bus_id : `GPU ${gpu.index ?? '?'}`,
    job === undefined && process !== undefined ? `pid ${process.pid}` : undefined,
    host?.name,
  ]
  return parts.filter((part) => part !== undefined)
}
export const whom = (incident: Hit): string => hitParts(incident).join(' · ')

/** What the title, as it is shown, does not say already. */
export const besideTitle = (incident: Hit & Pick<IncidentSummary, 'title'>): string => {
  const title = placedTitle(incident)
  const isSaid = (part: string): boolean => title.split(part).some((rest, at) => at > 0 && !/^[\w-]/.test(rest))
  const { namespace, pod } = incident.subject.container ?? {}
  // Of a pod that the title names its namespace is left to say.
  const rest = pod !== undefined && namespace !== undefined && isSaid(pod) ? `namespace ${namespace}` : undefined
  return hitParts(incident)
    .map((part, at) => (at === 0 && rest !== undefined ? rest : part))
    .filter((part) => !isSaid(part))
    .join(' · ')
}

const RANK: Readonly<Record<string, number>> = { critical: 0, warning: 1, info: 2 }
const rank = ({ status, severity }: IncidentSummary): number => (status === 'firing' ? (RANK[severity] ?? 3) : 4)

/** What fires first, the worst of it on top; then the newest. */
export function ordered(incidents: Iterable<IncidentSummary>): readonly IncidentSummary[] {
  return [...incidents].toSorted((a, b) => rank(a) - rank(b) || b.started_at - a.started_at || (a.id < b.id ? -1 : 1))
}
