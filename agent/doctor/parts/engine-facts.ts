// The container engines as their own /info and /version report: how they start containers, and how they give them GPUs.
import * as z from 'zod/mini'
import { EngineError } from '../../sources/containers/engine-error.ts'
import { createEngineClient, type EngineClient } from '../../sources/containers/engine.ts'
import { candidateSockets, socketIdentity } from '../../sources/containers/engine-sockets.ts'

export type EngineFacts = {
  readonly kind: 'docker' | 'podman'
  readonly socketPath: string
  readonly version: string
  /** OperatingSystem of /info: `Docker Desktop` is an engine in a virtual machine, whose files are not this host's. */
  readonly operatingSystem: string
  readonly rootless: boolean
  /** systemd, cgroupfs, none. */
  readonly cgroupDriver?: string
  readonly cgroupVersion?: string
  readonly defaultRuntime?: string
  /** Names and paths of OCI runtimes. */
  readonly runtimes: ReadonlyMap<string, string>
  /** Folders of CDI specifications; undefined: this engine does not report them (Docker before 25). */
  readonly cdiSpecFolders?: readonly string[]
  /** Names of CDI devices that it has found (Docker 28.2 and newer, moby/moby#49980); undefined: it does not report them. */
  readonly cdiDevices?: readonly string[]
  /** apparmor, selinux, rootless, userns, …: the names of its security options. */
  readonly security: readonly string[]
  /** Where images and containers lie, as the engine sees it. */
  readonly dataRoot?: string
  readonly storageDriver?: string
}

export type Engine = { readonly facts: EngineFacts; readonly client: EngineClient }
export type Engines = {
  readonly answering: readonly Engine[]
  /** Of those that are there and do not answer: why, with the socket's path. */
  readonly silent: readonly EngineError[]
  readonly close: () => void
}

const text = z.nullish(z.string())
const infoSchema = z.object({
  OperatingSystem: text,
  CgroupDriver: text,
  CgroupVersion: text,
  DefaultRuntime: text,
  Runtimes: z.nullish(z.record(z.string(), z.nullish(z.object({ path: text })))),
  CDISpecDirs: z.nullish(z.array(z.string())),
  DiscoveredDevices: z.nullish(z.array(z.object({ Source: text, ID: text }))),
  SecurityOptions: z.nullish(z.array(z.string())),
  DockerRootDir: text,
  Driver: text,
})
const versionSchema = z.object({ Version: text, Components: z.nullish(z.array(z.object({ Name: text }))) })

const isGiven = (value: string | null | undefined): value is string => typeof value === 'string' && value !== ''

async function factsOf(client: EngineClient, socketPath: string): Promise<EngineFacts> {
  const [info, version] = await Promise.all([client.ask('/info', infoSchema), client.ask('/version', versionSchema)])
  if (info === undefined || version === undefined) throw new EngineError('parse_error', `${socketPath}: expected /info and /version, got no such thing`)
  const podman = (version.Components ?? []).some((component) => component.Name?.includes('Podman') === true)
  // `name=seccomp,profile=default` → seccomp.
  const security = (info.SecurityOptions ?? []).map((option) => /^name=([^,]+)/.exec(option)?.[1] ?? option)
  return {
    kind: podman ? 'podman' : 'docker',
    socketPath,
    version: version.Version ?? '',
    operatingSystem: info.OperatingSystem ?? '',
    rootless: security.includes('rootless'),
    ...(isGiven(info.CgroupDriver) ? { cgroupDriver: info.CgroupDriver } : {}),
    ...(isGiven(info.CgroupVersion) ? { cgroupVersion: info.CgroupVersion } : {}),
    ...(isGiven(info.DefaultRuntime) ? { defaultRuntime: info.DefaultRuntime } : {}),
    runtimes: new Map(Object.entries(info.Runtimes ?? {}).map(([name, runtime]) => [name, runtime?.path ?? ''])),
    ...(info.CDISpecDirs === null || info.CDISpecDirs === undefined ? {} : { cdiSpecFolders: info.CDISpecDirs }),
    ...(info.DiscoveredDevices === null || info.DiscoveredDevices === undefined
      ? {}
      : { cdiDevices: info.DiscoveredDevices.filter(({ Source: source }) => source === 'cdi').flatMap(({ ID: id }) => id ?? []) }),
    security,
    ...(isGiven(info.DockerRootDir) ? { dataRoot: info.DockerRootDir } : {}),
    ...(isGiven(info.Driver) ? { storageDriver: info.Driver } : {}),
  }
}

/** `sockets`: those of the configuration; undefined: the usual places. */
export async function findEngines(
  sockets: readonly string[] | undefined,
  env: Readonly<Record<string, string | undefined>>,
  timeoutMs = 1_500,
): Promise<Engines> {
  const paths = new Map<string, string>()
  for (const path of sockets ?? candidateSockets(env)) {
    const identity = socketIdentity(path)
    if (identity !== undefined && !paths.has(identity)) paths.set(identity, path)
  }
  const answering: Engine[] = []
  const silent: EngineError[] = []
  const clients: EngineClient[] = []
  await Promise.all(
    [...paths.values()].map(async (socketPath) => {
      const client = createEngineClient({ socketPath, timeoutMs })
      clients.push(client)
      try {
        answering.push({ facts: await factsOf(client, socketPath), client })
      } catch (error) {
        silent.push(error instanceof EngineError ? error : new EngineError('driver_error', String(error)))
      }
    }),
  )
  const order = [...paths.values()]
  answering.sort((a, b) => order.indexOf(a.facts.socketPath) - order.indexOf(b.facts.socketPath))
  return { answering, silent, close: () => clients.forEach((client) => client.close()) }
}

/** The first that answers; undefined: none is installed. Throws with a message where there are some and none answers. */
export function firstEngine({ answering, silent }: Engines): EngineFacts | undefined {
  const [first] = answering
  if (first !== undefined) return first.facts
  const [failure] = silent
  if (failure !== undefined) throw failure
  return undefined
}
