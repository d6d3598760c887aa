// SGLang. Its /health makes a token and its /server_info holds keys: neither is ever asked.
import * as z from 'zod/mini'
import { readExposition } from '../exposition.ts'
import { defineFamily, type Asked } from '../family.ts'
import { amount, listOf, part, readJson, words } from '../json-page.ts'
import { figures, type FigureSource, type MemoryFigure, type ServerFigures } from '../model.ts'
import { highestOf, histogramOf, isUnread, labelValues, outcomesOf, samplesOf, shareOf, sumOf } from '../pick.ts'
import type { Exposition, Sample } from '../seen-page.ts'
import { readSglangLog } from './sglang-log.ts'

const nameOf =
  (quantilesOnly: boolean) =>
  (name: string): string | undefined => {
    const own = /^sglang[:_](.+)$/.exec(name)?.[1]
    return own === undefined || isUnread(own, quantilesOnly) ? undefined : own
  }
const [ANY, FEW] = [nameOf(false), nameOf(true)]
/** Its GB are 2^30 bytes. */
const memory = (gigabytes: number | undefined, source: FigureSource): MemoryFigure | undefined =>
  gigabytes === undefined ? undefined : { bytes: Math.round(gigabytes * 2 ** 30), source }
const split = (weights?: MemoryFigure, cache?: MemoryFigure, graphs?: MemoryFigure): ServerFigures['memory'] => ({
  ...(weights === undefined ? {} : { weights }),
  ...(cache === undefined ? {} : { kv_cache: cache }),
  ...(graphs === undefined ? {} : { graphs }),
})

/**
 * With --enable-metrics-for-all-schedulers each tensor- and pipeline-parallel rank says the same of the requests that they compute together: the first is
 * taken, of each data-parallel engine. With attention by data parallelism an engine is itself a rank (dp_rank 5 has tp_rank 5).
 */
function ofFirstRanks(page: Exposition): Exposition {
  const first = new Map<string, number>()
  for (const samples of page.values())
    for (const { labels } of samples) {
      const [rank, engine] = [rankOf(labels), labels['dp_rank'] ?? '']
      if (rank !== undefined) first.set(engine, Math.min(first.get(engine) ?? rank, rank))
    }
  const counts = ({ labels }: Sample): boolean => {
    const rank = rankOf(labels)
    return rank === undefined || rank === first.get(labels['dp_rank'] ?? '')
  }
  return new Map(
    [...page].map(([name, samples]) => {
      const counted = samples.filter(counts)
      return [name, counted.length === 0 ? samples : counted]
    }),
  )
}
/** Its place among the ranks of an engine; undefined where it names none. */
function rankOf(labels: Sample['labels']): number | undefined {
  const ranks = RANKS.map((rank) => labels[rank])
  return ranks.every((rank) => rank === undefined) ? undefined : ranks.reduce((place, rank) => place * 10_000 + (Number(rank ?? 0) || 0), 0)
}
const RANKS = ['pp_rank', 'tp_rank', 'moe_ep_rank']
/** With priorities SGLang reports the whole queue under an empty priority, and each priority again. */
function queueOf(page: Exposition, names: readonly string[]): number | undefined {
  const all = samplesOf(page, names)
  const whole = all.filter(({ labels }) => labels['priority'] === '')
  const counted = whole.length > 0 ? whole : all
  return counted.length === 0 ? undefined : counted.reduce((sum, { value }) => sum + value, 0)
}
/** The fullest of its pools, where each pool has a series of its own. */
const poolOf = (page: Exposition): number | undefined => {
  const pools = ['full_token_usage', 'swa_token_usage', 'mamba_usage'].flatMap((name) => shareOf(page, [name]) ?? [])
  return pools.length === 0 ? undefined : Math.max(...pools)
}

function usageOf(page: Exposition): number | undefined {
  const [used, most] = [sumOf(page, ['num_used_tokens', 'kv_used_tokens']), sumOf(page, ['max_total_num_tokens'])]
  return (
    shareOf(page, ['token_usage', 'kv_cache_usage_perc']) ??
    poolOf(page) ??
    (used === undefined || most === undefined || most <= 0 ? undefined : Math.min(1, used / most))
  )
}

