// Whether a row of figures, one a minute, grows: Mann and Kendall's test for the sign, Theil and Sen's median for the rate.

/** 99 % that the sign is no chance. */
const SURE = 2.33
const FEWEST = 8

/** Rise per step, or undefined when nothing can be said or nothing rises. */
export function risePerStep(values: readonly number[]): number | undefined {
  const n = values.length
  if (n < FEWEST) return undefined
  let sign = 0
  const slopes: number[] = []
  for (const [i, first] of values.entries()) {
    for (let j = i + 1; j < n; j++) {
      const difference = (values[j] ?? 0) - first
      sign += Math.sign(difference)
      slopes.push(difference / (j - i))
    }
  }
  // Neighbouring minutes resemble each other: what is left beside the line says how much, and widens the test.
  const slope = median(slopes)
  const offset = median(values.map((value, i) => value - slope * i))
  const rest = values.map((value, i) => value - slope * i - offset)
  const rho = Math.min(0.9, Math.max(0, lagOne(rest)))
  const deviation = Math.sqrt(((n * (n - 1) * (2 * n + 5)) / 18) * ((1 + rho) / (1 - rho)))
  return slope > 0 && (sign - 1) / deviation >= SURE ? slope : undefined
}

function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
}

function lagOne(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  let own = 0
  let next = 0
  for (const [i, value] of values.entries()) {
    own += (value - mean) ** 2
    if (i > 0) next += (value - mean) * ((values[i - 1] ?? 0) - mean)
  }
  return own === 0 ? 0 : next / own
}
