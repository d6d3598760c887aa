// Straight lines through noisy points: median of the pairwise slopes, its interval, and how sure it is that there is a trend at all.

export type Line = {
  readonly slope: number
  /** 90 % interval of the slope. */
  readonly slopeLow: number
  readonly slopeHigh: number
  /** Kendall's S over its standard deviation; 2.33 and more comes by chance once in a hundred. */
  readonly z: number
  /** Height of the line at a place of x. */
  readonly at: (x: number) => number
  /** The distance from the line that this share of the points keeps. */
  readonly residual: (share: number) => number
}

const Z_90 = 1.645
/** Points that follow each other closely would make any line look sure: the variance grows by (1 + r) / (1 - r), at most nineteenfold. */
const MAX_CORRELATION = 0.9
const LEAST_POINTS = 4

/** Of sorted values, by rank; NaN of none. */
export function quantile(sorted: ArrayLike<number>, share: number): number {
  const last = sorted.length - 1
  return sorted[Math.max(0, Math.min(last, Math.round(share * last)))] ?? Number.NaN
}
export const median = (values: readonly number[]): number => quantile(Float64Array.from(values).sort(), 0.5)

/** Where the value of this rank is once `values` are in order. */
const rankOf = (length: number, share: number): number => Math.max(0, Math.min(length - 1, Math.round(share * (length - 1))))

/**
 * The value that would be at `rank` if those from `first` to `last` were sorted: smaller ones end before it, larger ones behind it. Sorting all of 7,000 slopes for three of them
 * takes ten times as long. (Hoare's selection, the middle of three as pivot.)
 */
function select(values: Float64Array, rank: number, first: number, last: number): number {
  let [low, high] = [first, last]
  while (low < high) {
    const [a, b, c] = [values[low] ?? 0, values[(low + high) >> 1] ?? 0, values[high] ?? 0]
    const pivot = Math.max(Math.min(a, b), Math.min(Math.max(a, b), c))
    let [i, j] = [low, high]
    while (i <= j) {
      let [left, right] = [values[i] ?? 0, values[j] ?? 0]
      while (left < pivot) left = values[++i] ?? 0
      while (right > pivot) right = values[--j] ?? 0
      if (i > j) break
      values[i++] = right
      values[j--] = left
    }
    if (rank <= j) high = j
    else if (rank >= i) low = i
    else break
  }
  return values[rank] ?? Number.NaN
}

/** Kendall's S and all pairwise slopes, in no order. */
function pairs(x: readonly number[], y: readonly number[], n: number): { readonly slopes: Float64Array; readonly s: number } {
  const slopes = new Float64Array((n * (n - 1)) / 2)
  let [count, s] = [0, 0]
  for (let i = 0; i < n; i++) {
    const [xi, yi] = [x[i] ?? 0, y[i] ?? 0]
    for (let j = i + 1; j < n; j++) {
      const dx = (x[j] ?? 0) - xi
      const dy = (y[j] ?? 0) - yi
      if (!(dx > 0)) continue
      slopes[count++] = dy / dx
      s += Math.sign(dy)
    }
  }
  return { slopes: slopes.subarray(0, count), s }
}

/** Lag-1 correlation of the distances from the line. */
function correlation(distances: Float64Array): number {
  let [square, lagged] = [0, 0]
  for (let i = 0; i < distances.length; i++) {
    const here = distances[i] ?? 0
    square += here * here
    lagged += i === 0 ? 0 : here * (distances[i - 1] ?? 0)
  }
  return square > 0 ? Math.min(MAX_CORRELATION, Math.max(0, lagged / square)) : 0
}

/** Theil-Sen line and Kendall's test, x ascending. Undefined for fewer than four points. (Sen 1968; the correlation as in Hamed and Rao 1998.) */
export function fitLine(x: readonly number[], y: readonly number[]): Line | undefined {
  const n = Math.min(x.length, y.length)
  if (n < LEAST_POINTS) return undefined
  const { slopes, s } = pairs(x, y, n)
  if (slopes.length === 0) return undefined
  const last = slopes.length - 1
  const middle = rankOf(slopes.length, 0.5)
  const slope = select(slopes, middle, 0, last)
  const distances = Float64Array.from({ length: n }, (_, i) => (y[i] ?? 0) - slope * (x[i] ?? 0))
  const intercept = quantile(distances.slice().sort(), 0.5)
  for (let i = 0; i < n; i++) distances[i] = (distances[i] ?? 0) - intercept
  const r = correlation(distances)
  const deviation = Math.sqrt(((n * (n - 1) * (2 * n + 5)) / 18) * ((1 + r) / (1 - r)))
  const half = (Z_90 * deviation) / 2 / slopes.length
  let sizes: Float64Array | undefined
  return {
    slope,
    // What is below the median is before it by now, and what is above it behind it.
    slopeLow: select(slopes, rankOf(slopes.length, 0.5 - half), 0, middle),
    slopeHigh: select(slopes, rankOf(slopes.length, 0.5 + half), middle, last),
    z: s === 0 ? 0 : (s - Math.sign(s)) / deviation,
    at: (place) => intercept + slope * place,
    residual: (share) => quantile((sizes ??= distances.map(Math.abs).sort()), share),
  }
}

/** How much of a rise came in its newer half: 0.5 of a straight one, 1 of one that has just begun, 0 of one that is over. By medians of the thirds. */
export function newerShare(values: readonly number[]): number {
  const third = Math.floor(values.length / 3)
  const before = median(values.slice(0, third))
  const between = median(values.slice(third, values.length - third))
  const after = median(values.slice(values.length - third))
  return after > before ? (after - between) / (after - before) : 0
}

/** The largest step between three neighbours and the next three, less the noise, as a share of the whole rise: 1 is one single step. */
export function largestStep(values: readonly number[], rise: number, noise: number): number {
  let largest = 0
  for (let i = 3; i + 3 <= values.length; i++) {
    largest = Math.max(largest, median(values.slice(i, i + 3)) - median(values.slice(i - 3, i)) - noise)
  }
  return rise > 0 ? largest / rise : 1
}
