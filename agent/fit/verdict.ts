// Whether an estimate fits a GPU: now, when those that idle leave, at the peak of the last days, or never.
import { bytesText } from '../text/bytes.ts'
import type { FitEstimate, FitHolder, FitVerdict, GpuAnswer, GpuRoom, Range } from '../model/fit.ts'
import { firstOf } from '../text/grammar.ts'

export type Judged = Omit<GpuAnswer, 'suggestions'>

const held = (holders: readonly FitHolder[] | undefined): number => (holders ?? []).reduce((sum, { bytes }) => sum + bytes, 0)

export function holderNames(holders: readonly FitHolder[]): string {
  return firstOf(
    holders.map(({ pid, process, container, bytes }) => `${container ?? process} (pid ${pid}, ${bytesText(bytes)})`),
    3,
  )
}

/** Where memory has lain stranded on this GPU before, it may again: that widens the estimate to above. */
export function widened({ low_bytes, likely_bytes, high_bytes }: Range, { stranded_ratio: stranded }: GpuRoom): Range {
  return { low_bytes, likely_bytes, high_bytes: Math.max(high_bytes, Math.round(likely_bytes * (1 + Math.min(1, stranded ?? 0)))) }
}

type Found = { readonly verdict: FitVerdict; readonly line: number; readonly why: string }

/** `needed` is what must be free: the estimate, or what the engine takes by itself. */
function find(needed: number, estimated: number, room: GpuRoom): Found {
  const { capacity_bytes: capacity, free_bytes: free, peak_used_bytes: peak, idle_holders: idle = [], holders = [] } = room
  if (estimated > capacity)
    return { verdict: 'never', line: capacity, why: `needs ${bytesText(estimated)}, and the card has ${bytesText(capacity)} for programs` }
  if (free === undefined) return { verdict: 'fits', line: capacity, why: `${bytesText(capacity - estimated)} would be left of an empty card` }
  if (needed <= free) {
    if (peak === undefined || needed <= capacity - peak)
      return { verdict: 'fits', line: Math.min(free, capacity - (peak ?? 0)), why: `${bytesText(free - needed)} would be left` }
    return {
      verdict: 'fits_not_at_peak',
      line: free,
      why: `fits into the ${bytesText(free)} that are free, but not when the others use as much as they did in the last days: ${bytesText(needed - capacity + peak)} would be missing`,
    }
  }
  const afterIdle = free + held(idle)
  if (needed <= afterIdle) return { verdict: 'fits_when_idle_leave', line: afterIdle, why: `fits when these leave, which do nothing: ${holderNames(idle)}` }
  const others = [...idle, ...holders]
  const who = others.length === 0 ? 'whoever holds memory leaves' : `these leave: ${holderNames(others)}`
  const part = needed > capacity ? `the share that it takes is larger than the card` : `${bytesText(needed - free)} are missing now; fits when ${who}`
  return { verdict: 'fits_when_empty', line: capacity, why: part }
}

export function judge({ total, unknown, settings }: FitEstimate, room: GpuRoom): Judged {
  const range = widened(total, room)
  const { capacity_bytes: capacity, free_bytes: free, peak_used_bytes: peak } = room
  const claim = settings.engine === 'vllm' ? Math.floor(settings.utilization * capacity) : undefined
  const estimated = range.likely_bytes
  const headroom = {
    ...(free === undefined ? {} : { now_bytes: free - estimated }),
    ...(free === undefined || peak === undefined ? {} : { at_peak_bytes: capacity - peak - estimated }),
    empty_bytes: capacity - estimated,
  }
  const base = { gpu: room, headroom, ...(claim === undefined ? {} : { claim_bytes: claim }) }
  if (claim !== undefined && estimated > claim) {
    const why = `needs ${bytesText(estimated)}, and vLLM takes ${bytesText(claim)} of the card: raise utilization, or make it smaller`
    return { ...base, verdict: 'never', tight: range.low_bytes <= claim, why }
  }
  const { verdict, line, why } = find(claim ?? estimated, estimated, room)
  // A lower bound that is too big already is a no; one that is not says nothing.
  if (unknown.length > 0 && verdict !== 'never')
    return { ...base, verdict: 'unknown', tight: false, why: `${bytesText(estimated)} at the least: ${unknown.join('; ')}` }
  const limit = claim === undefined ? line : claim
  return { ...base, verdict, why, tight: verdict === 'never' ? range.low_bytes <= limit : range.high_bytes > limit }
}

export const fitsNow = ({ verdict }: Pick<Judged, 'verdict'>): boolean => verdict === 'fits' || verdict === 'fits_not_at_peak'
