// Which GPU or MIG instance a device plugin means by an id. Pure.
import type { Inventory } from '../../inventory/inventory.ts'

/** `gi` is absent for a whole GPU. */
export type Place = { readonly gpu: string; readonly uuid: string; readonly gi?: string; readonly ci?: string }
export type Known = Pick<Inventory, 'gpus' | 'byUuid' | 'migs' | 'migByUuid'>

/**
 * NVIDIA's plugin: `GPU-UUID`, `MIG-UUID`, before R465 `MIG-GPU-UUID/GI/CI`; replicas of time-slicing and MPS have `::N` behind.
 * GKE's and the plugins made from it: `nvidiaMINOR`, `nvidiaMINOR/giGI`, `nvidiaMINOR/giGI/ciCI`, with `/vgpuN` behind for a shared one.
 * undefined: no GPU that this host shows now, such as another vendor's device.
 */
export function placeOf(id: string, known: Known): Place | undefined {
  const bare = id.split('::', 1)[0] ?? ''
  const mig = known.migByUuid(bare)
  if (mig !== undefined) return instance(mig.uuid, mig.gi, mig.ci, known)
  const old = /^MIG-(GPU-[0-9a-f-]+)\/(\d+)\/(\d+)$/i.exec(bare)
  if (old !== null) return instance(old[1] ?? '', old[2] ?? '', old[3], known)
  const node = /^nvidia(\d+)(?:\/gi(\d+)(?:\/ci(\d+))?)?(?:\/vgpu\d+)?$/.exec(bare)
  if (node === null) return instance(bare, undefined, undefined, known)
  // The number of the node is the minor, which is not always the index.
  const gpu = known.gpus().find(({ minor, index }) => (minor ?? index) === Number(node[1]))
  return gpu === undefined ? undefined : instance(gpu.uuid, node[2], node[3], known)
}

function instance(uuid: string, gi: string | undefined, ci: string | undefined, known: Known): Place | undefined {
  const gpu = known.byUuid(uuid)
  if (gpu === undefined) return undefined
  const whole = { gpu: String(gpu.index), uuid }
  if (gi === undefined) return whole
  return { ...whole, gi, ...(ci === undefined || ci === '' ? {} : { ci }) }
}
