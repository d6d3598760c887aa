// The MIG instances of a GPU, by walking its MIG device handles (needs no privilege, unlike the GPU instance calls).
import { GPU_IS_LOST, SUCCESS } from './codes.ts'
import type { Library } from './library.ts'
import { bind, readText } from './query.ts'
import type { FunctionName } from './names.ts'

export type FoundInstance = { readonly handle: bigint; readonly uuid: string; readonly gi: number; readonly ci: number; readonly name: string }
/** `signature` changes whenever the mode or the set of instances does. */
export type FoundMig = { readonly instances: readonly FoundInstance[]; readonly signature: string }

const off: FoundMig = { instances: [], signature: 'off' }

/** A slot may be empty (NOT_FOUND) between filled ones; an instance that does not tell who it is is left out. */
export function readMig(library: Library, gpu: number, handle: bigint): FoundMig {
  const current = new Uint32Array(1)
  const pending = new Uint32Array(1)
  if (bind(library, gpu, 'nvmlDeviceGetMigMode', [handle, current, pending])() !== SUCCESS || current[0] !== 1) return off
  const slots = new Uint32Array(1)
  if (bind(library, gpu, 'nvmlDeviceGetMaxMigDeviceCount', [handle, slots])() !== SUCCESS) return { instances: [], signature: 'on' }
  const pointer = new BigUint64Array(1)
  const number = (name: FunctionName, mig: bigint): number | undefined => {
    const out = new Uint32Array(1)
    return bind(library, gpu, name, [mig, out])() === SUCCESS ? out[0] : undefined
  }
  const instances: FoundInstance[] = []
  for (let slot = 0; slot < (slots[0] ?? 0); slot++) {
    const code = bind(library, gpu, 'nvmlDeviceGetMigDeviceHandleByIndex', [handle, slot, pointer])()
    if (code === GPU_IS_LOST) break
    if (code !== SUCCESS) continue
    const mig = pointer[0] ?? 0n
    const uuid = readText(library, gpu, 'nvmlDeviceGetUUID', mig)
    const gi = number('nvmlDeviceGetGpuInstanceId', mig)
    const ci = number('nvmlDeviceGetComputeInstanceId', mig)
    if (typeof uuid === 'number' || gi === undefined || ci === undefined) continue
    const name = readText(library, gpu, 'nvmlDeviceGetName', mig)
    instances.push({ handle: mig, uuid, gi, ci, name: typeof name === 'string' ? name : '' })
  }
  return { instances, signature: `on ${instances.map((instance) => instance.uuid).join(' ')}` }
}
