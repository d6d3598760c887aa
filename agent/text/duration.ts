// Lengths of time as configuration files have them: `200ms`, `90s`, `5m`, `4h`, `1d`. `span.ts` has the forms for sentences.

const UNITS: readonly (readonly [unit: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
]
/** Nothing in a configuration is waited for longer. */
export const MAX_DURATION_MS = 30 * 86_400_000

/** In ms; seconds where it is a plain number. Undefined where it is no time, or one of more than thirty days. */
export function parseDuration(value: string | number): number | undefined {
  const [, figure = '', unit = 's'] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|[smhd])?$/.exec(String(value).trim()) ?? []
  const ms = Math.round(Number(figure) * (UNITS.find(([name]) => name === unit)?.[1] ?? 1))
  return figure === '' || ms > MAX_DURATION_MS ? undefined : ms
}

/** In the largest unit of which it is a whole number; 0 is `0s`. */
export function durationText(ms: number): string {
  const [unit, length] = UNITS.find(([, long]) => ms >= long && ms % long === 0) ?? ['s', 1_000]
  return `${ms / length}${unit}`
}
