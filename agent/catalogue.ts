// Every metric that the agent can emit; names are unique.
import type { MetricDef } from './model/metric.ts'
import * as metrics from './metrics/index.ts'

/** All declarations, sorted by name. */
export const catalogue: readonly MetricDef[] = Object.values<MetricDef>(metrics).sort((a, b) => (a.name < b.name ? -1 : 1))

const named = new Map(catalogue.map((def) => [def.name, def]))

/** The declaration of a full name such as `warpwatch_gpu_power_watts`; undefined when this version has none. */
export const metricNamed = (name: string): MetricDef | undefined => named.get(name)
