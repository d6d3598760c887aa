// llama.cpp's llama-server: one model, or a router whose children listen for themselves. Asleep it is not asked: /slots would load the model.
import * as z from 'zod/mini'
import { readExposition } from '../exposition.ts'
import { defineFamily, type Asked, type Known } from '../family.ts'
import { amount, listOf, part, readJson, words } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'
import { highestOf, shareOf, sumOf } from '../pick.ts'
import { readGgmlLog } from './ggml-log.ts'
import { fileOf, readProps, readSlots, typeOf } from './llama-server-pages.ts'

const wanted = (name: string): string | undefined => /^llamacpp:(.+)$/.exec(name)?.[1]

export function readMetrics(body: string, { seen }: Asked = {}): ServerFigures | undefined {
  const page = readExposition(body, wanted, seen)
  if (page.size === 0) return undefined
  const cached = sumOf(page, ['prompt_tokens_cached'])
  const prompt = sumOf(page, ['prompt_tokens'])
  return figures({
    running: sumOf(page, ['requests_processing']),
    waiting: sumOf(page, ['requests_deferred']),
    // Gone since June 2025; newer ones tell it by /slots.
    kvUsage: shareOf(page, ['kv_cache_usage_ratio']),
    promptTokens: prompt,
    generationTokens: sumOf(page, ['tokens_predicted']),
    // Named so since b6910, n_past_max before.
    longestRequest: highestOf(page, ['n_tokens_max', 'n_past_max']),
    prefixHits: cached,
    prefixQueries: cached === undefined || prompt === undefined ? undefined : cached + prompt,
  })
}

const models = z.object({
  data: listOf(
    z.object({
      id: words,
      status: part(z.object({ value: words })),
      meta: part(z.object({ n_ctx: amount, ftype: words })),
    }),
  ),
})
export function readModels(body: string): ServerFigures | undefined {
  const data = readJson(body, models)?.data
  if (data === undefined) return undefined
  // Of a router only the loaded ones; without a status there is one model.
  const loaded = data.filter(({ status }) => status === undefined || status.value === 'loaded' || status.value === 'sleeping')
  return figures({
    models: loaded.flatMap(({ id }) => fileOf(id) ?? []).slice(0, 8),
    quantization: typeOf(loaded[0]?.meta?.ftype),
    context: loaded[0]?.meta?.n_ctx,
  })
}

const isRouter = ({ figures: { router } }: Known): boolean => router === true
const isServer = (known: Known): boolean => !isRouter(known)

export const llamaCpp = defineFamily({
  id: 'llama.cpp',
  title: 'llama.cpp',
  // Up to b3086 the program is named server.
  command: /(?:^|[\s/])llama-server\b|(?:^|\/)server .*\.gguf\b/,
  // Ollama's own child: Ollama is asked instead.
  helper: /\/ollama\/[\w./-]*llama-server\b/,
  image: /(?:^|\/)llama\.cpp(?:[:@]|$)/,
  port: 8_080,
  prefixFlag: '--api-prefix',
  proof: {
    path: '/props',
    read: ({ body, headers }) => readProps(body) ?? (headers['server'] === 'llama.cpp' ? {} : undefined),
  },
  pages: [
    // First, since it says whether the others may be asked.
    { path: '/props', rate: 'scrape', read: readProps },
    { path: '/slots', rate: 'scrape', when: isServer, read: readSlots },
    // Each reading empties the averages that this page shows its operator, so it is read as rarely as counters allow.
    { path: '/metrics', rate: 'rare', when: isServer, read: readMetrics },
    { path: '/models', rate: 'rare', when: isRouter, read: readModels },
    { path: '/v1/models', rate: 'rare', when: isServer, read: readModels },
  ],
  log: readGgmlLog,
})
