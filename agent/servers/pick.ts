// Figures out of a metrics page. Servers rename their metrics each year, so a figure is asked for by all its names, the newest first.
import type { Histogram } from '../model/histogram.ts'
import { REQUEST_OUTCOMES, type RequestOutcome } from './model.ts'
import type { Exposition, Sample } from './seen-page.ts'
import { lookup } from '../text/lookup.ts'

/** The samples under the first of the names that the page has. Counters are spelled with and without `_total`. */
export function samplesOf(page: Exposition, names: readonly string[]): readonly Sample[] {
  for (const name of names) {
    const found = page.get(name) ?? page.get(`${name}_total`)
    if (found !== undefined) return found
  }
  return []
}

const ANY: Readonly<Record<string, string>> = {}
const matching = (samples: readonly Sample[], where: Readonly<Record<string, string>>): readonly Sample[] => {
  const wanted = where === ANY ? [] : Object.entries(where)
  return wanted.length === 0 ? samples : samples.filter(({ labels }) => wanted.every(([name, value]) => labels[name] === value))
}

/** Over all engines, models and processes of the page. */
export function sumOf(page: Exposition, names: readonly string[], where: Readonly<Record<string, string>> = ANY): number | undefined {
  const found = matching(samplesOf(page, names), where)
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0)
}

export function highestOf(page: Exposition, names: readonly string[], where: Readonly<Record<string, string>> = ANY): number | undefined {
  const found = matching(samplesOf(page, names), where)
  return found.length === 0 ? undefined : Math.max(...found.map(({ value }) => value))
}

/** A share from 0 to 1; anything else is no share (old servers tell -1 where it is off, or percent). */
export function shareOf(page: Exposition, names: readonly string[], where: Readonly<Record<string, string>> = ANY): number | undefined {
  const found = highestOf(page, names, where)
  return found === undefined || found < 0 || found > 1.000_001 ? undefined : Math.min(1, found)
}

/** Most of a page is buckets of histograms that nobody here asks for. */
export const isUnread = (name: string, quantilesOnly = false): boolean =>
  /_(?:bucket|created)$/.test(name) &&
  (!/^(?:time_to_first_token|inter_token_latency|(?:request_)?time_per_output_token|e2e_request_latency)_/.test(name) ||
    (quantilesOnly && /^(?:request_time_per_output_token|e2e_request_latency)_/.test(name)))

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
      if (value === undefined || value === '' || found.size >= MAX_NAMES) continue
      const name = value.slice(0, MAX_NAME_CHARS)
      if (!found.has(name)) found.add(apart(name))
    }
  return [...found]
}

const MAX_BUCKETS = 100
/** Where each sample's count belongs, or -1. */
type Layout = { readonly bounds: readonly number[]; readonly places: readonly number[] }
/** A page that was read again has the same samples in the same order. */
const layouts = new WeakMap<readonly Sample[], Layout | { readonly none: true }>()

/** Bounds that not all series have are left out. */
function layoutOf(samples: readonly Sample[]): Layout | undefined {
  const [bounds, series, places]: [number[], number[], number[]] = [[], [], []]
  let at = -1
  for (const { labels } of samples) {
    const text = labels['le'] ?? ''
    const bound = text === '+Inf' ? Infinity : text === '' ? Number.NaN : Number(text)
    if (Number.isNaN(bound)) {
      places.push(-1)
      continue
    }
    // The buckets of each series are in the same order.
    at = bounds[at + 1] === bound ? at + 1 : bounds.indexOf(bound)
    if (at < 0) at = bounds.push(bound) - 1
    series[at] = (series[at] ?? 0) + 1
    places.push(at)
    if (bounds.length > 2 * MAX_BUCKETS) return undefined
  }
  const most = Math.max(0, ...series)
  const order = [...bounds.keys()].filter((place) => series[place] === most).toSorted((a, b) => (bounds[a] ?? 0) - (bounds[b] ?? 0))
  if (bounds[order.at(-1) ?? -1] !== Infinity || order.length > MAX_BUCKETS) return undefined
  return { bounds: order.map((place) => bounds[place] ?? 0), places: places.map((place) => order.indexOf(place)) }
}

/** Buckets of the first of the names that has any, summed over the series of the page. */
export function histogramOf(page: Exposition, names: readonly string[], where: Readonly<Record<string, string>> = ANY): Histogram | undefined {
  const name = names.find((one) => page.has(`${one}_bucket`))
  if (name === undefined) return undefined
  const samples = matching(page.get(`${name}_bucket`) ?? [], where)
  let layout = layouts.get(samples)
  if (layout === undefined) layouts.set(samples, (layout = layoutOf(samples) ?? { none: true }))
  if ('none' in layout) return undefined
  const counts = layout.bounds.map(() => 0)
  for (const [at, place] of layout.places.entries()) if (place >= 0) counts[place] = (counts[place] ?? 0) + (samples[at]?.value ?? 0)
  const sum = sumOf(page, [`${name}_sum`], where)
  return { bounds: layout.bounds, counts, ...(sum === undefined ? {} : { sum }) }
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
