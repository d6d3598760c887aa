// A value or the reason why there is none, as reading or gap.
import type { CollectorOutput } from '../../collectors/collector.ts'
import type { Series } from '../../model/series.ts'
import type { Failure } from '../../nvml/codes.ts'
import { isFailure } from '../files.ts'

export function report(out: CollectorOutput, series: Series, value: number | Failure, scale = 1): void {
  if (isFailure(value)) out.gap(series.metric, series.labels, value)
  // Divided by a whole number the result is the nearest to the figure of the file: 41 % is 0.41, not 0.41000000000000003.
  else out.reading(series, scale < 1 ? value / Math.round(1 / scale) : value * scale)
}

/** The first that this card has, else why the first could not be read. One that fails for another reason has no stand-in: the figures would jump between sensors. */
export function firstRead<T extends number | string>(...tries: readonly (() => T | Failure)[]): T | Failure {
  let failure: Failure | undefined
  for (const attempt of tries) {
    const value = attempt()
    if (!isFailure(value)) return value
    failure ??= value
    if (value.reason !== 'not_supported') return value
  }
  if (failure === undefined) throw new Error('firstRead needs something to try')
  return failure
}
