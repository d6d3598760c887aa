// What the readings of each second say of runs: which containers run, who holds which GPU, how busy that is, host memory. Looks at no other readings.
import { containerInfo, containerMemoryBytes, containerOomKillsTotal } from '../metrics/container.ts'
import { gpuGpmEngineActiveRatio } from '../metrics/gpm.ts'
import { gpuUtilizationRatio } from '../metrics/gpu-load.ts'
import { gpuMemoryTotalBytes, gpuMemoryUnattributedBytes } from '../metrics/gpu-memory.ts'
import { gpuEnergyJoulesTotal, gpuPowerWatts } from '../metrics/gpu-power.ts'
import { inferenceTokensTotal } from '../metrics/inference.ts'
import { processGpuMemoryBytes, processGpuUtilizationRatio, processInfo } from '../metrics/process.ts'
import type { Scrape } from '../model/event.ts'
import type { CardCheckpoint } from '../model/ledger.ts'
import type { Series } from '../model/series.ts'
import { containerKey, type ContainerRuns } from './containers.ts'
import type { HostRuns } from './host-processes.ts'
import type { createLooks, Held, Lookup } from './ledger/looks.ts'
import type { LedgerBook } from './ledger/book.ts'
import { createTokenMeter } from './ledger/token-meter.ts'
import type { LiveRun } from './live-run.ts'
import type { Runs } from './runs.ts'
import { seatKey, type GpuNow, type Seat } from './usage.ts'

type Role = 'process' | 'share' | 'listed' | 'who' | 'memory' | 'oom' | 'info' | 'ratio' | 'watts' | 'total' | 'counter' | 'instance' | 'tokens'
const ROLES: ReadonlyMap<string, Role> = new Map([
  [processGpuMemoryBytes.name, 'process'],
  [processGpuUtilizationRatio.name, 'share'],
  [gpuMemoryUnattributedBytes.name, 'listed'],
  [processInfo.name, 'who'],
  [containerMemoryBytes.name, 'memory'],
  [containerOomKillsTotal.name, 'oom'],
  [containerInfo.name, 'info'],
  [gpuUtilizationRatio.name, 'ratio'],
  [gpuPowerWatts.name, 'watts'],
  [gpuMemoryTotalBytes.name, 'total'],
  [gpuEnergyJoulesTotal.name, 'counter'],
  [gpuGpmEngineActiveRatio.name, 'instance'],
  [inferenceTokensTotal.name, 'tokens'],
])
/** Their readings are never about a run; they are most of all readings. */
const OTHER_SOURCES = new Set(['agent', 'host', 'incidents', 'jobs', 'notifications', 'targets', 'driver_version'])
/** A power or a utilization that is older says nothing of now. */
const READ_WITHIN_MS = 5_000

/** `key` of its container; empty outside of containers. */
type Known = { readonly role: Role; readonly key: string; readonly seat: Seat; readonly pid: number }

/** `settle`: of a process that was looked up something is known. */
export type JobReadings = {
  readonly scrape: (scrape: Scrape) => void
  readonly settle: () => void
  readonly restore: (checkpoints: readonly CardCheckpoint[]) => void
}

/** The part of that run on that seat; `pid`: of a process that is awaited. They are few, and a key of text for each reading would take longer. */
function heldBy(holding: readonly Held[], run: LiveRun | undefined, seat: Seat, pid: number | undefined): Held | undefined {
  for (let at = 0; at < holding.length; at++) {
    const held = holding[at]
    if (held !== undefined && held.run === run && held.pid === pid && (held.seat === seat || seatKey(held.seat) === seatKey(seat))) return held
  }
  return undefined
}

