// The charts of one job's page: asked for by its labels, for the range in the address.
import { signal } from '@preact/signals'
import { getJson, storedToken } from '../../../parts/connection/api.ts'
import { parseSeries } from '../../../parts/connection/messages.ts'
import { filterOf } from '../../../parts/job/identity.ts'
import { param } from '../../../parts/route.ts'
import { keepAsking } from '../past.ts'
import { type Range, spanQuery } from '../ranges.ts'
import { asOne, asRate, beside, byGpu, gridOf, type Lines, mean, most, NO_LINES, whileHeld } from './lines.ts'

/** The job that the address names to be compared with. */
export const comparedKey = param('with')

export type Charts = { readonly key: string; readonly other: string | undefined; readonly from: number; readonly to: number; readonly range: Range } & Readonly<
  Record<'memory' | 'busy' | 'cores' | 'host', Lines>
>
export const charts = signal<Charts | undefined>(undefined)
export const failed = signal(false)

async function loadOne(key: string, span: string) {
  const { query, inContainer } = filterOf(key)
  const series = async (metric: string, labels: string) =>
    parseSeries(await getJson(`api/v1/series?metric=warpwatch_${metric}&${span}${labels === '' ? '' : `&${labels}`}`, storedToken()))
  const own = (metric: string) => (inContainer ? series(metric, query) : Promise.resolve([]))
  const [held, busy, cpu, host] = await Promise.all([
    series(inContainer ? 'container_gpu_memory_bytes' : 'process_gpu_memory_bytes', query),
    series('gpu_utilization_ratio', ''),
    own('container_cpu_seconds_total'),
    own('container_memory_bytes'),
  ])
  return { held, busy, cpu, host }
}

/** Of two that are compared each is one line; whose GPUs are how busy is left to the page of each. */
async function load(key: string, other: string | undefined, range: Range, end: number): Promise<Charts> {
  const span = spanQuery(range, end)
  const [{ held, busy, cpu, host }, theirs] = await Promise.all([loadOne(key, span), other === undefined ? undefined : loadOne(other, span)])
  const from = end - range.ms
  const grid = gridOf(from, end, range.stepMs)
  const uuids = new Set(held.flatMap(({ labels: { uuid } }) => uuid ?? []))
  const frame = { key, other, range, from, to: end }
  if (other !== undefined && theirs !== undefined) {
    return {
      ...frame,
      memory: beside(asOne(key, held, grid), asOne(other, theirs.held, grid)),
      busy: NO_LINES,
      cores: beside(asRate(key, cpu, grid), asRate(other, theirs.cpu, grid)),
      host: beside(asOne(key, host, grid), asOne(other, theirs.host, grid)),
    }
  }
  const memory = byGpu(held, grid, most)
  return {
    ...frame,
    memory,
    busy: whileHeld(byGpu(busy, grid, mean, uuids), memory),
    cores: asRate('cores', cpu, grid),
    host: asOne('held', host, grid),
  }
}

export function watchCharts(key: string): () => void {
  charts.value = undefined
  failed.value = false
  return keepAsking(async (wanted, end, current) => {
    // Read before anything is waited for, so that another choice asks again.
    const other = comparedKey.value
    try {
      const found = await load(key, other === key ? undefined : other, wanted, end)
      if (current()) {
        charts.value = found
        failed.value = false
      }
    } catch (error) {
      console.warn(error)
      if (current() && charts.peek() === undefined) failed.value = true
    }
  })
}
