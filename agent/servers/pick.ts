// Figures out of a metrics page. Servers rename their metrics each year, so a figure is asked for by all its names, the newest first.
import type { Histogram } from '../model/histogram.ts'
import { REQUEST_OUTCOMES, type RequestOutcome } from './model.ts'
import type { Exposition, Sample } from './exposition.ts'
import { lookup } from '../text/lookup.ts'

/** The samples under the first of the names that the page has. Counters are spelled with and without `_total`. */
export function samplesOf(page: Exposition, names: readonly string[]): readonly Sample[] {
  for (const name of names) {
    const found = page.get(name) ?? page.get(`${name}_total`)
    if (found !== undefined) return found
  }
  return []
}

/** Over all engines, models and processes of the page. */
export function sumOf(page: Exposition, names: readonly string[], where: Readonly<Record<string, string>> = {}): number | undefined {
  const found = samplesOf(page, names).filter(({ labels }) => Object.entries(where).every(([name, value]) => labels[name] === value))
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

export function highestOf(page: Exposition, names: readonly string[], where: Readonly<Record<string, string>> = {}): number | undefined {
  const found = samplesOf(page, names).filter(({ labels }) => Object.entries(where).every(([name, value]) => labels[name] === value))
  return found.length === 0 ? undefined : Math.max(...found.map(({ value }) => value))
}

/** A share from 0 to 1; anything else is no share (old servers tell -1 where it is off, or percent). */
export function shareOf(page: Exposition, names: readonly string[], where: Readonly<Record<string, string>> = {}): number | undefined {
  const found = highestOf(page, names, where)
  return found === undefined || found < 0 || found > 1.000_001 ? undefined : Math.min(1, found)
}

/** Most of a page is buckets of histograms that nobody here asks for. */
export const isUnread = (name: string): boolean =>
  /_(?:bucket|created)$/.test(name) && !/^(?:time_to_first_token|inter_token_latency|(?:request_)?time_per_output_token|e2e_request_latency)_/.test(name)

/** A piece of a page holds all of the page in memory for as long as it lives itself, unless it is copied. */
const apart = (text: string): string => Buffer.from(text).toString()

const MAX_NAMES = 8
const MAX_NAME_CHARS = 200
/** Different values of a label, over the whole page or the given series. */
export function labelValues(page: Exposition, label: string, names?: readonly string[]): readonly string[] {
  const found = new Set<string>()
  for (const samples of names === undefined ? page.values() : [samplesOf(page, names)])
    for (const { labels } of samples) {
      const value = labels[label]
      if (value !== undefined && value !== '' && found.size < MAX_NAMES) found.add(apart(value.slice(0, MAX_NAME_CHARS)))
    }
  return [...found]
}

const MAX_BUCKETS = 100
/** Buckets of the first of the names that has any, summed over the series of the page; bounds that not all have are left out. */
export function histogramOf(page: Exposition, names: readonly string[], where: Readonly<Record<string, string>> = {}): Histogram | undefined {
  const found = samplesOf(
    page,
    names.map((name) => `${name}_bucket`),
  ).filter(({ labels }) => Object.entries(where).every(([name, value]) => labels[name] === value))
  const sums = new Map<number, { count: number; series: number }>()
  for (const { labels, value } of found) {
    const text = labels['le'] ?? ''
    const bound = text === '+Inf' ? Infinity : text === '' ? Number.NaN : Number(text)
    if (Number.isNaN(bound)) continue
    const sum = sums.get(bound)
    if (sum === undefined) sums.set(bound, { count: value, series: 1 })
    else {
      sum.count += value
      sum.series++
    }
  }
  const most = Math.max(0, ...[...sums.values()].map(({ series }) => series))
  const buckets = [...sums].filter(([, { series }]) => series === most).toSorted(([a], [b]) => a - b)
  if (buckets.at(-1)?.[0] !== Infinity || buckets.length > MAX_BUCKETS) return undefined
  const counted = names.find((name) => page.has(`${name}_bucket`))
  const sum = counted === undefined ? undefined : sumOf(page, [`${counted}_sum`], where)
  return { bounds: buckets.map(([bound]) => bound), counts: buckets.map(([, { count }]) => count), ...(sum === undefined ? {} : { sum }) }
}

/** Counts by our words for how a request ended; `undefined` of `wordOf` is left out. */
export function outcomesOf(
  parts: readonly { readonly samples: readonly Sample[]; readonly wordOf: (labels: Sample['labels']) => RequestOutcome | undefined }[],
): Partial<Record<RequestOutcome, number>> {
  const counts: Partial<Record<RequestOutcome, number>> = {}
  for (const { samples, wordOf } of parts)
    for (const { labels, value } of samples) {
      const word = wordOf(labels)
      if (word !== undefined) counts[word] = (counts[word] ?? 0) + value
    }
  return Object.fromEntries(REQUEST_OUTCOMES.flatMap((word) => (counts[word] === undefined ? [] : [[word, counts[word]]])))
}
const FINISHED: Readonly<Record<string, RequestOutcome>> = { abort: 'aborted', aborted: 'aborted', cancelled: 'aborted', error: 'failed' }
/** Of vLLM and those that took its names over: stop, length and repetition are complete answers. */
export const finishedReason = (labels: Sample['labels']): RequestOutcome => lookup(FINISHED, labels['finished_reason'] ?? '') ?? 'completed'
