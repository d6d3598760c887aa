// The tables' rows: processes gathered over the GPUs they use, containers with what they hold where.
import type { ContainerRow, FrameMessage, ProcessRow } from '../../../../agent/model/live.ts'
import { jobOf } from '../job/identity.ts'
import { troubleOf } from './health.ts'
import { ownerOf } from './owner.ts'
import { containerKey } from '../../text/names.ts'

export type Holding = { readonly index: number; readonly gi?: string; readonly bytes: number | undefined }

export type ContainerView = {
  readonly key: string
  readonly row: ContainerRow
  readonly holdings: readonly Holding[]
  readonly gpuBytes: number | undefined
  readonly requested: readonly number[]
  /** Requested GPUs on which it holds nothing. */
  readonly unused: readonly number[]
  /** Requested GPUs that cannot be read: `gpuBytes` is what is known, the rest may be more. */
  readonly unread: readonly number[]
}

export type ProcessView = {
  readonly key: string
  readonly pid: number
  readonly process: string
  readonly container: string | undefined
  /** Of its job in the address. */
  readonly job: string
  /** Container, Slurm job or unit, whichever owns it. */
  readonly owner: string | undefined
  readonly type: string | undefined
  readonly user: string | undefined
  /** Command line, secrets masked. */
  readonly command: string | undefined
  /** Its share of the time in which kernels ran, of its busiest GPU. */
  readonly busy: number | undefined
  /** Milliseconds since its start. */
  readonly age: number | undefined
  readonly holdings: readonly Holding[]
  readonly gpuBytes: number | undefined
}

const total = (holdings: readonly Holding[]): number | undefined => {
  const known = holdings.flatMap((holding) => (holding.bytes === undefined ? [] : [holding.bytes]))
  return known.length === 0 ? undefined : known.reduce((sum, bytes) => sum + bytes, 0)
}

/** What containers hold in MIG instances: their own rows tell the card only, their processes the instance. By container and GPU. */
function byInstance(processes: readonly ProcessRow[]): ReadonlyMap<string, readonly ProcessRow[]> {
  const found = new Map<string, ProcessRow[]>()
  for (const row of processes) {
    if (row.gi === undefined || row.gi === '' || row.container_id === undefined) continue
    const key = `${row.container_id} ${row.uuid}`
    found.set(key, [...(found.get(key) ?? []), row])
  }
  return found
}

/** One chip an instance; what the card counts where only one is used. */
function holdingsOn(index: number, bytes: number, rows: readonly ProcessRow[] = []): readonly Holding[] {
  const instances = [...new Set(rows.flatMap(({ gi }) => gi ?? []))].toSorted((a, b) => Number(a) - Number(b))
  const [only] = instances
  if (only === undefined) return [{ index, bytes }]
  if (instances.length === 1) return [{ index, gi: only, bytes }]
  return instances.map((gi) => ({
    index,
    gi,
    bytes: total(rows.filter((row) => row.gi === gi).map((row) => ({ index, bytes: row.gpu_memory_bytes }))),
  }))
}

export function containerViews(frame: FrameMessage): readonly ContainerView[] {
  const unread = new Set(frame.gpus.filter((gpu) => troubleOf(gpu) !== undefined).map((gpu) => gpu.index))
  const instances = byInstance(frame.processes)
  const indexOf = new Map(frame.gpus.map((gpu) => [gpu.uuid, gpu.index]))
  return frame.containers.map((row) => {
    const holdings = Object.entries(row.gpu_memory_bytes ?? {})
      .flatMap(([uuid, bytes]) => {
        const index = indexOf.get(uuid)
        return index === undefined ? [] : holdingsOn(index, bytes, instances.get(`${row.container_id} ${uuid}`))
      })
      .sort((a, b) => a.index - b.index)
    const requested = (row.gpus_requested ?? '').split(',').flatMap((uuid) => indexOf.get(uuid.trim()) ?? [])
    const held = new Set(holdings.filter((holding) => (holding.bytes ?? 0) > 0).map((holding) => holding.index))
    return {
      key: row.container_id,
      row,
      holdings,
      gpuBytes: total(holdings),
      requested,
      // Of a GPU that does not answer nobody knows whether it is used.
      unused: requested.filter((index) => !held.has(index) && !unread.has(index)),
      unread: requested.filter((index) => unread.has(index)),
    }
  })
}

/** Of processes as they were at `t`, Unix ms. */
export function processViews(rows: readonly ProcessRow[], t: number): readonly ProcessView[] {
  const byPid = new Map<number, ProcessRow[]>()
  for (const row of rows) {
    const known = byPid.get(row.pid)
    if (known === undefined) byPid.set(row.pid, [row])
    else known.push(row)
  }
  const views: ProcessView[] = []
  for (const [pid, members] of byPid) {
    const first = members[0]
    if (first === undefined) continue
    const container = first.container === undefined ? undefined : containerKey(first)
    const holdings = members
      .map((row) => ({ index: Number(row.gpu), ...(row.gi !== undefined && row.gi !== '' && { gi: row.gi }), bytes: row.gpu_memory_bytes }))
      .sort((a, b) => a.index - b.index || Number(a.gi ?? -1) - Number(b.gi ?? -1))
    const { process, type, user, command, start_timestamp_seconds: start } = first
    const ratios = members.flatMap((row) => row.gpu_utilization_ratio ?? [])
    views.push({
      key: String(pid),
      pid,
      process,
      container,
      job: jobOf(first).key,
      owner: ownerOf(first),
      type,
      user,
      command,
      busy: ratios.length === 0 ? undefined : Math.max(...ratios),
      age: start === undefined ? undefined : Math.max(0, t - start * 1000),
      holdings,
      gpuBytes: total(holdings),
    })
  }
  return views
}
