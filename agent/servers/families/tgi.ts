// Text Generation Inference: the router tells the queue and the token budget; it has no time to the first token.
import * as z from 'zod/mini'
import { readExposition } from '../exposition.ts'
import { defineFamily, type Known } from '../family.ts'
import { amount, readJson, words } from '../json-page.ts'
import { figures, type RequestOutcome, type ServerFigures } from '../model.ts'
import { highestOf, histogramOf, outcomesOf, samplesOf, sumOf } from '../pick.ts'
import { lookup } from '../../text/lookup.ts'

/** Buckets of these two alone. */
const BUCKETS = /^request_(?:duration|mean_time_per_token_duration)_bucket$/
const wanted = (name: string): string | undefined => {
  const own = /^tgi_(.+)$/.exec(name)?.[1]
  return own === undefined || (own.endsWith('_bucket') && !BUCKETS.test(own)) ? undefined : own
}
const FAILURES: Readonly<Record<string, RequestOutcome>> = { validation: 'rejected', overloaded: 'rejected', dropped: 'aborted' }

export function readMetrics(body: string, { figures: reported, seen }: Pick<Known, 'figures' | 'seen'> = { figures: {} }): ServerFigures | undefined {
  const page = readExposition(body, wanted, seen)
  if (page.size === 0) return undefined
  // Up to 2 it is in /info alone.
  const budget = highestOf(page, ['batch_max_total_tokens']) ?? reported.kvCapacityTokens
  const used = highestOf(page, ['batch_current_max_tokens'])
  // Tokens of prompts that the prefix cache held.
  const skipped = sumOf(page, ['request_skipped_tokens_sum'])
  return figures({
    state: 'ready',
    running: sumOf(page, ['batch_current_size']),
    waiting: sumOf(page, ['queue_size']),
    // What the running requests may come to, of the budget that is the KV cache.
    kvUsage: budget === undefined || used === undefined || budget <= 0 ? undefined : Math.min(1, used / budget),
    kvCapacityTokens: budget,
    promptTokens: sumOf(page, ['request_input_length_sum']),
    prefixHits: skipped,
    prefixQueries: skipped === undefined ? undefined : sumOf(page, ['request_input_length_sum']),
    generationTokens: sumOf(page, ['request_generated_tokens_sum']),
    outcomes: outcomesOf([
      { samples: samplesOf(page, ['request_success']), wordOf: () => 'completed' },
      { samples: samplesOf(page, ['request_failure']), wordOf: ({ err }) => lookup(FAILURES, err ?? '') ?? 'failed' },
    ]),
    interTokenLatency: histogramOf(page, ['request_mean_time_per_token_duration']),
    requestDuration: histogramOf(page, ['request_duration']),
  })
}

const info = z.object({
  model_id: z.string(),
  version: words,
  model_dtype: words,
  quantize: words,
  max_total_tokens: amount,
  max_batch_total_tokens: amount,
  router: words,
  model_type: z.optional(z.unknown()),
})
export function readInfo(body: string): ServerFigures | undefined {
  const found = readJson(body, info)
  // The sister for embeddings has `model_type`.
  if (found === undefined || found.model_type !== undefined) return undefined
  const { model_id: model, version, quantize, max_total_tokens: context, max_batch_total_tokens: budget } = found
  return figures({ models: [model.slice(0, 200)], version, quantization: quantize, context, kvCapacityTokens: budget })
}

export const tgi = defineFamily({
  id: 'tgi',
  title: 'TGI',
  command: /text-generation-(?:router|backends-trtllm)\b/,
  helper: /text-generation-(?:launcher|server)\b/,
  image: /text-generation-inference/,
  port: 3_000,
  proof: { path: '/info', read: ({ body }) => readInfo(body) },
  pages: [
    { path: '/metrics', rate: 'scrape', read: readMetrics },
    { path: '/info', rate: 'rare', read: readInfo },
  ],
  log: (text) => {
    const tokens = /Setting max batch total tokens to (\d+)/.exec(text)?.[1]
    const [, blocks, size] = /KV-cache blocks: (\d+), size: (\d+)/.exec(text) ?? []
    const inBlocks = blocks === undefined ? undefined : Number(blocks) * Number(size)
    return figures({ kvCapacityTokens: tokens === undefined ? inBlocks : Number(tokens) })
  },
  engineApart: true,
})
