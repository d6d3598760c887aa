// Containers: identity from the engines, usage from the kernel; also those that no engine reports.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseCgroup } from '../attribution/cgroup-path.ts'
import type { ContainerSettingsBook } from '../attribution/container-settings.ts'
import type { ContainerDirectory } from '../attribution/directory.ts'
import type { Gap, Reading } from '../model/reading.ts'
import type { Source, SourceContext } from '../model/source.ts'
import { defineSource } from './definition.ts'
import { openCgroupHierarchy } from './containers/cgroup-hierarchy.ts'
import type { CgroupHierarchy } from './containers/cgroup-hierarchy.ts'
import { containerMetrics } from './containers/container-series.ts'
import { createEngines } from './containers/engines.ts'
import type { Engines } from './containers/engines.ts'
import type { EngineContainer } from './containers/engine-container.ts'
import type { HostGpu } from './containers/gpu-request.ts'
import type { ContainerWatchList } from './containers/watch-list.ts'
import { factsOf, trackContainer } from './containers/tracked.ts'
import type { TrackedContainer } from './containers/tracked.ts'

export type ContainersOptions = {
  /** Sockets of engines. Absent: the usual places, and whichever of them exists; empty: no engine at all. */
  readonly sockets?: readonly string[]
  /** Usually /sys/fs/cgroup. */
  readonly cgroupRoot: string
  readonly procRoot: string
  readonly directory: ContainerDirectory
  /** Labels of containers that name who uses them. */
  readonly userLabels?: readonly string[]
  /** The host's GPUs as known now, in the order of their indexes. */
  readonly gpus: () => readonly HostGpu[]
  /** Takes the settings that matter to a fault. */
  readonly settings?: ContainerSettingsBook
  /** Gets what the engines report, for the sources that read logs. */
  readonly watchList?: ContainerWatchList
  /** Containers whose end was not seen and is wanted. */
  readonly unconfirmed?: () => readonly string[]
}

const NUMBERS = { group: 'numbers', everyMs: 1_000, ttlMs: 5_000 } as const
/** Pressure costs three files per container, so it is read less often. */
const PRESSURE = { group: 'pressure', everyMs: 10_000, ttlMs: 25_000 } as const
/** With limits and counts of processes. Said again whenever something changes, and at this pace so that it does not expire. */
const IDENTITY = { group: 'identity', everyMs: 10_000, ttlMs: 25_000 } as const
const WALK_MS = 10_000

/** A pod's sandbox holds its namespaces and does nothing (kubernetes/build/pause); its figures are not wanted. */
function isPodSandbox(procRoot: string, pid: number): boolean {
  try {
    return readFileSync(join(procRoot, String(pid), 'comm'), 'utf8') === 'pause\n'
  } catch {
    return false // gone, or hidden from here
  }
}

