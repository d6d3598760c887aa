// Takes what the collectors of one GPU and rate say in one pass, and whether the gaps are still those of the pass before.
import type { CollectorOutput } from '../../collectors/collector.ts'
import { isDriverGone, isGpuGone, failureOf } from '../../nvml/codes.ts'
import type { Failure } from '../../nvml/codes.ts'
import type { Gap } from '../../model/reading.ts'
import type { Labels } from '../../model/series.ts'
import type { ProcessLoad, ProcessRow } from '../protocol.ts'
import type { SeriesIds } from './series-ids.ts'

type Missing = { readonly metric: string; readonly labels: Labels; readonly failure: Failure; readonly gap: Gap }

export type Output = CollectorOutput & {
  readonly begin: () => void
  /** Series numbers and values of the pass. */
  readonly series: () => readonly number[]
  readonly values: () => readonly number[]
  readonly rows: () => readonly ProcessRow[] | undefined
  readonly processLoads: () => readonly ProcessLoad[] | undefined
  /** The GPU is lost or needs a reset: nothing of this pass counts. */
  readonly gone: () => Failure | undefined
  /** NVML has to be started again. */
  readonly driverGone: () => boolean
  /** Ends the pass; the gaps where they changed, else undefined. `whole` means all of them. */
  readonly end: (whole?: { readonly labels: Labels; readonly failure: Failure }) => readonly Gap[] | undefined
}

/** A negative code is one of our own, which only tells failures apart. */
const gapOf = (metric: string, labels: Labels, { reason, code, detail }: Failure): Gap =>
  code < 0 ? { metric, labels, reason, detail } : { metric, labels, reason, code, detail }

/** Which failures mean more than one value that is missing: NVML's codes, unless another reader says how it knows. */
export type Meaning = { readonly gone: (failure: Failure) => boolean; readonly driverGone: (failure: Failure) => boolean }
const NVML: Meaning = { gone: ({ code }) => isGpuGone(code), driverGone: ({ code }) => isDriverGone(code) }

export function createOutput(ids: SeriesIds, means: Meaning = NVML): Output {
  let series: number[] = []
  let values: number[] = []
  let rows: readonly ProcessRow[] | undefined
  let processLoads: readonly ProcessLoad[] | undefined
  let gone: Failure | undefined
  let driverGone = false
  let missing: Missing[] = []
  let before: readonly Missing[] | undefined

  const gap = (metric: { readonly name: string }, labels: Labels, failure: Failure): void => {
    if (means.gone(failure)) gone ??= failure
    if (means.driverGone(failure)) driverGone = true
    // Collectors run in one order, so an unchanged gap is where it lay before.
    const same = before?.[missing.length]
    missing.push(
      same?.metric === metric.name && same.labels === labels && same.failure === failure
        ? same
        : { metric: metric.name, labels, failure, gap: gapOf(metric.name, labels, failure) },
    )
  }
  return {
    begin() {
      series = []
      values = []
      rows = undefined
      processLoads = undefined
      gone = undefined
      driverGone = false
      missing = []
    },
    reading(of, value) {
      if (!Number.isFinite(value) || (value < 0 && of.metric.unit !== 'Cel')) {
        gap(of.metric, of.labels, failureOf(`value of ${of.metric.name}`, 999, 'driver_error', `expected a number of at least 0, the driver answered ${value}`))
        return
      }
      series.push(ids.of(of))
      values.push(value)
    },
    gap,
    processes: (list) => (rows = list),
    loads: (list) => (processLoads = list),
    series: () => series,
    values: () => values,
    rows: () => rows,
    processLoads: () => processLoads,
    gone: () => gone,
    driverGone: () => driverGone,
    end(whole) {
      const now = whole === undefined ? missing : [{ metric: 'gpu', ...whole, gap: gapOf('gpu', whole.labels, whole.failure) }]
      const last = before
      before = now
      const same =
        last?.length === now.length &&
        now.every((entry, at) => entry === last[at] || (entry.metric === 'gpu' && last[at]?.metric === 'gpu' && entry.failure === last[at].failure))
      return same ? undefined : now.map((entry) => entry.gap)
    },
  }
}
