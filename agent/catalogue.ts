// Every metric that the agent can emit, gathered from the registries; names are unique.
import type { MetricDef } from './model/metric.ts'
import * as collectors from './collectors/index.ts'
import * as sources from './sources/index.ts'

/** All declarations, sorted by name. */
export const catalogue: readonly MetricDef[] = gather()

function gather(): readonly MetricDef[] {
  const byName = new Map<string, MetricDef>()
  const lists = [...Object.values(collectors), ...Object.values(sources)].map((entry) => entry.metrics)
  for (const def of lists.flat()) {
    const known = byName.get(def.name)
    if (known !== undefined && known !== def) throw new Error(`metric ${def.name} is declared twice`)
    byName.set(def.name, def)
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

const named = new Map(catalogue.map((def) => [def.name, def]))

/** The declaration of a full name such as `warpwatch_gpu_power_watts`; undefined when no part of this version emits it. */
export const metricNamed = (name: string): MetricDef | undefined => named.get(name)
