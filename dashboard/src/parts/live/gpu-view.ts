// What a card shows of a GPU: its row, or when it is in trouble the last figures it had, dimmed, with their age.
import type { FrameMessage, GpuRow, ProcessRow } from '../../../../agent/model/live.ts'
import { activeThrottles, type Throttle } from '../../text/words.ts'
import { troubleOf, type Trouble } from './health.ts'

export type GpuView = {
  readonly uuid: string
  readonly index: number
  readonly name: string
  /** The row to draw: the present one, or the last good one while `trouble` holds. */
  readonly row: GpuRow
  readonly trouble: Trouble | undefined
  /** Unix ms of the newest good figures while in trouble; undefined when none were ever seen. */
  readonly sinceMs: number | undefined
  /** undefined: its utilisation is not read, as in MIG mode; that is no idleness. */
  readonly busy: boolean | undefined
  readonly throttles: readonly Throttle[]
  /** Those that were on it when it was last read, while it is in trouble. */
  readonly lastProcesses: readonly ProcessRow[]
}

/** The last good row of each GPU and its time. */
export type KnownGpu = { readonly row: GpuRow; readonly t: number; readonly processes: readonly ProcessRow[] }

/** Work at all is at least this much of the sampling period; drivers report 1 or 2 % for a display or a monitor. */
const BUSY_FROM_RATIO = 0.05
const isBusy = (ratio: number | undefined): boolean | undefined => (ratio === undefined ? undefined : ratio >= BUSY_FROM_RATIO)

/** Remembers the good rows of a frame; a GPU in trouble keeps what it had. */
export function remember(known: ReadonlyMap<string, KnownGpu>, frame: FrameMessage): ReadonlyMap<string, KnownGpu> {
  const next = new Map(known)
  for (const row of frame.gpus)
    if (troubleOf(row) === undefined) next.set(row.uuid, { row, t: frame.t, processes: frame.processes.filter(({ uuid }) => uuid === row.uuid) })
  return next
}

const GONE: Trouble = { kind: 'lost', verdict: 'is gone', lasting: 'has been gone', state: 'Gone', reason: 'the host no longer lists it' }

/** A GPU that was in trouble before the page opened: what history knows of its last second. */
export type PastFigures = Pick<GpuRow, 'memory_used_bytes' | 'memory_total_bytes' | 'utilization_ratio' | 'power_watts' | 'temperature_celsius'>
export type LastKnown = (uuid: string) => { readonly figures: PastFigures; readonly t: number } | undefined

function view(row: GpuRow, t: number, known: KnownGpu | undefined, missing: boolean, lastKnown: LastKnown): GpuView {
  const trouble = missing ? GONE : troubleOf(row)
  const past = trouble !== undefined && known === undefined ? lastKnown(row.uuid) : undefined
  const shown = trouble === undefined ? row : { ...row, ...past?.figures, ...known?.row, ...(row.gaps !== undefined && { gaps: row.gaps }) }
  const sinceMs = trouble === undefined ? undefined : trouble.ageSeconds === undefined ? (known?.t ?? past?.t) : t - trouble.ageSeconds * 1000
  return {
    uuid: row.uuid,
    index: row.index,
    name: row.name ?? known?.row.name ?? 'GPU',
    row: shown,
    trouble,
    sinceMs,
    busy: trouble === undefined ? isBusy(row.utilization_ratio) : false,
    throttles: trouble === undefined ? activeThrottles(row.throttle_active) : [],
    lastProcesses: trouble === undefined ? [] : (known?.processes ?? []),
  }
}

/** Views of all GPUs in the order of their index, with those that a later frame no longer lists. */
export function gpuViews(frame: FrameMessage, known: ReadonlyMap<string, KnownGpu>, lastKnown: LastKnown): readonly GpuView[] {
  const views = frame.gpus.map((row) => view(row, frame.t, known.get(row.uuid), false, lastKnown))
  const listed = new Set(frame.gpus.map((row) => row.uuid))
  for (const [uuid, last] of known) if (!listed.has(uuid)) views.push(view(last.row, frame.t, last, true, lastKnown))
  return views.sort((a, b) => a.index - b.index)
}
