// What one run used of its GPUs: time held, its share of the time in which kernels ran, energy, memory peaks. Times and energy are the ledger's, so that both say the same.
import type { RunGpu } from '../model/job.ts'
import type { Use } from '../model/ledger.ts'

/** Where a process sits: a GPU, or an instance of it. */
export type Seat = { readonly uuid: string; readonly gpu: string; readonly gi?: string; readonly ci?: string }
/** What was last read of a GPU. */
export type GpuNow = { readonly ratio?: number; readonly watts?: number; readonly total?: number }
/** Of what the ledger counted for one look. `ms`: since the look before. `seatMs`: the run's share of the time in which the seat was held. */
export type Counted = { readonly ms: number; readonly seatMs: number; readonly hasActive: boolean; readonly hasEnergy: boolean }

type Used = {
  readonly seat: Seat
  /** Unix ms at which it was last seen holding memory there. */
  lastT: number
  /** Up to when the ledger's parts are in the sums. */
  countedTo: number
  heldMs: number
  shareMs: number
  activeMs: number
  idleMs: number
  joules: number
  mibSeconds: number
  hasActive: boolean
  hasEnergy: boolean
  peakBytes: number
  totalBytes: number | undefined
  bytes: number
}

/** Readings come each second: what was held longer ago is held no more. */
const HOLDS_MS = 5_000
const MIB = 2 ** 20

export type Usage = {
  /** The run holds `bytes` on this seat at `t`; `total`: what the GPU has. */
  readonly held: (seat: Seat, t: number, bytes: number, total: number | undefined) => void
  /** What the ledger counted of it on this seat up to `t`. */
  readonly count: (seat: Seat, t: number, use: Use, of: Counted) => void
  /** Memory that it held on all its GPUs together, at most. */
  readonly memoryPeak: () => number | undefined
  readonly rows: () => readonly RunGpu[]
  readonly seats: () => readonly Seat[]
  readonly totals: () => { readonly active: number; readonly idle: number; readonly held: number; readonly joules: number | undefined }
  /** GPU seconds held since `t`: what a crash throws away that saved its state then. */
  readonly since: (t: number, end: number) => number
  /** Up to when the ledger's parts are in it; undefined before the first. */
  readonly countedTo: () => number | undefined
  readonly isEmpty: () => boolean
  readonly holds: (uuid: string) => boolean
}

const round = (ms: number): number => Math.round(ms) / 1_000

const unused = (seat: Seat, countedTo: number): Used => ({
  seat,
  lastT: 0,
  countedTo,
  heldMs: 0,
  shareMs: 0,
  activeMs: 0,
  idleMs: 0,
  joules: 0,
  mibSeconds: 0,
  hasActive: false,
  hasEnergy: false,
  peakBytes: 0,
  totalBytes: undefined,
  bytes: 0,
})

/** `before`: of a run that goes on after a restart of the agent, with its figures as they were, the ledger's parts up to `countedTo` in them. */
export function createUsage(before: readonly RunGpu[] = [], peakBefore?: number, countedTo = Number.NEGATIVE_INFINITY): Usage {
  const seats = new Map<string, Used>()
  let peak = peakBefore ?? 0
  for (const row of before) {
    const ms = row.held_seconds * 1_000
    const { uuid, gpu, gi, ci } = row
    seats.set(seatKey(row), {
      ...unused({ uuid, gpu, ...(gi === undefined ? {} : { gi }), ...(ci === undefined ? {} : { ci }) }, countedTo),
      heldMs: ms,
      shareMs: ms * row.share,
      activeMs: (row.active_seconds ?? 0) * 1_000,
      idleMs: (row.idle_seconds ?? 0) * 1_000,
      joules: row.energy_joules ?? 0,
      mibSeconds: (row.memory_byte_seconds ?? 0) / MIB,
      hasActive: row.active_seconds !== undefined,
      hasEnergy: row.energy_joules !== undefined,
      peakBytes: row.memory_peak_bytes ?? 0,
      totalBytes: row.memory_total_bytes,
    })
  }
  const usedOf = (seat: Seat): Used => {
    const key = seatKey(seat)
    let used = seats.get(key)
    if (used === undefined) seats.set(key, (used = unused(seat, Number.NEGATIVE_INFINITY)))
    return used
  }
  return {
    held(seat, t, bytes, total) {
      const used = usedOf(seat)
      used.lastT = t
      used.bytes = bytes
      if (total !== undefined && seat.gi === undefined) used.totalBytes = total
      used.peakBytes = Math.max(used.peakBytes, bytes)
      let sum = 0
      for (const other of seats.values()) if (t - other.lastT <= HOLDS_MS) sum += other.bytes
      peak = Math.max(peak, sum)
    },
    count(seat, t, use, { ms, seatMs, hasActive, hasEnergy }) {
      const used = usedOf(seat)
      const fresh = Math.min(ms, t - used.countedTo)
      if (fresh <= 0) return
      const part = fresh / ms
      used.countedTo = t
      used.heldMs += part * use.heldMs
      used.shareMs += part * seatMs
      used.activeMs += part * use.activeMs
      used.idleMs += part * use.idleMs
      used.joules += part * use.joules
      used.mibSeconds += part * use.mibSeconds
      used.hasActive ||= hasActive
      used.hasEnergy ||= hasEnergy
    },
    memoryPeak: () => (peak === 0 ? undefined : peak),
    rows: () =>
      [...seats.values()].map(({ seat, heldMs, shareMs, activeMs, idleMs, joules, mibSeconds, hasActive, hasEnergy, peakBytes, totalBytes }) => ({
        ...seat,
        share: heldMs === 0 ? 1 : Math.round((shareMs / heldMs) * 100) / 100,
        held_seconds: round(heldMs),
        ...(!hasActive ? {} : { active_seconds: round(activeMs), idle_seconds: round(idleMs) }),
        ...(!hasEnergy ? {} : { energy_joules: Math.round(joules) }),
        ...(mibSeconds === 0 ? {} : { memory_byte_seconds: Math.round(mibSeconds * MIB) }),
        ...(peakBytes === 0 ? {} : { memory_peak_bytes: peakBytes }),
        ...(totalBytes === undefined ? {} : { memory_total_bytes: totalBytes }),
      })),
    seats: () => Array.from(seats.values(), ({ seat }) => seat),
    totals() {
      const sum = { active: 0, idle: 0, held: 0, joules: 0 }
      let hasEnergy = false
      for (const { shareMs, activeMs, idleMs, joules, hasEnergy: isKnown } of seats.values()) {
        sum.active += activeMs / 1_000
        sum.idle += idleMs / 1_000
        sum.held += shareMs / 1_000
        sum.joules += joules
        hasEnergy ||= isKnown
      }
      return { ...sum, joules: hasEnergy ? sum.joules : undefined }
    },
    since(t, end) {
      let lost = 0
      for (const { shareMs, heldMs } of seats.values()) lost += heldMs === 0 ? 0 : Math.min(heldMs, Math.max(0, end - t)) * (shareMs / heldMs)
      return lost / 1_000
    },
    countedTo() {
      let latest = Number.NEGATIVE_INFINITY
      for (const { countedTo: at } of seats.values()) latest = Math.max(latest, at)
      return Number.isFinite(latest) ? latest : undefined
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
