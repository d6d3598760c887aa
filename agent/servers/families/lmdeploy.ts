// LMDeploy: the same names as vLLM's with a prefix of its own.
import * as z from 'zod/mini'
import { readExposition } from '../exposition.ts'
import { defineFamily, type Asked } from '../family.ts'
import { flag, listOf, readJson, words } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'
import { histogramOf, isUnread, labelValues, outcomesOf, samplesOf, shareOf, sumOf } from '../pick.ts'

const wanted = (name: string): string | undefined => {
  const own = /^lmdeploy[:_](.+)$/.exec(name)?.[1]
  return own === undefined || (isUnread(own) && own !== 'iter_token_latency_bucket') ? undefined : own
}

export function readMetrics(body: string, { seen }: Asked = {}): ServerFigures | undefined {
  const page = readExposition(body, wanted, seen)
  if (page.size === 0) return undefined
  return figures({
    models: labelValues(page, 'model_name'),
    state: 'ready',
    running: sumOf(page, ['num_requests_running']),
    waiting: sumOf(page, ['num_requests_waiting']),
    kvUsage: shareOf(page, ['gpu_cache_usage_perc', 'kv_cache_usage_perc']),
    prefixHitRatio: shareOf(page, ['prefix_cache_hit_rate']),
    promptTokens: sumOf(page, ['prompt_tokens']),
    generationTokens: sumOf(page, ['generation_tokens']),
    outcomes: outcomesOf([
      { samples: samplesOf(page, ['request_success', 'num_requests_succeeded']), wordOf: () => 'completed' },
      { samples: samplesOf(page, ['num_requests_failed']), wordOf: () => 'failed' },
    ]),
    timeToFirstToken: histogramOf(page, ['time_to_first_token_seconds']),
    interTokenLatency: histogramOf(page, ['inter_token_latency_seconds', 'iter_token_latency', 'time_per_output_token_seconds']),
    timePerOutputToken: histogramOf(page, ['time_per_output_token_seconds']),
    requestDuration: histogramOf(page, ['e2e_request_latency_seconds']),
  })
}

const models = z.object({ data: listOf(z.object({ id: words, owned_by: words })) })
const sleeping = z.object({ is_sleeping: flag })

export const lmdeploy = defineFamily({
  id: 'lmdeploy',
  title: 'LMDeploy',
  command: /\blmdeploy serve\b/,
  image: /(?:^|\/)lmdeploy(?:[:@]|$)/,
  port: 23_333,
  proof: {
    path: '/v1/models',
    read: ({ body }) => {
      const data = readJson(body, models)?.data
      return data?.some(({ owned_by: owner }) => owner === 'lmdeploy') === true ? { models: data.flatMap(({ id }) => id ?? []).slice(0, 8) } : undefined
    },
  },
  pages: [
    {
      path: '/is_sleeping',
      rate: 'scrape',
      read: (body) => {
        const found = readJson(body, sleeping)?.is_sleeping
        return found === undefined ? undefined : { state: found ? 'sleeping' : 'ready' }
      },
    },
    { path: '/metrics', rate: 'scrape', read: readMetrics },
  ],
})
