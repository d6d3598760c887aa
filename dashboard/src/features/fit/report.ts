// An answer of the fit, checked at the border and taken apart for its page: the bar of parts, each GPU's bar, what would make it fit. Pure.
import type { FitReport, FitSuggestion, GpuAnswer, GpuRoom, Range } from '../../../../agent/model/fit.ts'
import { isObject } from '../../parts/connection/api.ts'

const isRange = (value: unknown): value is Range =>
  isObject(value) && ['low_bytes', 'likely_bytes', 'high_bytes'].every((key) => typeof value[key] === 'number')
const isRoom = (value: unknown): value is GpuRoom => isObject(value) && typeof value['name'] === 'string' && typeof value['capacity_bytes'] === 'number'
const isAnswer = (value: unknown): value is GpuAnswer =>
  isObject(value) && isRoom(value['gpu']) && isObject(value['headroom']) && typeof value['verdict'] === 'string' && Array.isArray(value['suggestions'])
const isFit = (value: unknown): value is FitReport =>
  isObject(value) &&
  value['version'] === 1 &&
  isObject(value['estimate']) &&
  isObject(value['estimate']['settings']) &&
  isRange(value['estimate']['total']) &&
  Array.isArray(value['estimate']['parts']) &&
  value['estimate']['parts'].every(isRange) &&
  isObject(value['fits']) &&
  Array.isArray(value['gpus']) &&
  value['gpus'].every(isAnswer)

export function parseFit(value: unknown): FitReport {
  if (!isFit(value)) throw new Error(`fit: must be an answer, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return value
}
export function parseRooms(value: unknown): readonly GpuRoom[] {
  if (!Array.isArray(value) || !value.every(isRoom)) throw new Error(`fit: must be a list of GPUs, not ${JSON.stringify(value)?.slice(0, 80)}`)
  return value
}

/** A stretch of a GPU's bar, in bytes from its left end; `over`: it lies beyond the card. */
export type Stretch = { readonly kind: 'held' | 'idle' | 'claim' | 'need' | 'perhaps'; readonly from: number; readonly to: number; readonly over?: true }

const sum = (holders: GpuRoom['holders']): number => (holders ?? []).reduce((all, { bytes }) => all + bytes, 0)

/** Who is on the card, and behind them what the model would take. */
export function stretchesOf(room: GpuRoom, total?: Range, claim?: number): readonly Stretch[] {
  const { capacity_bytes: capacity, free_bytes: free, idle_holders: idle } = room
  const used = free === undefined ? 0 : capacity - free
  const resting = Math.min(used, sum(idle))
  const behind: readonly Stretch[] =
    total === undefined
      ? []
      : [
          ...(claim === undefined ? [] : [{ kind: 'claim' as const, from: used, to: used + claim }]),
          { kind: 'need', from: used, to: used + total.likely_bytes },
          { kind: 'perhaps', from: used + total.likely_bytes, to: used + total.high_bytes },
        ]
  const stretches: readonly Stretch[] = [{ kind: 'held', from: 0, to: used - resting }, { kind: 'idle', from: used - resting, to: used }, ...behind]
  const parted = stretches.flatMap((one): readonly Stretch[] => [
    { ...one, to: Math.min(one.to, capacity) },
    { ...one, from: Math.max(one.from, capacity), over: true },
  ])
  return parted.filter(({ from, to }) => to > from)
}

/** How far the bars of all GPUs go: to the largest card, and on to where what does not fit ends, as far as the cards stay visible. */
export function scaleOf(list: readonly GpuRoom[], total?: Range): number {
  const largest = Math.max(1, ...list.map(({ capacity_bytes: capacity }) => capacity))
  if (total === undefined) return largest
  const ends = list.map(({ capacity_bytes: capacity, free_bytes: free = capacity }) => capacity - free + total.likely_bytes)
  return Math.min(1.8 * largest, 1.05 * Math.max(largest, ...ends))
}

/** What would be left: where the engine takes more than the model needs, without that too. */
export function leftOf({ claim_bytes: claim, headroom, gpu }: GpuAnswer, headroomBytes: number | undefined): number | undefined {
  if (headroomBytes === undefined || claim === undefined) return headroomBytes
  const needed = gpu.capacity_bytes - headroom.empty_bytes
  return headroomBytes - Math.max(0, claim - needed)
}

const STEPS = [1, 2, 4, 5, 10]

/** Round places of an axis that ends at `most`, at most `count` of them beside zero; none so near the end that its figure would not fit. */
export function ticksOf(most: number, count: number): readonly number[] {
  const rough = most / count
  const power = 2 ** 30 * 10 ** Math.floor(Math.log10(rough / 2 ** 30))
  const step = (STEPS.find((one) => one * power >= rough) ?? 10) * power
  return Array.from({ length: Math.floor((0.98 * most) / step) + 1 }, (_, i) => i * step)
}

export type SuggestionGroup = { readonly gpus: readonly GpuAnswer[]; readonly suggestions: readonly FitSuggestion[] }

/** GPUs that are told the same are told it once. */
export function suggestionGroups(gpus: readonly GpuAnswer[]): readonly SuggestionGroup[] {
  const reported = gpus.filter(({ suggestions }) => suggestions.length > 0)
  return [...Map.groupBy(reported, ({ suggestions }) => JSON.stringify(suggestions)).values()].map((same) => ({
    gpus: same,
    suggestions: same[0]?.suggestions ?? [],
  }))
}
