// Containers as checks see them: what they were given, how they are limited, and their files as they see them.
import * as z from 'zod/mini'
import { fromInspect } from '../../sources/containers/engine-container.ts'
import { inspectSchema } from '../../sources/containers/engine-schema.ts'
import type { GpuWish } from '../../sources/containers/gpu-request.ts'
import type { Engine, EngineFacts, Engines } from './engine-facts.ts'
import type { HostFiles } from './host-files.ts'

export type Ulimit = { readonly name: string; readonly soft: number; readonly hard: number }
export type ContainerMount = { readonly type: string; readonly source: string; readonly destination: string; readonly writable: boolean }

export type DoctorContainer = {
  readonly engine: EngineFacts
  readonly id: string
  readonly name: string
  readonly image: string
  readonly composeProject?: string
  readonly composeService?: string
  /** created, running, paused, restarting, exited, dead. */
  readonly state: string
  /** Of its first process, on the host; undefined: it does not run. */
  readonly pid?: number
  /** All of it, with its secrets: a finding names a variable, and shows a value only of those known to hold none. */
  readonly env: ReadonlyMap<string, string>
  /** How it asked for GPUs. */
  readonly wish: GpuWish
  /** `asked`: by flags, CDI, runtime or device nodes. `image`: only its image says that it is made for CUDA, so nothing may have been meant. */
  readonly wantsGpu: 'asked' | 'image' | 'no'
  /** OCI runtime: runc, crun, nvidia; undefined: not reported. */
  readonly runtime?: string
  readonly privileged: boolean
  /** Of `docker run --user`, or the image's; empty: root. */
  readonly user: string
  /** undefined: no limit. */
  readonly memoryLimitBytes?: number
  readonly shmSizeBytes?: number
  readonly ipcMode: string
  readonly ulimits: readonly Ulimit[]
  readonly securityOptions: readonly string[]
  readonly readOnlyRoot: boolean
  readonly mounts: readonly ContainerMount[]
  /** Its files as it sees them; undefined: it does not run, or its engine has another kernel (Docker Desktop). Looking needs root: else each question rejects. */
  readonly files?: HostFiles
}

const text = z.nullish(z.string())
const moreSchema = z.object({
  Config: z.nullish(z.object({ User: text })),
  HostConfig: z.nullish(
    z.object({
      ReadonlyRootfs: z.nullish(z.boolean()),
      SecurityOpt: z.nullish(z.array(z.string())),
      Ulimits: z.nullish(z.array(z.object({ Name: z.string(), Soft: z.number(), Hard: z.number() }))),
    }),
  ),
  Mounts: z.nullish(z.array(z.object({ Type: text, Source: text, Destination: text, RW: z.nullish(z.boolean()) }))),
})
const schema = z.intersection(inspectSchema, moreSchema)
type Inspected = z.infer<typeof schema>

/** Set by the images of NVIDIA, PyTorch and others that are made for CUDA. */
const CUDA_IMAGE = ['CUDA_VERSION', 'NVIDIA_REQUIRE_CUDA', 'NVIDIA_VISIBLE_DEVICES', 'NVIDIA_DRIVER_CAPABILITIES', 'NV_CUDA_CUDART_VERSION']

function wants(wish: GpuWish, env: ReadonlyMap<string, string>, defaultRuntime: string | undefined): DoctorContainer['wantsGpu'] {
  const requested = wish.requests.some(
    ({ driver, ids, capabilities }) =>
      driver === 'nvidia' || driver === 'cdi' || capabilities.includes('gpu') || ids.some((id) => id.includes('nvidia.com/gpu')),
  )
  const nodes = wish.devicePaths.some((path) => /^\/dev\/(nvidia|dxg)|^nvidia\.com\/gpu=/.test(path))
  const runtime = wish.runtime ?? defaultRuntime
  const byRuntime = runtime === 'nvidia' && !['', 'none', 'void'].includes(wish.visibleDevices ?? '')
  if (requested || nodes || byRuntime) return 'asked'
  return CUDA_IMAGE.some((name) => env.has(name)) ? 'image' : 'no'
}

