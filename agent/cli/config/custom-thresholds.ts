// Reads `detectors.custom`: thresholds of the user's own, against the metrics that there are.
import { catalogue, metricNamed } from '../../catalogue.ts'
import { anyNumber, choice, duration, optionalDuration, text, texts, type PartProblem, type ReadParts } from '../../config/field.ts'
import { readGroups } from '../../config/groups.ts'
import { nearest } from '../../lib/nearest.ts'
import { COMPARISONS, type CustomThreshold } from '../../model/detector-settings.ts'
import { SEVERITIES } from '../../model/severity.ts'
import type { MetricDef } from '../../model/metric.ts'

const PREFIX = 'warpwatch_'
/** Each costs a look at its metric's series a second. */
const MAX_THRESHOLDS = 100
const fields = {
  name: text({
    default: '',
    pattern: /^[A-Za-z0-9](?:[A-Za-z0-9 _.:/-]{0,61}[A-Za-z0-9])?$/,
    expected: 'a name of at most 63 letters, digits and - _ . : / between them',
    description: 'How it is called.',
  }),
  metric: text({ default: '', expected: "a metric's name", description: 'Of which each series is compared.' }),
  labels: texts({ default: {}, expected: 'label names and their values', description: 'Only series that carry these are meant.' }),
  comparison: choice(COMPARISONS, { default: '>', description: 'When it is reported.' }),
  value: anyNumber({ default: 0, description: "In the metric's unit." }),
  for: duration({ default: 0, description: 'For how long it must hold before it is reported.' }),
  clear_for: optionalDuration({ description: 'For how long it must not hold before it is over; as `for` unless set.' }),
  severity: choice(SEVERITIES, { default: 'warning', description: 'Of the incident.' }),
  summary: text({ default: '', description: 'What it means, for whoever reads the incident.' }),
}
const REQUIRED = ['name', 'metric', 'comparison', 'value', 'for', 'severity'] as const

/** With or without the prefix. */
function metricOf(name: string): MetricDef | undefined {
  return metricNamed(name) ?? metricNamed(`${PREFIX}${name}`)
}
/** Who does not know a name often leaves out its unit. */
const UNIT = /(?:_(?:bytes|seconds|ratio|watts|celsius|hertz|joules|total))+$/
function nearestMetric(name: string): string {
  const full = name.startsWith(PREFIX) || name.startsWith('process_') ? name : `${PREFIX}${name}`
  const names = new Map(catalogue.map((def) => [def.name.replace(UNIT, ''), def.name]))
  for (const def of catalogue) names.set(def.name, def.name)
  return names.get(nearest(full, names.keys()) ?? '') ?? ''
}

export const readThresholds: ReadParts<readonly CustomThreshold[]> = (value) => {
  if (value === null) return { value: [] }
  const { groups, problems: found } = readGroups(value, { fields, required: REQUIRED, expected: 'a list of thresholds', max: MAX_THRESHOLDS })
  const problems: PartProblem[] = [...found]
  const names = new Set<string>()
  const thresholds = groups.flatMap(({ at, values }): readonly CustomThreshold[] => {
    const { name, comparison, severity, summary, labels, for: forMs, clear_for: clearMs = forMs } = values
    if (names.has(name)) problems.push({ path: [at, 'name'], text: `another threshold is also called ${JSON.stringify(name)}; choose another name` })
    names.add(name)
    const metric = metricOf(values.metric)
    if (metric === undefined) {
      problems.push({ path: [at, 'metric'], text: `unknown metric ${values.metric}; the nearest valid one is ${nearestMetric(values.metric)}` })
      return []
    }
    for (const label of Object.keys(labels)) {
      if (metric.labels.includes(label)) continue
      const near = nearest(label, metric.labels)
      problems.push({
        path: [at, 'labels', label],
        text: `${metric.name} has no such label; ${near === undefined ? 'it has none' : `the nearest one is ${near}`}`,
      })
    }
    return [{ name, metric: metric.name, labels, comparison, value: values.value, forMs, clearMs, severity, ...(summary === '' ? {} : { summary }) }]
  })
  return problems.length === 0 ? { value: thresholds } : { problems }
}