export function readMetrics(body: string, { quantilesOnly, seen }: Asked = {}): ServerFigures | undefined {
  const whole = readExposition(body, quantilesOnly === true ? FEW : ANY, seen)
  if (whole.size === 0) return undefined
  const page = ofFirstRanks(whole)
  const cached = sumOf(page, ['cached_tokens'])
  const names = labelValues(page, 'model_name')
  return figures({
    models: names.length > 0 ? names : labelValues(page, 'name', ['num_requests_running', 'token_usage']),
    state: 'ready',
    running: queueOf(page, ['num_running_reqs', 'num_requests_running']),
    waiting: queueOf(page, ['num_queue_reqs', 'num_requests_waiting', 'queue_req']),
    kvUsage: usageOf(page),
    // One for each data-parallel engine.
    kvCapacityTokens: sumOf(page, ['max_total_num_tokens']),
    preemptions: sumOf(page, ['num_retracted_requests']),
    prefixHits: cached ?? sumOf(page, ['prefix_cache_hits']),
    prefixQueries: cached === undefined ? sumOf(page, ['prefix_cache_queries']) : sumOf(page, ['prompt_tokens']),
    prefixHitRatio: shareOf(page, ['cache_hit_rate']),
    promptTokens: sumOf(page, ['prompt_tokens']),
    generationTokens: sumOf(page, ['generation_tokens']),
    outcomes: outcomesOf([
      { samples: samplesOf(page, ['num_requests']), wordOf: () => 'completed' },
      { samples: samplesOf(page, ['num_aborted_requests']), wordOf: () => 'aborted' },
    ]),
    timeToFirstToken: histogramOf(page, ['time_to_first_token_seconds']),
    interTokenLatency: histogramOf(page, ['inter_token_latency_seconds', 'time_per_output_token_seconds']),
    requestDuration: histogramOf(page, ['e2e_request_latency_seconds']),
    context: highestOf(page, ['context_len']),
    // Of each rank that reports; graphs by phase.
    memory: split(
      memory(sumOf(whole, ['weight_memory_usage_gb']), 'gauge'),
      memory(sumOf(whole, ['kv_cache_memory_usage_gb']), 'gauge'),
      memory(sumOf(whole, ['graph_memory_usage_gb']), 'gauge'),
    ),
  })
}

const load = z.object({
  num_running_reqs: amount,
  num_waiting_reqs: amount,
  num_used_tokens: amount,
  max_total_num_tokens: amount,
  token_usage: amount,
  cache_hit_rate: amount,
  memory: part(z.object({ weight_gb: amount, kv_cache_gb: amount, graph_gb: amount, token_capacity: amount })),
})
const loads = z.union([
  z.object({ loads: listOf(load) }),
  z.pipe(
    listOf(load),
    z.transform((found: z.output<typeof load>[]) => ({ loads: found })),
  ),
])

export function readLoads(body: string): ServerFigures | undefined {
  const found = readJson(body, loads)?.loads
  if (found === undefined || found.length === 0) return undefined
  const sum = (pick: (one: z.output<typeof load>) => number | undefined): number | undefined => {
    const values = found.flatMap((one) => pick(one) ?? [])
    return values.length === 0 ? undefined : values.reduce((all, value) => all + value, 0)
  }
  const usages = found.flatMap(
    ({ token_usage: usage, num_used_tokens: used, max_total_num_tokens: most }) =>
      usage ?? (used === undefined || most === undefined || most <= 0 ? [] : used / most),
  )
  return figures({
    state: 'ready',
    running: sum((one) => one.num_running_reqs),
    waiting: sum((one) => one.num_waiting_reqs),
    kvUsage: usages.length === 0 ? undefined : Math.min(1, Math.max(...usages)),
    kvCapacityTokens: sum((one) => one.max_total_num_tokens ?? one.memory?.token_capacity),
    memory: split(
      memory(
        sum((one) => one.memory?.weight_gb),
        'api',
      ),
      memory(
        sum((one) => one.memory?.kv_cache_gb),
        'api',
      ),
      memory(
        sum((one) => one.memory?.graph_gb),
        'api',
      ),
    ),
  })
}

const info = z.object({ model_path: z.string(), is_generation: z.optional(z.unknown()) })
const models = z.object({ data: listOf(z.object({ id: words, max_model_len: amount })) })

export const sglang = defineFamily({
  id: 'sglang',
  title: 'SGLang',
  command: /sglang\.launch_server|(?:^|\s)sglang::server\b|(?:^|[\s/])sglang serve\b/,
  // Behind a router of its own (sglang_router.launch_server) each server has this title alone.
  helper: /sglang::(?!server\b)/,
  image: /(?:^|\/)sglang(?:[:@]|$)/,
  port: 30_000,
  keyed: { flag: /^--api-key(?:=|$)/, open: ['/metrics'] },
  proof: {
    path: '/model_info',
    read: ({ body }) => {
      const found = readJson(body, info)
      return found === undefined ? undefined : { models: [found.model_path.slice(0, 200)] }
    },
  },
  pages: [
    { path: '/metrics', rate: 'scrape', read: readMetrics },
    { path: '/v1/loads?include=core,memory,queues', rate: 'scrape', read: readLoads },
    {
      path: '/v1/models',
      rate: 'rare',
      read: (body) => {
        const data = readJson(body, models)?.data
        return data === undefined ? undefined : figures({ models: data.flatMap(({ id }) => id ?? []).slice(0, 8), context: data[0]?.max_model_len })
      },
    },
  ],
  log: readSglangLog,
  engineApart: true,
})
