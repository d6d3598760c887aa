// Which container was given which GPUs, as the engine, its device nodes or its settings say.
import { containerGpuRequested } from '../../../metrics/container.ts'
import type { Present } from './present.ts'

export const REQUEST_METRIC = containerGpuRequested.name
export type GpuGrant = {
  readonly container: string
  readonly containerId: string
  /** A privileged container sees every GPU without having asked for one: that says nothing of what it is for. */
  readonly privileged: boolean
  readonly uuids: ReadonlySet<string>
  readonly gpus: readonly string[]
}

/** By container id. */
export function grantsOf(present: Present): ReadonlyMap<string, GpuGrant> {
  const found = new Map<string, GpuGrant & { readonly uuids: Set<string>; readonly gpus: string[] }>()
  for (const { series } of present.of(REQUEST_METRIC)) {
    const { container = '', container_id: id = '', by, uuid = '', gpu = '' } = series.labels
    let grant = found.get(id)
    if (grant === undefined) found.set(id, (grant = { container, containerId: id, privileged: by === 'privileged', uuids: new Set(), gpus: [] }))
    grant.uuids.add(uuid)
    grant.gpus.push(gpu)
  }
  return found
}
