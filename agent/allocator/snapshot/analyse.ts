// Where the memory of a snapshot is, how fragmented, who holds it, and what a request would meet.
import type { Remedy } from '../../model/fault.ts'
import { adviceFor, verdictOf } from './advice.ts'
import { placeFrom, type Place } from './frames.ts'
import type { AllocatorSettings, ProbeOom, Segment, Snapshot } from './model.ts'
import { poolsOf, total, type MemoryFigures, type PoolFigures } from './pools.ts'
import { answerRequest, type RequestAnswer } from './request.ts'
import { requestVerdict, unknowns } from './request-text.ts'
import { roundRequest, rulesOf, type Rules } from './rules.ts'
import { sitesOf, type Ranked, type Sites } from './sites.ts'

export type FreeBelow = { readonly below_bytes: number; readonly bytes: number; readonly ratio: number }
export type Internal = { readonly active_bytes: number; readonly requested_bytes: number; readonly waste_bytes: number; readonly waste_ratio: number }

export type DeviceAnalysis = MemoryFigures & {
  readonly device: number
  /** Free and not returnable, of what is reserved. Absent where the file does not say. */
  readonly stranded_ratio?: number
  /** The part of it in segments that are not expandable: what expandable segments would avoid. */
  readonly stranded_native_ratio?: number
  /** Rounding, and remainders too small to split off. Absent in files without requested sizes. */
  readonly internal?: Internal
  /** How much of the free bytes is in blocks smaller than this; the last figure is the request's, if one was asked. */
  readonly free_below: readonly FreeBelow[]
  readonly pools: readonly PoolFigures[]
  readonly live: Sites
  readonly verdict: string
  readonly remedies: readonly Remedy[]
}

export type LastOom = Place & {
  readonly device: number
  readonly rounded_request_bytes: number
  readonly device_free_bytes?: number
  readonly time_ms?: number
}

export type Settings = {
  readonly text?: string
  readonly expandable_segments?: boolean
  readonly max_split_bytes?: number
  readonly roundup_power2_divisions?: readonly number[]
}

export type Analysis = {
  readonly format: Snapshot['format']
  /** As the file has them; what it lacks is absent. */
  readonly settings?: Settings
  /** By the settings, or else by what the segments are. */
  readonly expandable_segments: boolean
  readonly devices: readonly DeviceAnalysis[]
  readonly trace?: { readonly entries: number; readonly last_oom?: LastOom }
  readonly request?: RequestAnswer & { readonly verdict: string }
  /** What the file does not say. */
  readonly unknown: readonly string[]
  readonly notes: readonly string[]
}

export type Question = { readonly requestBytes?: number; readonly deviceFreeBytes?: number; readonly device?: number; readonly top?: number }

/** What the picture needs beside the figures. */
export type Analysed = { readonly analysis: Analysis; readonly rules: Rules; readonly rankOf: ReadonlyMap<number, Ranked['rankOf']> }

const MIB = 2 ** 20
const FREE_BELOW = [MIB, 10 * MIB, 100 * MIB, 1024 * MIB]
const DEFAULT_TOP = 10

function internalOf(segments: readonly Segment[], oom: ProbeOom | undefined, pools: readonly PoolFigures[]): Internal | undefined {
  let [active, requested] = [0, 0]
  for (const { blocks } of segments) {
    for (const { state, bytes, requestedBytes } of blocks) {
      if (state === 'free' || requestedBytes === undefined) continue
      active += bytes
      requested += Math.min(bytes, requestedBytes)
    }
  }
  if (oom?.requestedBytes !== undefined) {
    active = pools.reduce((sum, pool) => sum + pool.allocated_bytes + pool.pending_bytes, 0)
    requested = Math.min(active, oom.requestedBytes)
  }
  if (active === 0) return undefined
  return { active_bytes: active, requested_bytes: requested, waste_bytes: active - requested, waste_ratio: (active - requested) / active }
}

function freeBelow(segments: readonly Segment[], bounds: readonly number[]): readonly FreeBelow[] {
  const sums = bounds.map(() => 0)
  let free = 0
  for (const { blocks } of segments) {
    for (const { state, bytes } of blocks) {
      if (state !== 'free') continue
      free += bytes
      bounds.forEach((bound, i) => {
        if (bytes < bound) sums[i] = (sums[i] ?? 0) + bytes
      })
    }
  }
  return free === 0 ? [] : bounds.map((below, i) => ({ below_bytes: below, bytes: sums[i] ?? 0, ratio: (sums[i] ?? 0) / free }))
}

function strandedRatios(figures: MemoryFigures, pools: readonly PoolFigures[]): Pick<DeviceAnalysis, 'stranded_ratio' | 'stranded_native_ratio'> {
  if (figures.reserved_bytes === 0) return {}
  const native = pools.filter((pool) => !pool.expandable)
  const sum = (rows: readonly PoolFigures[]): number | undefined =>
    rows.some((row) => row.stranded_bytes === undefined) ? undefined : rows.reduce((all, row) => all + (row.stranded_bytes ?? 0), 0)
  const [all, ofNative] = [figures.stranded_bytes, sum(native)]
  return {
    ...(all === undefined ? {} : { stranded_ratio: all / figures.reserved_bytes }),
    ...(ofNative === undefined ? {} : { stranded_native_ratio: ofNative / figures.reserved_bytes }),
  }
}

