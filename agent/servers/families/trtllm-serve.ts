// TensorRT-LLM's own server. Its /metrics is a queue that each reading empties, so it is never asked: what it tells to Prometheus is elsewhere.
import * as z from 'zod/mini'
import { readExposition } from '../exposition.ts'
import { defineFamily, type Asked } from '../family.ts'
import { readJson } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'
import { finishedReason, highestOf, histogramOf, isUnread, labelValues, outcomesOf, samplesOf, shareOf, sumOf } from '../pick.ts'
import { readTrtllmLog } from './trtllm-log.ts'

/** The first ones with metrics had these five names, without a prefix. */
const FIRST = /^(?:(?:request_success|e2e_request_latency|time_to_first_token|time_per_output_token|request_queue_time)_.+)$/
const wanted = (name: string): string | undefined => {
  const own = /^trtllm[:_](.+)$/.exec(name)?.[1] ?? FIRST.exec(name)?.[0]
  return own === undefined || isUnread(own) ? undefined : own
}

export function readMetrics(body: string, { seen }: Asked = {}): ServerFigures | undefined {
  const page = readExposition(body, wanted, seen)
  if (page.size === 0) return undefined
  const [blocks, each] = [highestOf(page, ['kv_cache_max_blocks']), highestOf(page, ['kv_cache_tokens_per_block'])]
  const used = highestOf(page, ['kv_cache_used_blocks'])
  const cached = sumOf(page, ['prompt_cached_tokens', 'prompt_cache_hit_tokens'])
  const prompt = sumOf(page, ['prompt_tokens'])
  return figures({
    models: labelValues(page, 'model_name'),
    state: 'ready',
    running: sumOf(page, ['num_requests_running']),
    waiting: sumOf(page, ['num_requests_waiting']),
    kvUsage: shareOf(page, ['kv_cache_utilization']) ?? (used === undefined || blocks === undefined || blocks <= 0 ? undefined : Math.min(1, used / blocks)),
    kvCapacityTokens: blocks === undefined || each === undefined ? undefined : blocks * each,
    prefixHitRatio: shareOf(page, ['kv_cache_hit_rate']),
    prefixHits: cached,
    prefixQueries: cached === undefined ? undefined : prompt,
    promptTokens: prompt,
    generationTokens: sumOf(page, ['generation_tokens']),
    outcomes: outcomesOf([
      { samples: samplesOf(page, ['request_success']), wordOf: finishedReason },
      { samples: samplesOf(page, ['request_error']), wordOf: () => 'failed' },
    ]),
    timeToFirstToken: histogramOf(page, ['time_to_first_token_seconds']),
    interTokenLatency: histogramOf(page, ['inter_token_latency_seconds', 'time_per_output_token_seconds']),
    timePerOutputToken: histogramOf(page, ['time_per_output_token_seconds']),
    requestDuration: histogramOf(page, ['e2e_request_latency_seconds']),
  })
}

const version = z.object({ version: z.string() })

export const trtllmServe = defineFamily({
  id: 'trtllm-serve',
  title: 'TensorRT-LLM',
  command: /\btrtllm-serve\b/,
  image: /(?:^|\/)tensorrt-llm\//,
  port: 8_000,
  proof: {
    path: '/version',
    read: ({ body }) => {
      const found = readJson(body, version)
      return found === undefined ? undefined : { version: found.version.slice(0, 100) }
    },
  },
  proofIsWeak: true,
  pages: [{ path: '/prometheus/metrics', rate: 'scrape', read: readMetrics }],
  log: readTrtllmLog,
})
