// What the checks of containers ask of one: each question is asked once and shared by all checks; and the walk over all containers that want a GPU.
import type { Finding, Surroundings } from '../definition.ts'
import type { Remedy } from '../../model/fault.ts'
import { messageOf } from '../../text/error.ts'
import { readEnviron, readIdentity, readLimits, readMapped, readMounts, type Identity, type Limit } from './process.ts'
import type { DoctorContainer } from '../parts/containers.ts'
import type { HostFiles } from '../parts/host-files.ts'
import { createLibrarySearch, type LibrarySearch } from './library-search.ts'
import type { Mount } from '../parts/mount-table.ts'
import { findPythonPlaces, findTorch, type PythonPlace, type Torch } from './python-packages.ts'

export type ContainerView = {
  readonly container: DoctorContainer
  /** Of its main process where it runs, else of its settings. */
  readonly env: () => Promise<ReadonlyMap<string, string>>
  readonly limits: () => Promise<ReadonlyMap<string, Limit>>
  readonly mounts: () => Promise<readonly Mount[]>
  readonly identity: () => Promise<Identity>
  /** Files that its processes have mapped. */
  readonly mapped: () => Promise<ReadonlySet<string>>
  /** Its own; rejects with a message where they cannot be read. */
  readonly files: () => HostFiles
  readonly libraries: () => Promise<LibrarySearch>
  readonly pythons: () => Promise<readonly PythonPlace[]>
  readonly torches: () => Promise<readonly Torch[]>
}

const once = <T>(ask: () => Promise<T>): (() => Promise<T>) => {
  let answer: Promise<T> | undefined
  return () => (answer ??= ask())
}

function remembered<T>(ask: (path: string) => Promise<T>): (path: string) => Promise<T> {
  const answers = new Map<string, Promise<T>>()
  return (path) => {
    const answer = answers.get(path) ?? ask(path)
    answers.set(path, answer)
    return answer
  }
}
/** What several checks ask is walked to once: each step of the way into a hostile root costs three calls of the kernel. */
const remembering = (files: HostFiles): HostFiles => ({
  ...files,
  list: remembered(files.list),
  realpath: remembered(files.realpath),
  stat: remembered(files.stat),
  exists: remembered(files.exists),
})

function look(host: HostFiles, container: DoctorContainer): ContainerView {
  const { pid, env: settings } = container
  const own = container.files === undefined ? undefined : remembering(container.files)
  const files = (): HostFiles => {
    if (own !== undefined) return own
    throw new Error(
      pid === undefined
        ? `it is ${container.state || 'not running'}: its files can only be seen while it runs`
        : 'its engine runs in a virtual machine, which cannot be read from here',
    )
  }
  const ofProcess = <T>(ask: (files: HostFiles, pid: number) => Promise<T>): (() => Promise<T>) =>
    once(async () => {
      files()
      if (pid === undefined) throw new Error('it does not run')
      return await ask(host, pid)
    })
  const running = ofProcess(readEnviron)
  // Without root the settings still show most; the process knows what the engine added (HOME).
  const env = once(async () => (own === undefined ? settings : new Map([...settings, ...(await running().catch(() => settings))])))
  const pythons = once(async () => await findPythonPlaces(files(), await env()))
  return {
    container,
    env,
    limits: ofProcess(readLimits),
    mounts: ofProcess(readMounts),
    identity: ofProcess(readIdentity),
    mapped: ofProcess(readMapped),
    files,
    libraries: once(async () => createLibrarySearch(files(), await env())),
    pythons,
    torches: once(async () => await findTorch(files(), await pythons())),
  }
}

const views = new WeakMap<DoctorContainer, ContainerView>()
const viewOf = (host: HostFiles, container: DoctorContainer): ContainerView => {
  const known = views.get(container) ?? look(host, container)
  views.set(container, known)
  return known
}

/** What a check says of one container; the name is put in. */
export type ContainerFinding = Omit<Finding, 'subject'>
export type ContainerLook = (view: ContainerView) => Promise<readonly ContainerFinding[]>

const PARALLEL = 4
/** Below the two seconds of a check: on an overloaded host the report says what was read and which containers were not. */
const BUDGET_MS = 1_700

/** `alsoImages`: those too whose image alone says that it is made for CUDA. What cannot be seen of one container skips that one only. */
export async function eachContainer(around: Surroundings, check: ContainerLook, { alsoImages = false } = {}): Promise<readonly Finding[]> {
  const budgetMs = around.containersMs ?? BUDGET_MS
  const all = await around.containers()
  const wanted = all.filter(({ wantsGpu }) => wantsGpu === 'asked' || (alsoImages && wantsGpu === 'image'))
  if (wanted.length === 0) {
    const none = (await around.engine()) === undefined ? 'no container engine runs here' : all.length > 0 ? 'it asks for no GPU' : 'no container asks for a GPU'
    const [only] = all
    return [{ status: 'skipped', summary: none, ...(all.length === 1 && only !== undefined ? { subject: only.name } : {}) }]
  }
  const waiting = [...wanted]
  const found = new Map<DoctorContainer, readonly Finding[]>()
  const { promise: spent, resolve: spend } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    waiting.length = 0
    spend()
  }, budgetMs)
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const subject = next.name
      try {
        found.set(
          next,
          (await check(viewOf(around.files, next))).map((finding) => ({ subject, ...finding })),
        )
      } catch (error) {
        found.set(next, [{ status: 'skipped', subject, summary: messageOf(error) }])
      }
    }
  }
  await Promise.race([Promise.all(Array.from({ length: PARALLEL }, work)), spent])
  clearTimeout(timer)
  return wanted.flatMap(
    (container) => found.get(container) ?? [{ status: 'skipped', subject: container.name, summary: `no answer within ${budgetMs / 1_000} s` } as const],
  )
}

export const pass = (summary: string): ContainerFinding => ({ status: 'pass', summary })
export const skipped = (summary: string): ContainerFinding => ({ status: 'skipped', summary })
export const complain = (status: 'warn' | 'fail', summary: string, remedies: readonly Remedy[], detail?: string): ContainerFinding => ({
  status,
  summary,
  remedies,
  ...(detail === undefined ? {} : { detail }),
})

/** Settings of a container are those of its creation: it must be made again. `flag` for run commands, `yaml` below the service of a compose file. */
export function recreate({ engine, name, image, composeService }: DoctorContainer, flag: string, yaml: string): Remedy {
  if (composeService !== undefined) {
    return {
      text: `Put this below the service ${composeService} of the compose file, then create the container again: ${yaml}`,
      command: `${engine.kind === 'podman' ? 'podman-compose' : 'docker compose'} up -d ${composeService}`,
    }
  }
  return {
    text: `Remove ${name} (${engine.kind} rm -f ${name}; what it wrote outside of volumes is lost), then start it by the command that you used before, with ${flag} added.`,
    command: `${engine.kind} run ${flag} … ${image || 'IMAGE'}`,
  }
}