const settingsShown = ({ text, expandable, maxSplitBytes, roundupDivisions }: AllocatorSettings): Settings => ({
  ...(text === undefined ? {} : { text }),
  ...(expandable === undefined ? {} : { expandable_segments: expandable }),
  ...(maxSplitBytes === undefined ? {} : { max_split_bytes: maxSplitBytes }),
  ...(roundupDivisions === undefined ? {} : { roundup_power2_divisions: roundupDivisions }),
})

function lastOomOf(snapshot: Snapshot): LastOom | undefined {
  const oom = snapshot.trace?.lastOom
  if (oom === undefined) return undefined
  return {
    device: oom.device,
    rounded_request_bytes: oom.requestBytes,
    ...(oom.deviceFreeBytes === undefined ? {} : { device_free_bytes: oom.deviceFreeBytes }),
    ...(oom.timeMs === undefined ? {} : { time_ms: oom.timeMs }),
    ...placeFrom(oom.frames ?? []),
  }
}

/** The question that was asked, or the one that failed: a snapshot is mostly taken because of an out-of-memory error. */
function questionOf(
  snapshot: Snapshot,
  asked: Question,
): { readonly bytes: number; readonly device?: number; readonly stream?: string; readonly free?: number; readonly freeFrom: 'flag' | 'error' } | undefined {
  const { requestBytes, deviceFreeBytes, device } = asked
  const failed = snapshot.trace?.lastOom ?? snapshot.oom
  const bytes = requestBytes ?? failed?.requestBytes
  if (bytes === undefined) return undefined
  const ofFailure = requestBytes === undefined ? failed : undefined
  // The free memory of the probe's message belongs to the same state as the rest of the message.
  const free = deviceFreeBytes ?? ofFailure?.deviceFreeBytes ?? snapshot.oom?.deviceFreeBytes
  const where = device ?? ofFailure?.device
  const stream = ofFailure !== undefined && 'stream' in ofFailure ? ofFailure.stream : undefined
  const freeFrom = deviceFreeBytes === undefined ? 'error' : 'flag'
  return {
    bytes,
    freeFrom,
    ...(where === undefined ? {} : { device: where }),
    ...(stream === undefined ? {} : { stream }),
    ...(free === undefined ? {} : { free }),
  }
}

export function analyse(snapshot: Snapshot, asked: Question = {}): Analysed {
  const expandableSeen = [...snapshot.segments, ...(snapshot.pools ?? [])].some((one) => one.expandable)
  const rules = rulesOf(snapshot.settings, expandableSeen)
  const pools = poolsOf(snapshot, rules)
  const segmentsOf = Map.groupBy(snapshot.segments, (segment) => segment.device)
  const question = questionOf(snapshot, asked)
  const bounds = question === undefined ? FREE_BELOW : [...FREE_BELOW, roundRequest(question.bytes, rules)]
  const rankOf = new Map<number, Ranked['rankOf']>()

  const byDevice = [...Map.groupBy(pools, (pool) => pool.device)].toSorted(([a], [b]) => a - b)
  const analysed = byDevice.map(([device, mine]): DeviceAnalysis => {
    const segments = segmentsOf.get(device) ?? []
    const figures = total(mine)
    const live = sitesOf(segments, asked.top ?? DEFAULT_TOP)
    rankOf.set(device, live.rankOf)
    const internal = internalOf(segments, snapshot.oom?.device === device ? snapshot.oom : undefined, mine)
    const facts = {
      device,
      ...figures,
      ...strandedRatios(figures, mine),
      ...(internal === undefined ? {} : { internal }),
      free_below: freeBelow(segments, bounds),
      pools: mine,
      live: live.sites,
    }
    return { ...facts, verdict: verdictOf(facts), remedies: adviceFor(facts, rules, snapshot.format) }
  })
  // Of several devices the one that holds most is meant, unless one is chosen.
  const busiest = analysed.toSorted((a, b) => b.reserved_bytes - a.reserved_bytes)[0]?.device ?? 0
  const lastOom = lastOomOf(snapshot)
  const request =
    question === undefined
      ? undefined
      : answerRequest(snapshot.segments, pools, rules, {
          bytes: question.bytes,
          device: question.device ?? busiest,
          deviceFreeFrom: question.freeFrom,
          ...(question.stream === undefined ? {} : { stream: question.stream }),
          ...(question.free === undefined ? {} : { deviceFreeBytes: question.free }),
        })
  const analysis: Analysis = {
    format: snapshot.format,
    ...(snapshot.settings === undefined ? {} : { settings: settingsShown(snapshot.settings) }),
    expandable_segments: rules.expandable,
    devices: analysed,
    ...(snapshot.trace === undefined ? {} : { trace: { entries: snapshot.trace.entries, ...(lastOom === undefined ? {} : { last_oom: lastOom }) } }),
    ...(request === undefined ? {} : { request: { ...request, verdict: requestVerdict(request) } }),
    unknown: unknowns(snapshot, request),
    notes: snapshot.notes,
  }
  return { analysis, rules, rankOf }
}
