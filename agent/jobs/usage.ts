// What one run used of its GPUs: time held, its share of the time in which kernels ran, energy, memory peaks. Gaps in the readings count as nothing.
import type { RunGpu } from '../model/job.ts'

/** Where a process sits: a GPU, or an instance of it. */
export type Seat = { readonly uuid: string; readonly gpu: string; readonly gi?: string; readonly ci?: string }
/** What was last read of a GPU. `own`: the part of its utilization that is the run's, where the driver says so. */
export type GpuNow = { readonly ratio?: number; readonly watts?: number; readonly own?: number; readonly total?: number }

type Used = {
  readonly seat: Seat
  /** Unix ms at which it was last seen holding memory there. */
  lastT: number
  heldMs: number
  shareMs: number
  activeMs: number
  idleMs: number
  joules: number
  /** How much of the time held has figures. */
  ratioMs: number
  wattsMs: number
  peakBytes: number
  totalBytes: number | undefined
  bytes: number
}

/** Readings come each second; more than this between two is a gap, in which nobody knows. */
const MAX_STEP_MS = 5_000

export type Usage = {
  /** The run holds `bytes` on this seat at `t`, as one of `holders`. */
  readonly held: (key: string, seat: Seat, t: number, bytes: number, holders: number, now: GpuNow | undefined) => void
  /** Memory that it held on all its GPUs together, at most. */
  readonly memoryPeak: () => number | undefined
  readonly rows: () => readonly RunGpu[]
  readonly seats: () => readonly Seat[]
  readonly totals: () => { readonly active: number; readonly idle: number; readonly held: number; readonly joules: number | undefined }
  /** GPU seconds held since `t`: what a crash throws away that saved its state then. */
  readonly since: (t: number, end: number) => number
  readonly isEmpty: () => boolean
  readonly holds: (uuid: string) => boolean
}

const round = (ms: number): number => Math.round(ms) / 1_000

export function createUsage(before: readonly RunGpu[] = [], peakBefore?: number): Usage {
  const seats = new Map<string, Used>()
  let peak = peakBefore ?? 0
  for (const row of before) {
    const ms = row.held_seconds * 1_000
    seats.set(seatKey(row), {
      seat: { uuid: row.uuid, gpu: row.gpu, ...(row.gi === undefined ? {} : { gi: row.gi }), ...(row.ci === undefined ? {} : { ci: row.ci }) },
      lastT: 0,
      heldMs: ms,
      shareMs: ms * row.share,
      activeMs: (row.active_seconds ?? 0) * 1_000,
      idleMs: (row.idle_seconds ?? 0) * 1_000,
      joules: row.energy_joules ?? 0,
      ratioMs: row.active_seconds === undefined ? 0 : ms,
      wattsMs: row.energy_joules === undefined ? 0 : ms,
      peakBytes: row.memory_peak_bytes ?? 0,
      totalBytes: row.memory_total_bytes,
      bytes: 0,
    })
  }
  return {
    held(key, seat, t, bytes, holders, now) {
      let used = seats.get(key)
      if (used === undefined) {
        used = {
          seat,
          lastT: t,
          heldMs: 0,
          shareMs: 0,
          activeMs: 0,
          idleMs: 0,
          joules: 0,
          ratioMs: 0,
          wattsMs: 0,
          peakBytes: 0,
          totalBytes: undefined,
          bytes: 0,
        }
        seats.set(key, used)
      }
      const step = t - used.lastT
      used.lastT = t
      used.bytes = bytes
      if (now?.total !== undefined && seat.gi === undefined) used.totalBytes = now.total
      used.peakBytes = Math.max(used.peakBytes, bytes)
      let sum = 0
      for (const other of seats.values()) if (t - other.lastT <= MAX_STEP_MS) sum += other.bytes
      peak = Math.max(peak, sum)
      if (step <= 0 || step > MAX_STEP_MS) return
      const share = 1 / Math.max(1, holders)
      used.heldMs += step
      used.shareMs += step * share
      if (now?.ratio !== undefined && seat.gi === undefined) {
        used.activeMs += step * (now.own ?? share * now.ratio)
        used.idleMs += step * share * (1 - now.ratio)
        used.ratioMs += step
      }
      if (now?.watts !== undefined && seat.gi === undefined) {
        used.joules += (step / 1_000) * share * now.watts
        used.wattsMs += step
      }
    },
    memoryPeak: () => (peak === 0 ? undefined : peak),
    rows: () =>
      [...seats.values()].map(({ seat, heldMs, shareMs, activeMs, idleMs, joules, ratioMs, wattsMs, peakBytes, totalBytes }) => ({
        ...seat,
        share: heldMs === 0 ? 1 : Math.round((shareMs / heldMs) * 100) / 100,
        held_seconds: round(heldMs),
        ...(ratioMs === 0 ? {} : { active_seconds: round(activeMs), idle_seconds: round(idleMs) }),
        ...(wattsMs === 0 ? {} : { energy_joules: Math.round(joules) }),
        ...(peakBytes === 0 ? {} : { memory_peak_bytes: peakBytes }),
        ...(totalBytes === undefined ? {} : { memory_total_bytes: totalBytes }),
      })),
    seats: () => Array.from(seats.values(), ({ seat }) => seat),
    totals() {
      const sum = { active: 0, idle: 0, held: 0, joules: 0 }
      let hasEnergy = false
      for (const { shareMs, activeMs, idleMs, joules, wattsMs } of seats.values()) {
        sum.active += activeMs / 1_000
        sum.idle += idleMs / 1_000
        sum.held += shareMs / 1_000
        sum.joules += joules
        hasEnergy ||= wattsMs > 0
      }
      return { ...sum, joules: hasEnergy ? sum.joules : undefined }
    },
    since(t, end) {
      let lost = 0
      for (const { shareMs, heldMs } of seats.values()) lost += heldMs === 0 ? 0 : Math.min(heldMs, Math.max(0, end - t)) * (shareMs / heldMs)
      return lost / 1_000
    },
    isEmpty: () => seats.size === 0,
    holds: (uuid) => [...seats.values()].some(({ seat }) => seat.uuid === uuid),
  }
}

type Place = Pick<Seat, 'uuid' | 'gi' | 'ci'>
/** Readings bring the same seats each second. */
const seatKeys = new WeakMap<Place, string>()
export function seatKey(seat: Place): string {
  let key = seatKeys.get(seat)
  if (key === undefined) {
    const { uuid, gi = '', ci = '' } = seat
    seatKeys.set(seat, (key = `${uuid}|${gi}|${ci}`))
  }
  return key
}
