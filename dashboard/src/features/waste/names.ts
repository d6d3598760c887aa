// Names on the page of idle and lost time: of a job as the other views have it, and what it means that an owner is not known. Pure.
import type { WasteGroup } from '../../../../agent/model/ledger.ts'

/** A container in the present, whatever else is known of it. */
type Container = { readonly [name: string]: unknown }

/** The ledger sums up by the service of a compose project, or by the pod; the other views have the container, or namespace and pod. Where a service runs several containers, or several
 * namespaces have such a pod, its own name means all. */
export function jobName(job: string, containers: readonly Container[]): string {
  const [first, ...others] = containers.filter((container) => container['compose_service'] === job)
  const name = first?.['container']
  if (typeof name === 'string' && others.length === 0) return name
  const namespaces = new Set(containers.flatMap(({ namespace, pod }) => (pod === job && typeof namespace === 'string' ? [namespace] : [])))
  const [namespace] = namespaces
  return namespace !== undefined && namespaces.size === 1 ? `${namespace}/${job}` : job
}

export const UNKNOWN_OWNER: Readonly<Record<WasteGroup, string>> = {
  user: 'Not known: the engine does not say who started a container, and no process of it has reported yet. Jobs lists each with what it wasted.',
  namespace: 'No namespace is known of jobs outside of Kubernetes.',
  account: 'No account is known of jobs that Slurm did not start.',
}
