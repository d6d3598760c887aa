// What each GPU of this host has left, from the rows of the present and the history of the last days.
import { gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { gpuMemoryUsedBytes, gpuMemoryUsedPeakBytes } from '../../metrics/gpu-memory.ts'
import { allocatorStrandedRatio } from '../../metrics/process.ts'
import type { FitHolder, GpuRoom } from '../../model/fit.ts'
import type { GpuRow, MigRow, ProcessRow } from '../../model/live.ts'
import type { HistorySeries, HistoryView } from '../../store/history-view.ts'
import type { Rows } from '../views.ts'

const DAY_MS = 24 * 3_600_000
const PEAK_OVER_MS = 7 * DAY_MS
/** As long as the detector of idle GPUs waits; less than half a percent is what rounding of the utilisation takes away. */
const IDLE_OVER_MS = 30 * 60_000
const IDLE_RATIO = 0.005
/** Of the half hour so much must have been seen. */
const SEEN_SHARE = 0.9

type Where = { readonly uuid: string; readonly gi: string | undefined }

const isOf = ({ labels }: HistorySeries, { uuid, gi }: Where): boolean => labels['uuid'] === uuid && (labels['gi'] ?? '') === (gi ?? '')
const values = (series: readonly HistorySeries[]): readonly number[] => series.flatMap(({ max }) => max.filter((value) => value !== null))

function peakOf(history: HistoryView, where: Where, now: number): Pick<GpuRoom, 'peak_used_bytes' | 'peak_since_ms'> {
  // The first is of the fast samples, which miss no short peak.
  for (const metric of [gpuMemoryUsedPeakBytes.name, gpuMemoryUsedBytes.name]) {
    const series = history.query({ metric, labels: { uuid: where.uuid }, from: now - PEAK_OVER_MS, to: now, points: 200 }).filter((one) => isOf(one, where))
    const found = values(series)
    if (found.length === 0) continue
    const since = Math.min(...series.flatMap(({ t, max }) => t.filter((_, i) => typeof max[i] === 'number')))
    return { peak_used_bytes: found.reduce((most, value) => Math.max(most, value), 0), peak_since_ms: Math.max(since, now - PEAK_OVER_MS) }
  }
  return {}
}

/** Whether nothing has run for half an hour; undefined: it was not watched that long, or with MIG cannot be determined. */
function isIdle(history: HistoryView, where: Where, now: number): boolean | undefined {
  if (where.gi !== undefined) return undefined
  const series = history.query({ metric: gpuUtilizationRatio.name, labels: { uuid: where.uuid }, from: now - IDLE_OVER_MS, to: now, points: 120 })
  const [own] = series.filter((one) => isOf(one, where))
  if (own === undefined) return undefined
  const seen = own.max.filter((value) => value !== null)
  if (seen.some((value) => value >= IDLE_RATIO)) return false
  return seen.length * own.step_ms >= IDLE_OVER_MS * SEEN_SHARE ? true : undefined
}

function strandedOf(rows: Rows, history: HistoryView | undefined, { uuid, gi }: Where, now: number): Pick<GpuRoom, 'stranded_ratio'> {
  const metric = allocatorStrandedRatio.name
  const past = history === undefined ? [] : values(history.query({ metric, labels: { uuid }, from: now - PEAK_OVER_MS, to: now, points: 50 }))
  const present = rows.allocators
    .filter((row) => row.uuid === uuid && row.gi === gi)
    .flatMap(({ stranded_ratio: ratio }) => (ratio === undefined ? [] : [ratio]))
  const most = Math.max(-1, ...past, ...present)
  return most < 0 ? {} : { stranded_ratio: most }
}

const holderOf = ({ pid, process, container, gpu_memory_bytes: bytes = 0 }: ProcessRow): FitHolder => ({
  pid,
  process,
  ...(container === undefined ? {} : { container }),
  bytes,
})

export function roomsOf(rows: Rows, history: HistoryView | undefined, now: number): readonly GpuRoom[] {
  const room = (gpu: GpuRow, part: GpuRow | MigRow, where: Where): readonly GpuRoom[] => {
    const used = part.memory_used_bytes
    const free = typeof part['memory_free_bytes'] === 'number' ? part['memory_free_bytes'] : undefined
    const total = part.memory_total_bytes ?? (used === undefined || free === undefined ? undefined : used + free)
    if (total === undefined) return []
    const reserved = part.memory_total_bytes !== undefined && typeof part['memory_reserved_bytes'] === 'number' ? part['memory_reserved_bytes'] : 0
    const capacity = Math.max(0, total - reserved)
    const processes = rows.processes.filter((row) => row.uuid === where.uuid && row.gi === where.gi && (row.gpu_memory_bytes ?? 0) > 0)
    const idle = history !== undefined && processes.length > 0 && isIdle(history, where, now) === true
    // The process that draws a screen does not move with any job.
    const leaves = (row: ProcessRow): boolean => idle && row.type !== 'G'
    const name = `${gpu.name ?? 'GPU'}${where.gi === undefined ? '' : `, MIG instance ${where.gi}`}`
    return [
      {
        name,
        index: gpu.index,
        uuid: where.uuid,
        ...(where.gi === undefined ? {} : { gi: where.gi }),
        capacity_bytes: capacity,
        ...(used === undefined ? {} : { free_bytes: Math.max(0, Math.min(capacity - used, free ?? Infinity)) }),
        ...(history === undefined ? {} : peakOf(history, where, now)),
        ...(idle ? { idle_holders: processes.filter(leaves).map(holderOf) } : {}),
        holders: processes.filter((row) => !leaves(row)).map(holderOf),
        ...strandedOf(rows, history, where, now),
      },
    ]
  }
  return rows.gpus.flatMap((gpu) => {
    const { uuid, mig = [] } = gpu
    // A card that is split has nothing left for a program that wants the whole.
    return mig.length === 0 ? room(gpu, gpu, { uuid, gi: undefined }) : mig.flatMap((part) => room(gpu, part, { uuid, gi: part.gi }))
  })
}
