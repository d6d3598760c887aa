// What people ask of a fleet, and how long the engine takes: Grafana's fleet dashboard as a whole, and questions to the raw series of all hosts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { containerGpuMemoryBytes } from '../../agent/metrics/container.ts'
import { gpuUtilizationRatio } from '../../agent/metrics/gpu-load.ts'
import { gpuMemoryTotalBytes, gpuMemoryUsedBytes } from '../../agent/metrics/gpu-memory.ts'
import { gpuTemperatureCelsius } from '../../agent/metrics/gpu-temperature.ts'
import { incidentsTotal } from '../../agent/metrics/incident.ts'
import { processGpuMemoryBytes } from '../../agent/metrics/process.ts'
import { ask } from './engines.ts'
import type { Engine } from './process.ts'

const TRIES = 3
const DASHBOARD = join(import.meta.dirname, '../../grafana/dashboards/fleet.json')
const panel = z.object({ targets: z.array(z.object({ expr: z.string() })).optional() })
const dashboard = z.object({ panels: z.array(z.object({ ...panel.shape, panels: z.array(panel).optional() })) })

/** All queries of grafana/dashboards/fleet.json. */
export function dashboardQueries(): readonly string[] {
  const { panels } = dashboard.parse(JSON.parse(readFileSync(DASHBOARD, 'utf8')))
  return panels.flatMap((one) => [one, ...(one.panels ?? [])]).flatMap(({ targets }) => (targets ?? []).map(({ expr }) => expr.replaceAll('$job', 'warpwatch')))
}

/** Wall time of all of them, one after the other, the best of a few tries: others' work on the machine only adds to it. */
export async function timeDashboard(engine: Engine): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < TRIES; n += 1) {
    const begun = performance.now()
    for (const query of dashboardQueries()) await ask(engine, query)
    times.push(performance.now() - begun)
  }
  return Math.min(...times)
}

/** Raw series of all hosts: recording rules answer the same from a few (docs/fleet.md). */
export const QUERIES: Readonly<Record<string, string>> = {
  'how full the memory of all cards is': `sum(${gpuMemoryUsedBytes.name}{gi=""}) / sum(${gpuMemoryTotalBytes.name}{gi=""})`,
  'how busy each host is': `avg by (instance) (${gpuUtilizationRatio.name})`,
  'the ten hottest cards': `topk(10, ${gpuTemperatureCelsius.name})`,
  'memory by container over the fleet': `sum by (container) (${containerGpuMemoryBytes.name})`,
  'cards held for nothing': `count(max by (instance, uuid) (max_over_time(${gpuUtilizationRatio.name}[5m])) < 0.01 and on (instance, uuid) sum by (instance, uuid) (${processGpuMemoryBytes.name}) > 1e9)`,
  'incidents by kind, an hour': `sum by (kind) (increase(${incidentsTotal.name}[1h]))`,
  'one host: what its processes hold': `sum by (process, container) (${processGpuMemoryBytes.name}{instance="gpu-0007:9839"})`,
}

/** Best wall time of each over a few tries, in milliseconds. NaN where there is no answer, as when no host could be scraped in time. */
export async function timeQueries(engine: Engine): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  for (const [what, query] of Object.entries(QUERIES)) {
    const times: number[] = []
    for (let n = 0; n < TRIES; n += 1) {
      const begun = performance.now()
      const answer = await ask(engine, query)
      times.push(answer === undefined ? Number.NaN : performance.now() - begun)
    }
    found.set(what, Math.min(...times))
  }
  return found
}
