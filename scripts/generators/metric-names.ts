// Makes dashboard/src/text/metric-names.ts: the metrics' names for the page, without the help texts of their declarations.
import * as metrics from '../../agent/metrics/index.ts'
import type { MetricDef } from '../../agent/model/metric.ts'
import type { Generator } from './generator.ts'

/** One constant each, so that the page carries those alone that it uses. */
const metricNamesText = (): string =>
  [
    '// Generated from agent/metrics by npm run generate, do not edit: the names of all metrics, as their declarations are called.',
    ...Object.entries<MetricDef>(metrics)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, { name }]) => `export const ${key} = '${name}'`),
    '',
  ].join('\n')

export const metricNames: Generator = { files: () => new Map([['dashboard/src/text/metric-names.ts', metricNamesText()]]) }
