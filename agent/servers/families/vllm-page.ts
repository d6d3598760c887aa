// vLLM's metrics: V0 and V1, alone, under Ray, whose names carry a prefix, and behind Triton or a NIM.
import { readExposition } from '../exposition.ts'
import type { Asked } from '../family.ts'
import { figures, type ServerFigures } from '../model.ts'
import type { Exposition } from '../seen-page.ts'
import { finishedReason, highestOf, histogramOf, isUnread, labelValues, outcomesOf, samplesOf, shareOf, sumOf } from '../pick.ts'

/** `vllm:x`, `ray_vllm:x` and, with OpenTelemetry in Ray, `ray_vllm_x`. */
const nameOf =
  (quantilesOnly: boolean) =>
  (name: string): string | undefined => {
    const own = /^(?:ray_)?vllm[:_](.+)$/.exec(name)?.[1]
    return own === undefined || isUnread(own, quantilesOnly) ? undefined : own
  }
const [ANY, FEW] = [nameOf(false), nameOf(true)]

function capacityOf(page: Exposition): number | undefined {
  const rows = samplesOf(page, ['cache_config_info']).map(({ labels }) => labels)
  const number = (text: string | undefined): number | undefined => (text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined)
  const tokens = rows.flatMap(({ kv_cache_size_tokens: text }) => number(text) ?? [])
  // One row for each engine, and each engine has a cache of its own.
  if (tokens.length > 0) return tokens.reduce((sum, each) => sum + each, 0)
  const blocks = rows.flatMap(({ num_gpu_blocks: count, block_size: size }) => {
    const [blocksOf, tokensOf] = [number(count), number(size)]
    return blocksOf === undefined || tokensOf === undefined ? [] : [blocksOf * tokensOf]
  })
  // num_gpu_blocks is the sum over the data-parallel engines in each of their rows.
  return blocks.length === 0 ? undefined : Math.max(...blocks)
}

function stateOf(page: Exposition): ServerFigures['state'] {
  const asleep = samplesOf(page, ['engine_sleep_state']).some(({ labels, value }) => value === 1 && labels['sleep_state'] !== 'awake')
  return asleep ? 'sleeping' : 'ready'
}

function offloadOf(page: Exposition): number | undefined {
  const offloads = labelValues(page, 'cpu_offload_gb', ['cache_config_info']).map(Number)
  // How much of the weights that is cannot be told without their size.
  return offloads.length > 0 && offloads.every((gigabytes) => gigabytes === 0) ? 0 : undefined
}

function shareReported(page: Exposition): number | undefined {
  const [share] = labelValues(page, 'gpu_memory_utilization', ['cache_config_info']).map(Number)
  return share !== undefined && share > 0 && share <= 1 ? share : undefined
}

export function readVllmMetrics(body: string, { quantilesOnly, seen }: Asked = {}): ServerFigures | undefined {
  const page = readExposition(body, quantilesOnly === true ? FEW : ANY, seen)
  // With --disable-log-stats the page holds none of its names.
  if (page.size === 0) return undefined
  const queries = sumOf(page, ['prefix_cache_queries', 'gpu_prefix_cache_queries'])
  // Each by where its tokens came from, which is not named alike in all versions.
  const prompt = sumOf(page, ['prompt_tokens', 'prompt_tokens_by_source'])
  return figures({
    models: labelValues(page, 'model_name'),
    state: stateOf(page),
    running: sumOf(page, ['num_requests_running']),
    waiting: sumOf(page, ['num_requests_waiting']),
    kvUsage: shareOf(page, ['kv_cache_usage_perc', 'gpu_cache_usage_perc']),
    kvCapacityTokens: capacityOf(page),
    preemptions: sumOf(page, ['num_preemptions']),
    prefixQueries: queries,
    prefixHits: queries === undefined ? undefined : sumOf(page, ['prefix_cache_hits', 'gpu_prefix_cache_hits']),
    prefixHitRatio: shareOf(page, ['gpu_prefix_cache_hit_rate']),
    promptTokens: prompt,
    generationTokens: sumOf(page, ['generation_tokens']),
    outcomes: outcomesOf([{ samples: samplesOf(page, ['request_success']), wordOf: finishedReason }]),
    timeToFirstToken: histogramOf(page, ['time_to_first_token_seconds']),
    interTokenLatency: histogramOf(page, ['inter_token_latency_seconds', 'time_per_output_token_seconds']),
    timePerOutputToken: histogramOf(page, ['request_time_per_output_token_seconds']),
    requestDuration: histogramOf(page, ['e2e_request_latency_seconds']),
    offloadedRatio: offloadOf(page),
    context: highestOf(page, ['max_model_len']),
    memoryShare: shareReported(page),
  })
}
