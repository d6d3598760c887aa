// One time series: a metric and one set of label values, with the text that is before its value in an exposition.
import type { MetricDef } from './metric.ts'

export type Labels = Readonly<Record<string, string>>

export type Series = {
  readonly metric: MetricDef
  readonly labels: Labels
  /** `name{a="b",c="d"}` as in the Prometheus text format; equal keys mean the same series. */
  readonly key: string
}

/** What `le` of a histogram's series is that is no bucket. */
export const SUM = 'sum'
export const COUNT = 'count'

const escapeLabel = (value: string): string => (/[\\"\n]/.test(value) ? value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n') : value)

/** Label pairs in the given order without the braces; an empty value is the same as no label, so it is left out. */
export function labelPairs(names: readonly string[], labels: Labels): string {
  let text = ''
  for (const name of names) {
    const value = labels[name]
    if (value === undefined || value === '') continue
    text += `${text === '' ? '' : ','}${name}="${escapeLabel(value)}"`
  }
  return text
}

const keyOf = (name: string, pairs: string): string => (pairs === '' ? name : `${name}{${pairs}}`)

/** Makes a series. Label names come in the metric's order; one that the metric does not declare is an error of the programmer. */
export function makeSeries(metric: MetricDef, labels: Labels): Series {
  for (const name in labels) {
    if (!metric.labels.includes(name)) throw new Error(`metric ${metric.name} declares no label ${name}`)
  }
  if (metric.kind !== 'histogram') return { metric, labels, key: keyOf(metric.name, labelPairs(metric.labels, labels)) }
  const { le = '', ...others } = labels
  const isBucket = le !== SUM && le !== COUNT
  return { metric, labels, key: keyOf(`${metric.name}_${isBucket ? 'bucket' : le}`, labelPairs(metric.labels, isBucket ? labels : others)) }
}

/** More series of one source than a host has. */
const MOST_KEPT = 10_000

/** Makes each series once: those who take readings in keep what they know of a series by the object. */
export function createSeriesCache(): (metric: MetricDef, labels: Labels) => Series {
  const known = new Map<string, Series>()
  return (metric, labels) => {
    let key = metric.name
    for (const name of metric.labels) key += `\n${labels[name] ?? ''}`
    let series = known.get(key)
    if (series === undefined) {
      if (known.size >= MOST_KEPT) known.clear()
      known.set(key, (series = makeSeries(metric, labels)))
    }
    return series
  }
}
