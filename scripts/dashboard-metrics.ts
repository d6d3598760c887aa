// Writes dashboard/src/text/metric-names.ts: the metrics' names for the page, without the help texts of their declarations.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as metrics from '../agent/metrics/index.ts'
import type { MetricDef } from '../agent/model/metric.ts'

export const PAGE = join(import.meta.dirname, '../dashboard/src/text/metric-names.ts')

/** One constant each, so that the page carries those alone that it uses. */
export const dashboardMetrics = (): string =>
  [
    '// Made by node scripts/dashboard-metrics.ts from agent/metrics, do not edit: the names of all metrics, as their declarations are called.',
    ...Object.entries<MetricDef>(metrics)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, { name }]) => `export const ${key} = '${name}'`),
    '',
  ].join('\n')

if (import.meta.main) writeFileSync(PAGE, dashboardMetrics())
