// The charts of one job's page: asked for by its labels, for the range in the address.
import { signal } from '@preact/signals'
import { getJson, storedToken } from '../../../parts/connection/api.ts'
import { parseSeries } from '../../../parts/connection/messages.ts'
import { filterOf } from '../../../parts/job/identity.ts'
import { keepAsking } from '../past.ts'
import { type Range, spanQuery } from '../ranges.ts'
import { asOne, asRate, byGpu, gridOf, type Lines, mean, most } from './lines.ts'

export type Charts = { readonly key: string; readonly from: number; readonly to: number; readonly range: Range } & Readonly<
  Record<'memory' | 'busy' | 'cores' | 'host', Lines>
>
export const charts = signal<Charts | undefined>(undefined)
export const failed = signal(false)

async function load(key: string, range: Range, end: number): Promise<Charts> {
  const { query, inContainer } = filterOf(key)
  const span = spanQuery(range, end)
  const series = async (metric: string, labels: string) =>
    parseSeries(await getJson(`api/v1/series?metric=warpwatch_${metric}&${span}${labels === '' ? '' : `&${labels}`}`, storedToken()))
  const own = (metric: string) => (inContainer ? series(metric, query) : Promise.resolve([]))
  const [held, busy, cpu, host] = await Promise.all([
    series(inContainer ? 'container_gpu_memory_bytes' : 'process_gpu_memory_bytes', query),
    series('gpu_utilization_ratio', ''),
    own('container_cpu_seconds_total'),
    own('container_memory_bytes'),
  ])
  const from = end - range.ms
  const grid = gridOf(from, end, range.stepMs)
  const uuids = new Set(held.flatMap(({ labels: { uuid } }) => uuid ?? []))
  return {
    key,
    range,
    from,
    to: end,
    memory: byGpu(held, grid, most),
    busy: byGpu(busy, grid, mean, uuids),
    cores: asRate('cores', cpu, grid),
    host: asOne('held', host, grid),
  }
}

export function watchCharts(key: string): () => void {
  charts.value = undefined
  failed.value = false
  return keepAsking(async (wanted, end, current) => {
    try {
      const found = await load(key, wanted, end)
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
