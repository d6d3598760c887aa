// NVIDIA NIM: vLLM's names in newer ones; in 1.x names without any prefix, too plain to be believed of a server that nothing else says to be a NIM.
import * as z from 'zod/mini'
import { readExposition } from '../exposition.ts'
import { defineFamily, type Asked } from '../family.ts'
import { readJson } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'
import { finishedReason, histogramOf, isUnread, labelValues, outcomesOf, samplesOf, shareOf, sumOf } from '../pick.ts'
import { readVllmMetrics } from './vllm-page.ts'

const NAMES =
  /^(?:gpu_cache_usage_perc|num_requests?_|prompt_tokens|generation_tokens|request_|time_|e2e_|inter_token_latency_|kv_cache_usage_perc|prefix_cache_|num_preemptions)/
const wanted = (name: string): string | undefined => (NAMES.test(name) && !isUnread(name) ? name : undefined)
export const readMetrics = (body: string, asked: Asked = {}): ServerFigures | undefined => readVllmMetrics(body, asked) ?? readPlain(body, asked)

function readPlain(body: string, { seen }: Asked): ServerFigures | undefined {
  const page = readExposition(body, wanted, seen)
  if (page.size === 0) return undefined
  const finished = samplesOf(page, ['request_finish'])
  return figures({
    models: labelValues(page, 'model_name'),
    state: 'ready',
    running: sumOf(page, ['num_requests_running']),
    waiting: sumOf(page, ['num_requests_waiting']),
    kvUsage: shareOf(page, ['kv_cache_usage_perc', 'gpu_cache_usage_perc']),
    preemptions: sumOf(page, ['num_preemptions']),
    promptTokens: sumOf(page, ['prompt_tokens']),
    generationTokens: sumOf(page, ['generation_tokens']),
    outcomes: outcomesOf([
      { samples: finished.length > 0 ? finished : samplesOf(page, ['request_success']), wordOf: finishedReason },
      { samples: samplesOf(page, ['request_failure']), wordOf: () => 'failed' },
    ]),
    timeToFirstToken: histogramOf(page, ['time_to_first_token_seconds']),
    interTokenLatency: histogramOf(page, ['inter_token_latency_seconds', 'time_per_output_token_seconds']),
    requestDuration: histogramOf(page, ['e2e_request_latency_seconds']),
  })
}

const ready = z.object({ object: z.literal('health.response') })

export const nim = defineFamily({
  id: 'nim',
  title: 'NIM',
  command: /\bvllm_nvext\b|\bnim_llm\b|\/opt\/nim\//,
  image: /(?:^|\/)nim\//,
  port: 8_000,
  proof: { path: '/v1/health/ready', read: ({ body }) => (readJson(body, ready) === undefined ? undefined : { state: 'ready' }) },
  proofIsWeak: true,
  pages: [{ path: '/v1/metrics', rate: 'scrape', read: readMetrics }],
})
