// The last hour of each server, as history has it: tokens a second, KV cache, queue, latency.
import { signal } from '@preact/signals'
import type { SeriesRow } from '../../../../agent/model/live.ts'
import { getJson, storedToken } from '../../parts/connection/api.ts'
import { parseSeries } from '../../parts/connection/messages.ts'
import { agentNow } from '../../parts/live/state.ts'

export type Curve = { readonly t: readonly number[]; readonly values: readonly (number | null)[] }
export const MEASURES = [
  { id: 'tokens_rate', metric: 'tokens_rate', label: 'Tokens/s', where: { type: 'generation' } },
  { id: 'requests_waiting', metric: 'requests_waiting', label: 'Waiting', where: {} },
  { id: 'kv_cache', metric: 'kv_cache_usage_ratio', label: 'KV cache', where: {} },
  { id: 'ttft', metric: 'time_to_first_token_seconds', label: 'First token p95', where: { quantile: '0.95' } },
] as const
export type MeasureId = (typeof MEASURES)[number]['id']

const SPAN_MS = 3_600_000
const REFRESH_MS = 30_000
const POINTS = 120

export const serverKey = ({ name, pid }: { readonly name?: string | undefined; readonly pid?: string | number | undefined }): string =>
  `${name ?? ''} ${pid ?? ''}`
/** By server and measure. */
export const past = signal<ReadonlyMap<string, Curve>>(new Map())
export const curveOf = (key: string, measure: MeasureId): Curve | undefined => past.value.get(`${key} ${measure}`)

const fits = (labels: SeriesRow['labels'], where: Readonly<Record<string, string>>): boolean =>
  Object.entries(where).every(([name, value]) => labels[name] === value)

async function load(): Promise<void> {
  const end = Math.round(agentNow.peek())
  const found = new Map<string, Curve>()
  await Promise.all(
    MEASURES.map(async ({ id, metric, where }) => {
      const path = `api/v1/series?metric=warpwatch_inference_${metric}&from=${end - SPAN_MS}&to=${end}&points=${POINTS}`
      for (const { labels, t, mean } of parseSeries(await getJson(path, storedToken())))
        if (fits(labels, where)) found.set(`${serverKey(labels)} ${id}`, { t, values: mean })
    }),
  )
  past.value = found
}

/** Asks now and then again; gives the end of it. Without history the live figures are alone. */
export function watchPast(): () => void {
  const ask = (): void => void load().catch((error: unknown) => console.warn(error))
  ask()
  const timer = setInterval(ask, REFRESH_MS)
  return () => clearInterval(timer)
}
