// What counts as one job: a pod, a container, a Slurm job, a unit or session of systemd, else a process alone. The same for rows of the present and for labels of series.
import type { IncidentSummary } from '../../../../agent/model/incident.ts'
import { containerKey } from '../../text/names.ts'

export type JobKind = 'pod' | 'container' | 'slurm' | 'unit' | 'process'
export type JobName = {
  /** In the address; a container's is its name, so it stays over restarts. */
  readonly key: string
  readonly kind: JobKind
  readonly name: string
  /** By which its colour is known; containers have the one of the overview. */
  readonly colourKey: string
}

/** A row or a set of labels; whatever else it holds. */
type Owner = { readonly [name: string]: unknown }

export const KIND_WORDS: Readonly<Record<JobKind, string>> = {
  pod: 'pod',
  container: 'container',
  slurm: 'Slurm job',
  unit: 'systemd unit',
  process: 'process',
}

const textOf = (owner: Owner, name: string): string => {
  const value = owner[name]
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}

/** Names of containers hold no colon and no slash (Docker's and Kubernetes' rules), so the keys of the kinds never meet. */
export function jobOf(owner: Owner): JobName {
  const [container, pod, namespace] = [textOf(owner, 'container'), textOf(owner, 'pod'), textOf(owner, 'namespace')]
  if (pod !== '') {
    const key = `${namespace}/${pod}`
    return { key, kind: 'pod', name: key, colourKey: containerKey({ namespace, pod, container }) }
  }
  if (container !== '') return { key: container, kind: 'container', name: container, colourKey: container }
  const slurm = textOf(owner, 'slurm_job')
  if (slurm !== '') return { key: `slurm:${slurm}`, kind: 'slurm', name: slurm, colourKey: `slurm:${slurm}` }
  const unit = textOf(owner, 'unit')
  if (unit !== '') return { key: `unit:${unit}`, kind: 'unit', name: unit, colourKey: `unit:${unit}` }
  const pid = textOf(owner, 'pid')
  const process = textOf(owner, 'process')
  return { key: `pid:${pid}`, kind: 'process', name: `${process === '' ? 'process' : process} (pid ${pid})`, colourKey: `pid:${pid}` }
}

/** The job that an incident names: its container or pod, else the Slurm job that the log gave; undefined where it names none. */
export function jobHit({ subject: { container }, facts: { job_id: slurm } }: Pick<IncidentSummary, 'subject' | 'facts'>): JobName | undefined {
  if (container !== undefined) return jobOf({ container: container.name, namespace: container.namespace, pod: container.pod })
  return slurm === undefined ? undefined : jobOf({ slurm_job: slurm })
}

const OUTSIDE: Readonly<Record<string, string>> = { slurm: 'slurm_job', unit: 'unit', pid: 'pid' }

function labelsOf(key: string): Readonly<Record<string, string>> {
  const [kind = '', ...rest] = key.split(':')
  const label = Object.hasOwn(OUTSIDE, kind) ? OUTSIDE[kind] : undefined
  // An empty label means none: the same process in a container is that container's.
  if (label !== undefined && rest.length > 0) return { [label]: rest.join(':'), container: '' }
  const at = key.indexOf('/')
  return at === -1 ? { container: key, pod: '' } : { namespace: key.slice(0, at), pod: key.slice(at + 1) }
}

/** By which labels the series of a job are asked for. */
export function filterOf(key: string): { readonly query: string; readonly inContainer: boolean } {
  const labels = labelsOf(key)
  return { query: new URLSearchParams(labels).toString(), inContainer: labels['container'] !== '' }
}
