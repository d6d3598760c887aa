// One running container as we follow it: who it is, its cgroup once found, its readings.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseCgroup } from '../../attribution/cgroup-path.ts'
import { readSmallFile } from '../../attribution/small-file.ts'
import { openLocalDirectory } from '../../lib/local-directory.ts'
import type { ContainerIdentity } from '../../model/identity.ts'
import type { CgroupHierarchy } from './cgroup-hierarchy.ts'
import { createCgroupReader } from './cgroup-reader.ts'
import type { CgroupReader } from './cgroup-reader.ts'
import { createContainerSeries } from './container-series.ts'
import type { ContainerFacts, ContainerSeries, Output } from './container-series.ts'
import type { EngineContainer } from './engine-container.ts'
import { minorOfPath, resolveGpuRequest } from './gpu-request.ts'
import type { GpuWish, HostGpu } from './gpu-request.ts'

export type TrackedContainer = {
  readonly id: string
  /** The engine that reported it, by its socket; undefined: known by its cgroup alone. */
  engine: string | undefined
  readonly update: (identity: ContainerIdentity, facts: ContainerFacts, wish: GpuWish | undefined) => void
  /** `found` when its cgroup is there for the first time, `gone` when it was there and has been removed. */
  readonly numbers: (t: number, out: Output) => 'found' | 'gone' | undefined
  readonly pressure: (out: Output) => void
  readonly facts: (gpus: readonly HostGpu[], out: Output) => void
  /** Where the walk over the tree saw it. */
  seenAt: string | undefined
  readonly close: () => void
}

/** An engine says `start` a moment after it made the cgroup; only a longer absence is worth a gap. */
const GRACE_MS = 3_000
/** A cgroup that was not found at once is looked for at this pace. */
const RETRY_MS = 10_000
/** Device nodes are made before a container's first process runs; a walk that sees it again and again need not look each time. */
const NODES_MS = 60_000

export type TrackOptions = { readonly id: string; readonly procRoot: string; readonly cgroupRoot: string; readonly hierarchy: () => CgroupHierarchy }

export function trackContainer(options: TrackOptions, identity: ContainerIdentity): TrackedContainer {
  const { id, procRoot, cgroupRoot, hierarchy } = options
  let current = identity
  let series: ContainerSeries = createContainerSeries(identity)
  let facts: ContainerFacts = {}
  let wish: GpuWish | undefined
  let lastWish: GpuWish | undefined
  let nodesReadAt = Number.NEGATIVE_INFINITY
  let reader: CgroupReader | undefined
  let missingSince: number | undefined
  let nextTry = 0

  const locate = (t: number): CgroupReader | undefined => {
    // A clock set back must not put the next try off.
    if (t < nextTry && nextTry - t <= RETRY_MS) return undefined
    const ofProcess = facts.pid === undefined ? undefined : hierarchy().ofProcess(facts.pid, id)
    const cgroup = ofProcess ?? (tracked.seenAt === undefined ? undefined : hierarchy().at(tracked.seenAt))
    if (cgroup !== undefined && (cgroup.memory ?? cgroup.cpu ?? cgroup.pids) !== undefined) return createCgroupReader(cgroup)
    missingSince ??= t
    if (t - missingSince > GRACE_MS) nextTry = t + RETRY_MS
    return undefined
  }
  const release = (): void => {
    reader?.close()
    reader = undefined
    nextTry = 0
  }
  const tracked: TrackedContainer = {
    id,
    engine: undefined,
    seenAt: undefined,
    update(next, nextFacts, nextWish) {
      if (next !== current) series = createContainerSeries(next)
      const now = performance.now()
      const changed = nextFacts.pid !== facts.pid || nextWish !== lastWish
      // A new first process means a new cgroup, though of the same name: files open from before would give no values any more.
      if (nextFacts.pid !== facts.pid) release()
      current = next
      facts = nextFacts
      if (!changed && now - nodesReadAt < NODES_MS) return
      lastWish = nextWish
      nodesReadAt = now
      wish = withNodes(nextWish, nextFacts.pid, id, procRoot)
    },
    numbers(t, out) {
      const before = reader
      reader ??= locate(t)
      if (reader !== undefined) {
        const numbers = reader.read()
        if (numbers !== 'gone') {
          missingSince = undefined
          series.numbers(numbers, out)
          return before === undefined ? 'found' : undefined
        }
        release()
        missingSince ??= t
        return 'gone'
      }
      if (missingSince !== undefined && t - missingSince > GRACE_MS) {
        const detail = `no cgroup of this container under ${cgroupRoot}: mount the host's /sys/fs/cgroup there and start the agent with --cgroupns=host`
        series.noNumbers({ reason: 'not_supported', detail }, out)
      }
      return undefined
    },
    pressure(out) {
      const pressure = reader?.readPressure()
      if (pressure !== undefined && pressure !== 'gone') series.pressure(pressure, out)
    },
    facts(gpus, out) {
      series.facts(facts, out)
      const cores = reader?.readCpuLimit()
      if (cores !== undefined) series.cpuLimit(cores, out)
      const modes = reader?.readCpuModes()
      if (modes !== undefined) series.cpuModes(modes, out)
      const bounds = reader?.readBounds()
      if (bounds !== undefined && bounds !== 'gone') series.bounds(bounds, out)
      // Without a list of GPUs nothing can be said of any; it comes with the first scrape of the gpu source.
      const request = wish === undefined || gpus.length === 0 ? undefined : resolveGpuRequest(wish, gpus)
      if (request !== undefined) series.gpus(request, out)
    },
    close: release,
  }
  return tracked
}

/** Adds the device nodes that are really in the container, when its first process is visible: that needs root and the host's pid namespace. */
function withNodes(wish: GpuWish | undefined, pid: number | undefined, id: string, procRoot: string): GpuWish | undefined {
  if (pid === undefined) return wish
  try {
    // Seen from another pid namespace the number may belong to someone else.
    if (parseCgroup(readSmallFile(`${procRoot}/${pid}/cgroup`)).containerId !== id) return wish
    const dev = openLocalDirectory(join(procRoot, String(pid)), 'dev')
    let names: readonly string[]
    try {
      names = readdirSync(dev.path)
    } finally {
      dev.close()
    }
    const nodeMinors = names.map(minorOfPath).filter((minor) => minor !== undefined)
    return { ...(wish ?? { requests: [], devicePaths: [], privileged: false }), nodeMinors }
  } catch {
    return wish
  }
}

/** A label comes from outside: a name is short. */
const MAX_USER = 64
/** `userLabels`: names of the labels that say who uses the container, the first before the others. */
export function factsOf(container: EngineContainer, userLabels: readonly string[]): ContainerFacts {
  const { identity: _identity, gpuWish: _wish, settings: _settings, labels, ...facts } = container
  const user = userLabels.map((name) => (labels !== undefined && Object.hasOwn(labels, name) ? labels[name] : undefined)).find((value) => value?.trim())
  return user === undefined ? facts : { ...facts, user: user.trim().slice(0, MAX_USER) }
}
