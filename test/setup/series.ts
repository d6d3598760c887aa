// Series of the catalogue for scenes that tell hundreds of readings for each of thousands of seconds: each is made once, and found again by its label values without building a text.
import { metricNamed } from '../../agent/catalogue.ts'
import type { MetricDef } from '../../agent/model/metric.ts'
import { makeSeries, type Labels, type Series } from '../../agent/model/series.ts'

type Place = { readonly under: Map<string, Place>; series?: Series }
type Known = { readonly metric: MetricDef; readonly first: Place }

const known = new Map<string, Known>()
const emptyPlace = (): Place => ({ under: new Map() })
function knownOf(name: string): Known {
  const same = known.get(name)
  if (same !== undefined) return same
  const metric = metricNamed(`warpwatch_${name}`)
  if (metric === undefined) throw new Error(`expected a metric of the catalogue, got ${name}`)
  const made = { metric, first: emptyPlace() }
  known.set(name, made)
  return made
}

const NONE: Labels = {}
/** Where the series with these values stands, of both where the first has none; and how many of the first the metric declares. */
function placeOf({ metric, first }: Known, labels: Labels, more: Labels = NONE): { readonly place: Place; readonly declared: number } {
  let place = first
  let declared = 0
  for (const label of metric.labels) {
    const own = labels[label]
    if (own !== undefined) declared++
    const value = own ?? more[label] ?? ''
    let next = place.under.get(value)
    if (next === undefined) place.under.set(value, (next = emptyPlace()))
    place = next
  }
  return { place, declared }
}

/** The series of `gpu_power_watts`, say, the same object for the same values; a label that the metric does not declare is an error. */
export function seriesFor(name: string, labels: Labels): Series {
  const of = knownOf(name)
  const { place, declared } = placeOf(of, labels)
  // With one more than are declared it throws.
  if (place.series === undefined || declared !== Object.keys(labels).length) place.series = makeSeries(of.metric, labels)
  return place.series
}

/** As `seriesFor`, of those labels that the metric declares; `more` where `labels` have none. */
export function seriesAmong(name: string, labels: Labels, more: Labels): Series {
  const of = knownOf(name)
  const { place } = placeOf(of, labels, more)
  place.series ??= makeSeries(of.metric, Object.fromEntries(Object.entries({ ...more, ...labels }).filter(([label]) => of.metric.labels.includes(label))))
  return place.series
}
