// Which of the host's GPUs a container asked for or was given, whatever way it was started. Pure.

export type HostGpu = {
  readonly index: number
  readonly uuid: string
  /** N of /dev/nvidiaN; not always the index. */
  readonly minor?: number
  /** UUIDs of its MIG devices. */
  readonly mig?: readonly string[]
}

export type DeviceRequest = { readonly driver: string; readonly count: number; readonly ids: readonly string[]; readonly capabilities: readonly string[] }
export type GpuWish = {
  readonly requests: readonly DeviceRequest[]
  readonly devicePaths: readonly string[]
  readonly privileged: boolean
  readonly runtime?: string
  /** NVIDIA_VISIBLE_DEVICES of the container's settings. */
  readonly visibleDevices?: string
  /** Minors of the /dev/nvidiaN that are really there, when someone could look. */
  readonly nodeMinors?: readonly number[]
}

export type RequestedBy = 'device_nodes' | 'cdi' | 'device_request' | 'runtime_env' | 'privileged'
export type GpuRequest = {
  readonly by: RequestedBy
  readonly gpus: readonly HostGpu[]
  /** Names that none of the host's GPUs bears. */
  readonly unknown: readonly string[]
}

/** One name out of a device list: index, UUID, MIG UUID (both forms), `gpu:mig` pair, CDI name, `all`. undefined: nothing on this host. */
export function gpusByName(name: string, gpus: readonly HostGpu[]): readonly HostGpu[] | undefined {
  const bare = name.slice(name.lastIndexOf('=') + 1).trim()
  if (bare === 'all') return gpus
  if (bare === '' || bare === 'none' || bare === 'void') return []
  const index = /^(\d+)(?::\d+)?$/.exec(bare)?.[1]
  // MIG-GPU-<uuid>/<gi>/<ci> is the form before R465.
  const parent = /^MIG-(GPU-[^/]+)\//.exec(bare)?.[1]
  const found = gpus.find(
    (gpu) => (index !== undefined && gpu.index === Number(index)) || gpu.uuid === bare || gpu.uuid === parent || (gpu.mig?.includes(bare) ?? false),
  )
  return found === undefined ? undefined : [found]
}

function resolve(by: RequestedBy, names: readonly string[], gpus: readonly HostGpu[]): GpuRequest {
  const found = new Set<HostGpu>()
  const unknown: string[] = []
  for (const name of names) {
    const named = gpusByName(name, gpus)
    if (named === undefined) unknown.push(name)
    else for (const gpu of named) found.add(gpu)
  }
  return { by, gpus: gpus.filter((gpu) => found.has(gpu)), unknown }
}

const isCdi = (name: string): boolean => /^(?:runtime\.)?nvidia\.com\/gpu=/.test(name)

function byMinors(minors: readonly number[], gpus: readonly HostGpu[]): GpuRequest {
  const unknown = minors.filter((minor) => !gpus.some((gpu) => gpu.minor === minor)).map((minor) => `/dev/nvidia${minor}`)
  return { by: 'device_nodes', gpus: gpus.filter((gpu) => gpu.minor !== undefined && minors.includes(gpu.minor)), unknown }
}

/** `/dev/nvidia0` → 0; nvidiactl, nvidia-uvm and nvidia-caps belong to every GPU user and name no GPU. */
export function minorOfPath(path: string): number | undefined {
  const digits = /(?:^|\/)nvidia(\d+)$/.exec(path)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/**
 * undefined: it asked for none. What is really in its /dev comes first, then what was asked most explicitly. CUDA images set
 * NVIDIA_VISIBLE_DEVICES=all for themselves, so the variable counts only beside the nvidia runtime; a privileged container sees every
 * node without having asked, so it counts last.
 */
export function resolveGpuRequest(wish: GpuWish, gpus: readonly HostGpu[]): GpuRequest | undefined {
  const minorsKnown = gpus.some((gpu) => gpu.minor !== undefined)
  const nodes = wish.nodeMinors ?? []
  if (!wish.privileged && nodes.length > 0 && minorsKnown) return byMinors(nodes, gpus)

  const cdi = [...wish.requests.flatMap(({ driver, ids }) => (driver === 'cdi' ? ids : ids.filter(isCdi))), ...wish.devicePaths].filter(isCdi)
  if (cdi.length > 0) return resolve('cdi', cdi, gpus)

  const requests = wish.requests.filter(({ driver, capabilities }) => driver === 'nvidia' || (driver === '' && capabilities.includes('gpu')))
  if (requests.length > 0) {
    const names = requests.flatMap(({ count, ids }) => (count < 0 ? ['all'] : ids.length > 0 ? ids : gpus.slice(0, count).map(({ uuid }) => uuid)))
    return resolve('device_request', names, gpus)
  }
  if (wish.runtime === 'nvidia' && wish.visibleDevices !== undefined) {
    const request = resolve('runtime_env', wish.visibleDevices.split(','), gpus)
    if (request.gpus.length > 0 || request.unknown.length > 0) return request
  }
  const paths = wish.devicePaths.map(minorOfPath).filter((minor) => minor !== undefined)
  if (paths.length > 0 || (!wish.privileged && nodes.length > 0)) return byMinors(paths.length > 0 ? paths : nodes, gpus)
  return wish.privileged ? { by: 'privileged', gpus, unknown: [] } : undefined
}
