// The charts of one job's page: asked for by its labels, for the range in the address.
import { signal } from '@preact/signals'
import { getJson } from './api.ts'
import { asOne, asRate, byGpu, gridOf, type Lines } from './jobs-lines.ts'
import { keepAsking } from './jobs-past.ts'
import { spanQuery, type Range } from './jobs-range.ts'
import { parseSeries } from './messages.ts'
import { storedToken } from './token.ts'

export type Charts = { readonly key: string; readonly from: number; readonly to: number; readonly range: Range } & Readonly<
  Record<'memory' | 'busy' | 'cores' | 'host', Lines>
>
export const charts = signal<Charts | undefined>(undefined)
export const failed = signal(false)

/** What a job's series carry; those outside containers belong to no container. */
export function filterOf(key: string): { readonly query: string; readonly inContainer: boolean } {
  const { labels, inContainer } = labelsOf(key)
  return { query: new URLSearchParams(labels).toString(), inContainer }
}
function labelsOf(key: string): { readonly labels: Record<string, string>; readonly inContainer: boolean } {
  const [kind = '', ...rest] = key.split(':')
  const name = rest.join(':')
  const outside: Readonly<Record<string, string>> = { slurm: 'slurm_job', unit: 'unit', pid: 'pid' }
  const label = outside[kind]
  if (label !== undefined && name !== '') return { labels: { [label]: name, container: '' }, inContainer: false }
  const at = key.indexOf('/')
  return at === -1
    ? { labels: { container: key, pod: '' }, inContainer: true }
    : { labels: { namespace: key.slice(0, at), pod: key.slice(at + 1) }, inContainer: true }
}

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
    memory: byGpu(held, grid),
    busy: byGpu(busy, grid, uuids),
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
