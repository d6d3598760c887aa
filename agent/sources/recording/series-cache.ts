// Series of a recording: each is made once, with the declaration that this version has of its metric or with one made up for it.
import type { MetricDef } from '../../model/metric.ts'
import { makeSeries, type Labels, type Series } from '../../model/series.ts'

export type MetricNamed = (name: string) => MetricDef | undefined
export type SeriesOf = (name: string, labels: Labels) => Series

const WITH_ROWS = ['gpu', 'container', 'process', 'allocator', 'host'] as const

/** Of a metric that only another version declares, its name is all that tells where it belongs. */
function rowOf(name: string): Pick<MetricDef, 'subject' | 'field'> {
  const local = name.replace(/^warpwatch_/, '')
  const subject = WITH_ROWS.find((known) => local.startsWith(`${known}_`))
  return subject === undefined || local === name ? { subject: 'agent' } : { subject, field: local.slice(subject.length + 1) }
}

function adHoc(name: string): MetricDef {
  const kind = name.endsWith('_total') ? 'counter' : name.endsWith('_info') ? 'info' : 'gauge'
  return { name, ...rowOf(name), kind, unit: '1', help: 'Seen in a recording; this version does not know it.', labels: [] }
}

export function createSeriesCache(metricNamed: MetricNamed): SeriesOf {
  const definitions = new Map<string, MetricDef>()
  const known = new Map<string, Map<string, Series>>()

  const definitionFor = (name: string, labels: Labels): MetricDef => {
    const def = definitions.get(name) ?? metricNamed(name) ?? adHoc(name)
    const further = Object.keys(labels).filter((label) => !def.labels.includes(label))
    // Another version may know more labels; none of them is dropped, since they tell series apart.
    const whole = further.length === 0 ? def : { ...def, labels: [...def.labels, ...further] }
    definitions.set(name, whole)
    return whole
  }
  return (name, labels) => {
    let ofMetric = known.get(name)
    if (ofMetric === undefined) known.set(name, (ofMetric = new Map<string, Series>()))
    let key = ''
    for (const label in labels) key += `${label}\u0000${labels[label] ?? ''}\u0000`
    let series = ofMetric.get(key)
    if (series === undefined) ofMetric.set(key, (series = makeSeries(definitionFor(name, labels), labels)))
    return series
  }
}