export function createJobReadings(runs: Runs, containers: ContainerRuns, host: HostRuns, book: LedgerBook, looksOf: typeof createLooks): JobReadings {
  const { running } = runs
  const gpus = new Map<string, GpuNow & { readonly t: number }>()
  const looks = looksOf(running, runs.endedLately, book)
  const tokens = createTokenMeter(running, book)
  /** Sources tell the same Series each time: each is looked at once. */
  const known = new WeakMap<Series, Known | null>()
  const recognise = (series: Series): Known | null => {
    let entry = known.get(series)
    if (entry !== undefined) return entry
    const role = ROLES.get(series.metric.name)
    const { container_id: id = '', uuid = '', gpu = '', gi, ci, pid = '' } = series.labels
    const seat = { uuid, gpu, ...(gi === undefined ? {} : { gi }), ...(ci === undefined ? {} : { ci }) }
    entry = role === undefined ? null : { role, key: id === '' ? '' : containerKey(id), seat, pid: Number(pid) }
    known.set(series, entry)
    return entry
  }
  /** The user of a container's image, which its engine does not say. */
  const named = (run: LiveRun | undefined, { labels: { user, uid } }: Series): void => {
    if (run === undefined || user === undefined || run.identity.user !== undefined) return
    run.identity = { ...run.identity, user, ...(uid === undefined ? {} : { uid: Number(uid) }) }
    run.isDirty = true
  }
  const memory = (run: LiveRun, bytes: number): void => {
    // A peak is worth a write when it is noticeably higher.
    if (run.memoryPeak === undefined || bytes > run.memoryPeak * 1.01) run.hasMoved = true
    run.memoryPeak = Math.max(run.memoryPeak ?? 0, bytes)
  }
  const oomKills = (run: LiveRun, count: number, t: number): void => {
    if (run.oomKills !== undefined && count > run.oomKills) run.oomKilledAt = t
    run.oomKills = count
  }
  const seen = (held: readonly Held[], t: number): void => {
    for (const { run, seat, pids, bytes } of held) {
      if (run === undefined) continue
      for (const pid of pids) run.pids.set(pid, t)
      const known = gpus.get(seat.uuid)
      run.usage.held(seat, t, bytes, known === undefined || Math.abs(t - known.t) > READ_WITHIN_MS ? undefined : known.total)
      run.seenAt = Math.max(run.seenAt, t)
      run.isRestored = false
      run.hasMoved = true
    }
  }
  /** Of a process that nothing is known of yet. */
  const lookupOf = (series: Series): Lookup => ({
    run: () => host.ofProcess(series) ?? host.before(series),
    isOpen: () => host.ofProcess(series) === undefined && host.isAwaited(series),
  })
  const scrape = ({ t, source, group, readings }: Scrape): void => {
    if (OTHER_SOURCES.has(source)) return
    const holding: Held[] = []
    let listed: Map<string, string> | undefined
    let awaited: Set<string> | undefined
    for (let at = 0; at < readings.length; at++) {
      const reading = readings[at]
      if (reading === undefined) continue
      const { series, value } = reading
      const entry = recognise(series)
      if (entry === null) continue
      const { role, key, seat, pid } = entry
      if (role === 'process' || role === 'share') {
        // One of which nobody knows yet what it belongs to holds the GPU all the same.
        const known = key === '' ? host.ofProcess(series) : (running.get(key) ?? containers.byProcess(series, key, t))
        const isAwaited = key === '' && known === undefined && host.isAwaited(series)
        const run = known ?? (isAwaited ? undefined : host.before(series))
        if (isAwaited) (awaited ??= new Set()).add(seat.uuid)
        let held = heldBy(holding, run, seat, isAwaited ? pid : undefined)
        if (held === undefined) {
          held = { run, seat, pids: [], bytes: 0, ...(isAwaited ? { awaited: lookupOf(series), pid } : {}) }
          holding.push(held)
        }
        if (role === 'process') {
          held.bytes += value
          held.pids.push(pid)
        } else held.ratio = (held.ratio ?? 0) + value
        ;(listed ??= new Map()).set(seat.uuid, seat.gpu)
      } else if (role === 'listed') (listed ??= new Map()).set(seat.uuid, seat.gpu)
      else if (role === 'instance') {
        if (seat.gi !== undefined) looks.instance(seat.uuid, seat.gi, value, t)
      } else if (role === 'tokens') tokens(series, value, t)
      else if (role === 'counter') looks.counter(seat.uuid, value, t)
      else if (role === 'ratio' || role === 'watts' || role === 'total') {
        if (seat.gi !== undefined) continue
        const before = gpus.get(seat.uuid)
        gpus.set(seat.uuid, before?.t === t ? { ...before, [role]: value } : { t, [role]: value })
      } else if (role === 'who') named(running.get(key), series)
      else if (role === 'info') containers.listed(series, key, t)
      else {
        const run = running.get(key)
        if (run === undefined) continue
        if (role === 'memory') memory(run, value)
        else oomKills(run, value, t)
      }
    }
    if (source === 'containers' && group === 'identity') containers.allListed(t)
    if (holding.length > 0) seen(holding, t)
    if (listed !== undefined)
      for (const [uuid, gpu] of listed)
        looks.look(uuid, gpu, listed.size === 1 ? holding : holding.filter(({ seat }) => seat.uuid === uuid), gpus.get(uuid), t, awaited?.has(uuid) === true)
  }
  return { scrape, settle: () => looks.settle(), restore: (checkpoints) => looks.restore(checkpoints) }
}
