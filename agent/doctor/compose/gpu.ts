// How a service of a compose file asks for GPUs: reservations, `gpus:`, the nvidia runtime, device nodes.
import { at, entriesOf, itemsOf, textOf, textsOf, type Part, type Place } from './part.ts'
import type { ComposeService } from './service.ts'

export type GpuAsk = Place & {
  readonly part: Part
  readonly short: boolean
  readonly driver?: string
  /** undefined: neither is said, which means all; or a variable says it. */
  readonly count?: number | 'all'
  readonly ids: readonly string[]
  readonly capabilities: readonly string[]
}
export type GpuGiven = 'request' | 'CDI' | 'runtime' | 'node'

/** What the engine's nvidia driver takes: `gpu` for itself, the others go to the container toolkit. */
export const DRIVER_CAPABILITIES = ['all', 'compute', 'compat32', 'display', 'graphics', 'ngx', 'utility', 'video']

const countOf = (part: Part | undefined): number | 'all' | undefined => {
  const text = textOf(part)
  return text === 'all' || text === '-1' ? 'all' : text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined
}

function askOf(part: Part, short: boolean): GpuAsk {
  const driver = textOf(at(part, 'driver'))
  const ids = textsOf(at(part, 'device_ids'))
  const count = countOf(at(part, 'count')) ?? (at(part, 'count') === undefined && at(part, 'device_ids') === undefined ? 'all' : undefined)
  return {
    part,
    file: part.file,
    line: part.line,
    short,
    ...(driver === undefined ? {} : { driver }),
    ...(count === undefined ? {} : { count }),
    ids,
    capabilities: at(part, 'capabilities') === undefined && short ? ['gpu'] : textsOf(at(part, 'capabilities')),
  }
}

export function gpuAsks({ part }: ComposeService): readonly GpuAsk[] {
  const gpus = at(part, 'gpus')
  return [
    ...itemsOf(at(part, 'deploy', 'resources', 'reservations', 'devices')).map((device) => askOf(device, false)),
    ...(gpus === undefined ? [] : gpus.kind === 'list' ? gpus.items.map((device) => askOf(device, true)) : textOf(gpus) === 'all' ? [askOf(gpus, true)] : []),
  ]
}
/** Which ones, as a line of a reservation. */
export function givenOf({ ids, count }: GpuAsk): string {
  if (ids.length > 0) return `device_ids: [${ids.map((id) => JSON.stringify(id)).join(', ')}]`
  return `count: ${count ?? 'all'}`
}

const forGpu = ({ driver, capabilities }: GpuAsk): boolean =>
  driver === 'nvidia' || driver === 'cdi' || capabilities.some((one) => one === 'gpu' || one === 'nvidia' || DRIVER_CAPABILITIES.includes(one))

/** `0:all`, `GPU-…`, CDI names; of NVIDIA_VISIBLE_DEVICES under the nvidia runtime. */
export function visibleNames({ env }: ComposeService): readonly string[] {
  const text = env.get('NVIDIA_VISIBLE_DEVICES')?.value ?? ''
  return text.split(',').filter((name) => !['', 'none', 'void'].includes(name.trim()))
}

/** By which way it gets a GPU; undefined: by none. */
export function gpuGiven(service: ComposeService, defaultRuntime: string | undefined): GpuGiven | undefined {
  const { part, env, family } = service
  const asks = gpuAsks(service).filter(forGpu)
  const nodes = [...itemsOf(at(part, 'devices'))].map((item) => textOf(item) ?? textOf(entriesOf(item).get('source')) ?? '')
  if (asks.some(({ driver, ids }) => driver === 'cdi' || ids.some((id) => id.includes('='))) || nodes.some((node) => /^[\w.-]+\/gpu=/.test(node))) return 'CDI'
  if (asks.length > 0) return 'request'
  // CUDA images name all GPUs for themselves.
  const named = env.has('NVIDIA_VISIBLE_DEVICES')
    ? visibleNames(service).length > 0 || env.get('NVIDIA_VISIBLE_DEVICES')?.value === undefined
    : family?.gpu === 'cuda'
  if ((textOf(at(part, 'runtime')) ?? defaultRuntime) === 'nvidia' && named) return 'runtime'
  return nodes.some((node) => /^\/dev\/(?:nvidia|dxg|kfd|dri)/.test(node)) ? 'node' : undefined
}