function describe({ facts }: Engine, inspected: Inspected, files: HostFiles): DoctorContainer {
  const { identity, gpuWish: wish, runtime, state, pid } = fromInspect(inspected)
  const env = new Map(
    (inspected.Config?.Env ?? []).flatMap((entry) => {
      const at = entry.indexOf('=')
      return at > 0 ? [[entry.slice(0, at), entry.slice(at + 1)] as const] : []
    }),
  )
  const host = inspected.HostConfig
  const positive = (value: number | null | undefined): value is number => typeof value === 'number' && value > 0
  const gpuWish = wish ?? { requests: [], devicePaths: [], privileged: false }
  return {
    engine: facts,
    id: identity.id,
    name: identity.name,
    image: identity.image ?? '',
    ...(identity.composeProject === undefined ? {} : { composeProject: identity.composeProject }),
    ...(identity.composeService === undefined ? {} : { composeService: identity.composeService }),
    state: state ?? '',
    ...(pid === undefined ? {} : { pid }),
    env,
    wish: gpuWish,
    wantsGpu: wants(gpuWish, env, facts.defaultRuntime),
    ...(runtime === undefined ? {} : { runtime }),
    privileged: gpuWish.privileged,
    user: inspected.Config?.User ?? '',
    ...(positive(host?.Memory) ? { memoryLimitBytes: host.Memory } : {}),
    ...(positive(host?.ShmSize) ? { shmSizeBytes: host.ShmSize } : {}),
    ipcMode: host?.IpcMode ?? '',
    ulimits: (host?.Ulimits ?? []).map(({ Name: name, Soft: soft, Hard: hard }) => ({ name, soft, hard })),
    securityOptions: host?.SecurityOpt ?? [],
    readOnlyRoot: host?.ReadonlyRootfs ?? false,
    mounts: (inspected.Mounts ?? []).map(({ Type, Source, Destination, RW }) => ({
      type: Type ?? '',
      source: Source ?? '',
      destination: Destination ?? '',
      writable: RW ?? true,
    })),
    // An engine in a virtual machine reports pids of that machine, which here belong to others.
    ...(pid === undefined || facts.operatingSystem === 'Docker Desktop' ? {} : { files: files.within(`/proc/${pid}/root`) }),
  }
}

const MAX_CONTAINERS = 500
const PARALLEL = 8

async function inspectAll(engine: Engine, ids: readonly string[], files: HostFiles): Promise<readonly DoctorContainer[]> {
  const waiting = [...ids]
  const found: DoctorContainer[] = []
  const work = async (): Promise<void> => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const inspected = await engine.client.ask(`/containers/${encodeURIComponent(id)}/json`, schema)
      if (inspected !== undefined) found.push(describe(engine, inspected, files))
    }
  }
  await Promise.all(Array.from({ length: Math.min(PARALLEL, ids.length) }, work))
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Throws where a name was given that no engine knows, and as `firstEngine` where engines are there and none answers. */
export async function findContainers(engines: Engines, files: HostFiles, name: string | undefined): Promise<readonly DoctorContainer[]> {
  const { answering, silent } = engines
  if (answering.length === 0 && silent[0] !== undefined) throw silent[0]
  if (name !== undefined) {
    // Names and ids of the engine's own kind only: the text becomes part of a path.
    if (!/^[A-Za-z0-9][A-Za-z0-9_.-]{0,254}$/.test(name)) throw new Error(`${JSON.stringify(name.slice(0, 80))} is not the name or id of a container`)
    const found = (await Promise.all(answering.map(async (engine) => await inspectAll(engine, [name], files)))).flat()
    if (found.length === 0)
      throw new Error(
        `expected a container of the name or id ${JSON.stringify(name)}, found none on ${answering.map(({ facts }) => facts.socketPath).join(', ') || 'any engine'}`,
      )
    return found
  }
  const lists = await Promise.all(
    answering.map(
      async (engine) =>
        await inspectAll(
          engine,
          (await engine.client.list()).slice(0, MAX_CONTAINERS).map(({ Id }) => Id),
          files,
        ),
    ),
  )
  return lists.flat().filter(({ wantsGpu }) => wantsGpu !== 'no')
}
