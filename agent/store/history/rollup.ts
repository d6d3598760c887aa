// Minutes and hours: the least, mean and greatest value of each step and how many readings it had, per series.
import { createReader, createWriter } from './bits.ts'
import { MAX_STEPS, decodePresence, encodePresence } from './block.ts'
import { decodeColumn, encodeColumn } from './column.ts'

/** The mean is kept as its place between least and greatest, in this many parts: never outside them, off by at most 1/131070 of their distance. */
const MEAN_PARTS = 65_535

/** Steps in ascending order; the first `length` entries hold. */
export type Rollup = {
  length: number
  readonly at: Float64Array
  readonly min: Float64Array
  readonly max: Float64Array
  readonly mean: Float64Array
  readonly count: Float64Array
}

export function createRollup(capacity = MAX_STEPS): Rollup {
  const column = (): Float64Array => new Float64Array(capacity)
  return { length: 0, at: column(), min: column(), max: column(), mean: column(), count: column() }
}

function put(into: Rollup, at: number, min: number, max: number, mean: number, count: number): void {
  const i = into.length++
  into.at[i] = at
  into.min[i] = min
  into.max[i] = max
  into.mean[i] = mean
  into.count[i] = count
}

/** Adds up one series' seconds into steps of `stepSeconds`, numbered from `origin` (Unix s, a multiple of the step). */
export function rollSeconds(into: Rollup, values: Float64Array, start: number, length: number, origin: number, stepSeconds: number): void {
  into.length = 0
  let step = -1
  let min = 0
  let max = 0
  let sum = 0
  let count = 0
  for (let i = 0; i < length; i++) {
    const value = values[i] ?? Number.NaN
    if (Number.isNaN(value)) continue
    const at = Math.floor((start + i - origin) / stepSeconds)
    if (at !== step) {
      if (count > 0) put(into, step, min, max, sum / count, count)
      step = at
      min = max = value
      sum = count = 0
    }
    if (value < min) min = value
    if (value > max) max = value
    sum += value
    count++
  }
  if (count > 0) put(into, step, min, max, sum / count, count)
}

const entry = (from: Rollup, column: 'at' | 'min' | 'max' | 'mean' | 'count', i: number): number => from[column][i] ?? 0

/** Merges two rollups of one series; a step that both have becomes one. */
export function mergeRollups(into: Rollup, a: Rollup, b: Rollup): void {
  into.length = 0
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const atA = i < a.length ? entry(a, 'at', i) : Number.POSITIVE_INFINITY
    const atB = j < b.length ? entry(b, 'at', j) : Number.POSITIVE_INFINITY
    if (atA === atB) {
      const [countA, countB] = [entry(a, 'count', i), entry(b, 'count', j)]
      const count = countA + countB
      const [min, max] = [Math.min(entry(a, 'min', i), entry(b, 'min', j)), Math.max(entry(a, 'max', i), entry(b, 'max', j))]
      put(into, atA, min, max, entry(a, 'mean', i) * (countA / count) + entry(b, 'mean', j) * (countB / count), count)
      i++
      j++
    } else if (atA < atB) {
      put(into, atA, entry(a, 'min', i), entry(a, 'max', i), entry(a, 'mean', i), entry(a, 'count', i))
      i++
    } else {
      put(into, atB, entry(b, 'min', j), entry(b, 'max', j), entry(b, 'mean', j), entry(b, 'count', j))
      j++
    }
  }
}

const out = createWriter()
const parts = new Float64Array(MAX_STEPS)
// Greatest values are written as distances from the least where those are exact decimals, else as they are.
const DISTANCES = 0
const GREATEST = 1

/** The greatest value from the least and the distance; rounding takes back what adding decimals in binary brings in. */
function restore(least: number, distance: number): number {
  if (distance === 0) return least
  const sum = least + distance
  return Math.abs(sum) < 1e9 ? Math.round(sum * 1e6) / 1e6 : sum
}

export function encodeRollup(rollup: Rollup): Uint8Array {
  const { length, min, max, mean } = rollup
  out.reset()
  encodePresence(out, rollup.at, length)
  encodeColumn(out, rollup.count, length)
  encodeColumn(out, min, length)
  let exact = true
  for (let i = 0; i < length && exact; i++) {
    const [least, greatest] = [min[i] ?? 0, max[i] ?? 0]
    const distance = Math.round((greatest - least) * 1e6) / 1e6
    parts[i] = distance
    exact = restore(least, distance) === greatest
  }
  out.byte(exact ? DISTANCES : GREATEST)
  encodeColumn(out, exact ? parts : max, length)
  let spread = 0
  for (let i = 0; i < length; i++) {
    const [least, greatest] = [min[i] ?? 0, max[i] ?? 0]
    if (greatest <= least) continue
    const share = ((mean[i] ?? 0) - least) / (greatest - least)
    // Not finite: sums or distances beyond what a double holds.
    parts[spread++] = Number.isFinite(share) ? Math.round(Math.max(0, Math.min(1, share)) * MEAN_PARTS) : MEAN_PARTS >> 1
  }
  if (spread > 0) encodeColumn(out, parts, spread)
  return out.take()
}

export function decodeRollup(bytes: Uint8Array, into: Rollup): void {
  const from = createReader(bytes)
  const length = decodePresence(from, into.at)
  into.length = length
  if (length === 0) return
  decodeColumn(from, into.count, length)
  decodeColumn(from, into.min, length)
  const form = from.byte()
  decodeColumn(from, into.max, length)
  let spread = 0
  for (let i = 0; i < length; i++) {
    const least = into.min[i] ?? 0
    if (form === DISTANCES) into.max[i] = restore(least, into.max[i] ?? 0)
    if ((into.max[i] ?? 0) > least) spread++
  }
  if (spread > 0) decodeColumn(from, parts, spread)
  for (let i = 0, n = 0; i < length; i++) {
    const [least, greatest] = [into.min[i] ?? 0, into.max[i] ?? 0]
    // Weighted, not least + share * distance: the distance of two doubles can overflow.
    const share = greatest > least ? (parts[n++] ?? 0) / MEAN_PARTS : 0
    into.mean[i] = greatest > least ? Math.min(greatest, Math.max(least, least * (1 - share) + greatest * share)) : least
  }
}