export function createContainersSource(options: ContainersOptions): Source {
  const { cgroupRoot, procRoot, directory, userLabels = [] } = options
  const tracked = new Map<string, TrackedContainer>()
  /** Ids that the walk saw without an engine's word; one that an engine should know is believed at the second sight. */
  let seenBefore: ReadonlySet<string> = new Set()
  let hierarchy: CgroupHierarchy | undefined
  let engines: Engines | undefined
  let stops: (() => void)[] = []

  const currentHierarchy = (): CgroupHierarchy => (hierarchy ??= openCgroupHierarchy(cgroupRoot, procRoot))

  const trackedOf = (id: string, identity = directory.resolve(id)): TrackedContainer => {
    const known = tracked.get(id)
    if (known !== undefined) return known
    const added = trackContainer({ id, procRoot, cgroupRoot, hierarchy: currentHierarchy }, identity)
    tracked.set(id, added)
    return added
  }
  const drop = (id: string): void => {
    tracked.get(id)?.close()
    tracked.delete(id)
  }

  const start = (context: SourceContext): void => {
    const emit = (
      { group, ttlMs }: { readonly group: string; readonly ttlMs: number },
      t: number,
      fill: (out: { readings: Reading[]; gaps: Gap[] }) => void,
    ): void => {
      const began = performance.now()
      const out = { readings: [] as Reading[], gaps: [] as Gap[] }
      fill(out)
      context.emit({ type: 'scrape', t, source: 'containers', group, ttlMs, durationMs: performance.now() - began, readings: out.readings, gaps: out.gaps })
    }
    const sayIdentity = (t: number): void => {
      emit(IDENTITY, t, (out) => {
        const gpus = options.gpus()
        gpusSaid = gpus.length
        for (const container of tracked.values()) container.facts(gpus, out)
        out.gaps.push(...(engines?.gaps(tracked.size > 0) ?? []))
      })
    }
    let identityDue = false
    let gpusSaid = 0
    /** Several containers often change at once (compose up): one scrape reports them all. */
    const identityChanged = (): void => {
      if (identityDue) return
      identityDue = true
      setImmediate(() => {
        identityDue = false
        if (stops.length > 0) sayIdentity(Date.now())
      })
    }
    const sayNumbers = (t: number): void => {
      emit(NUMBERS, t, (out) => {
        for (const container of tracked.values()) {
          const change = container.numbers(t, out)
          if (change === undefined) continue
          // While its engine answers, the engine says when a container has ended: a restart also removes the cgroup for a moment.
          if (change === 'gone' && engines?.answers(container.engine) === true) continue
          if (change === 'gone') drop(container.id)
          identityChanged()
        }
      })
      if (gpusSaid === 0 && options.gpus().length > 0) identityChanged()
    }
    let walked = false
    const walk = (): void => {
      if (engines?.settled() === false) return // their names come first
      walked = true
      const seen = new Set<string>()
      for (const found of currentHierarchy().walk()) {
        const path = join('/', found.path)
        const known = tracked.get(found.id)
        // Its engine reports its state; only the path is wanted here.
        if (known?.engine !== undefined) {
          known.seenAt = path
          seen.add(found.id)
          continue
        }
        const firstPid = firstProcess(currentHierarchy(), path)
        if (firstPid === undefined) continue
        seen.add(found.id)
        if (known !== undefined) known.seenAt = path
        if (known === undefined && engines?.anyAnswers() === true && !seenBefore.has(found.id)) continue
        const place = parseCgroup(`0::${path}`)
        if (place.podUid !== undefined && isPodSandbox(procRoot, firstPid)) continue
        const identity = directory.resolve(found.id, place.podUid)
        const container = trackedOf(found.id, identity)
        container.seenAt = path
        const facts = { ...(found.runtime === undefined ? {} : { runtime: found.runtime }), ...(firstPid > 0 ? { pid: firstPid } : {}) }
        container.update(identity, facts, undefined)
        if (known === undefined) identityChanged()
      }
      for (const container of tracked.values()) {
        if (container.engine !== undefined || seen.has(container.id)) continue
        drop(container.id)
        identityChanged()
      }
      seenBefore = seen
    }
    const onState = (): void => {
      if (!walked) walk()
      identityChanged()
    }
    const onContainer = (socketPath: string, inspected: EngineContainer): void => {
      const identity = directory.set(inspected.identity)
      options.watchList?.running(socketPath, identity.id)
      const container = trackedOf(identity.id, identity)
      container.engine = socketPath
      container.update(identity, factsOf(inspected, userLabels), inspected.gpuWish)
      identityChanged()
    }
    const onInspected = ({ identity: { id }, settings }: EngineContainer): void => {
      if (settings !== undefined) options.settings?.set(id, settings)
    }
    const onGone = (socketPath: string, id: string): void => {
      options.watchList?.ended(socketPath, id)
      if (tracked.get(id)?.engine !== socketPath) return
      drop(id)
      identityChanged()
    }

    if (!existsSync(cgroupRoot)) context.log.warn(`${cgroupRoot} does not exist: containers have names but no numbers`)
    engines = createEngines({
      sockets: options.sockets,
      log: context.log,
      onContainer,
      onGone,
      onEvent: context.emit,
      onState,
      ...watchListHandlers(options.watchList),
      onInspected,
      ...(options.unconfirmed === undefined ? {} : { unconfirmed: options.unconfirmed }),
    })
    const { discover } = engines
    walk()
    stops = [
      context.every(NUMBERS.everyMs, sayNumbers),
      context.every(PRESSURE.everyMs, (t) => {
        if (currentHierarchy().version === 2) emit(PRESSURE, t, (out) => tracked.forEach((container) => container.pressure(out)))
      }),
      context.every(IDENTITY.everyMs, sayIdentity),
      context.every(WALK_MS, () => {
        discover()
        walk()
      }),
    ]
  }

  return {
    id: 'containers',
    metrics: containerMetrics,
    start,
    async stop() {
      for (const stop of stops) stop()
      stops = []
      await engines?.stop()
      for (const id of tracked.keys()) drop(id)
    },
  }
}

function watchListHandlers(watchList: ContainerWatchList | undefined) {
  return watchList === undefined ? {} : { onLife: watchList.life, onAnswering: watchList.answering }
}

/** A process of the cgroup: 0 when only its children hold some, or it cannot be determined; undefined when the cgroup is empty: left behind, or just ending. */
function firstProcess(hierarchy: CgroupHierarchy, path: string): number | undefined {
  const cgroup = hierarchy.at(path)
  const directory = cgroup.memory ?? cgroup.cpu ?? cgroup.pids
  if (directory === undefined) return undefined
  try {
    const pid = /^\d+/.exec(readFileSync(join(directory, 'cgroup.procs'), 'utf8'))?.[0]
    if (pid !== undefined) return Number(pid)
    if (hierarchy.version === 2) return readFileSync(join(directory, 'cgroup.events'), 'utf8').includes('populated 1') ? 0 : undefined
    return undefined
  } catch {
    return undefined
  }
}

export const containers = defineSource({
  id: 'containers',
  metrics: containerMetrics,
  needs: ['config', 'directory', 'jobs', 'latest', 'watchList', 'settings'],
  create({ config, directory, jobs, latest, watchList, settings }) {
    if (!config.containers.enabled || config.simulate.scenario !== 'off') return undefined
    const { engines, cgroup_root: cgroupRoot, user_labels: userLabels } = config.containers
    return createContainersSource({
      cgroupRoot,
      procRoot: config.host.proc_root,
      directory,
      userLabels,
      gpus: latest.inventory.gpus,
      watchList,
      settings,
      unconfirmed: jobs.unconfirmed,
      ...(engines.includes('auto') ? {} : { sockets: engines }),
    })
  },
})
