// The tables' rows: processes gathered over the GPUs they use, containers with what they hold where.
import type { ContainerRow, FrameMessage, ProcessRow } from '../../../agent/model/live.ts'
import { troubleOf } from './health.ts'
import { containerKey } from '../text/names.ts'

export type Holding = { readonly index: number; readonly gi?: string; readonly bytes: number | undefined }

export type ContainerView = {
  readonly key: string
  readonly row: ContainerRow
  readonly holdings: readonly Holding[]
  readonly gpuBytes: number | undefined
  readonly requested: readonly number[]
  /** Requested GPUs on which it holds nothing. */
  readonly unused: readonly number[]
  /** One of its GPUs cannot be read: `gpuBytes` is what is known, the rest may be more. */
  readonly partial: boolean
}

export type ProcessView = {
  readonly key: string
  readonly pid: number
  readonly process: string
  readonly container: string | undefined
  /** Container, Slurm job or unit, whichever owns it. */
  readonly owner: string | undefined
  readonly type: string | undefined
  readonly holdings: readonly Holding[]
  readonly gpuBytes: number | undefined
}

const total = (holdings: readonly Holding[]): number | undefined => {
  const known = holdings.flatMap((holding) => (holding.bytes === undefined ? [] : [holding.bytes]))
  return known.length === 0 ? undefined : known.reduce((sum, bytes) => sum + bytes, 0)
}

export function containerViews(frame: FrameMessage): readonly ContainerView[] {
  const unread = new Set(frame.gpus.filter((gpu) => troubleOf(gpu) !== undefined).map((gpu) => gpu.index))
  const indexOf = new Map(frame.gpus.map((gpu) => [gpu.uuid, gpu.index]))
  return frame.containers.map((row) => {
    const holdings = Object.entries(row.gpu_memory_bytes ?? {})
      .flatMap(([uuid, bytes]) => {
        const index = indexOf.get(uuid)
        return index === undefined ? [] : [{ index, bytes }]
      })
      .sort((a, b) => a.index - b.index)
    const requested = (row.gpus_requested ?? '').split(',').flatMap((uuid) => indexOf.get(uuid.trim()) ?? [])
    const held = new Set(holdings.filter((holding) => holding.bytes > 0).map((holding) => holding.index))
    return {
      key: row.container_id,
      row,
      holdings,
      gpuBytes: total(holdings),
      requested,
      // Of a GPU that does not answer nobody knows whether it is used.
      unused: requested.filter((index) => !held.has(index) && !unread.has(index)),
      partial: requested.some((index) => unread.has(index)),
    }
  })
}

export function processViews(rows: readonly ProcessRow[]): readonly ProcessView[] {
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
    const owner = container ?? (first.slurm_job === undefined ? first.unit : `Slurm job ${first.slurm_job}`)
    views.push({ key: String(pid), pid, process: first.process, container, owner, type: first.type, holdings, gpuBytes: total(holdings) })
  }
  return views
}
