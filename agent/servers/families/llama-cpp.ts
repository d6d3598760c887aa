// llama.cpp's llama-server: one model, or a router whose children listen for themselves. Asleep it is not asked: /slots would load the model.
import * as z from 'zod/mini'
import { readExposition } from '../exposition.ts'
import { defineFamily, type Known } from '../family.ts'
import { amount, flag, listOf, part, readJson, words } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'
import { highestOf, shareOf, sumOf } from '../pick.ts'
import { readGgmlLog } from './ggml-log.ts'

const wanted = (name: string): string | undefined => /^llamacpp:(.+)$/.exec(name)?.[1]

export function readMetrics(body: string): ServerFigures | undefined {
  const page = readExposition(body, wanted)
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

const props = z.object({
  role: words,
  build_info: words,
  is_sleeping: flag,
  total_slots: amount,
  model_alias: words,
  model_path: words,
  model_ftype: words,
  default_generation_settings: part(z.object({ n_ctx: amount })),
})
/** Of a file that does not name its type: `(guessed) all F32`. */
const typeOf = (text: string | undefined): string | undefined => text?.replace(/^\(guessed\) /, '')
const fileOf = (path: string | undefined): string | undefined => path?.split(/[\\/]/).at(-1)

export function readProps(body: string): ServerFigures | undefined {
  const found = readJson(body, props)
  if (found === undefined) return undefined
  const { role, build_info: version, is_sleeping: asleep, total_slots: slots, default_generation_settings: settings } = found
  if (role === 'router') return figures({ router: true, version, state: 'ready' })
  if (slots === undefined && version === undefined) return undefined
  // Newer ones give the path as the name of what has none.
  const model = found.model_alias === found.model_path ? fileOf(found.model_path) : (found.model_alias ?? fileOf(found.model_path))
  return figures({
    version,
    models: model === undefined ? undefined : [model],
    quantization: typeOf(found.model_ftype),
    context: settings?.n_ctx,
    state: asleep === true ? 'sleeping' : 'ready',
  })
}

/** Slots share one cache unless their number was given; what is not known of a command line is not guessed. */
function sharesOneCache({ argv }: Known): boolean | undefined {
  if (argv.length === 0) return undefined
  if (argv.some((word) => word === '-kvu' || word === '--kv-unified')) return true
  return !argv.some((word) => /^(?:-np|--parallel)(?:=|$)/.test(word))
}

// Only numbers: builds up to b6000 put the prompt's text on this page.
const slots = listOf(z.object({ n_ctx: amount, is_processing: flag, n_prompt_tokens: amount }))
export function readSlots(body: string, known: Known): ServerFigures | undefined {
  const found = readJson(body, slots)
  if (found === undefined || found.length === 0) return undefined
  const contexts = found.flatMap(({ n_ctx: length }) => length ?? [])
  const oneCache = found.length === 1 ? false : sharesOneCache(known)
  const capacity =
    contexts.length !== found.length || oneCache === undefined ? undefined : oneCache ? Math.max(...contexts) : contexts.reduce((sum, each) => sum + each, 0)
  const busy = found.filter(({ is_processing: isBusy }) => isBusy === true)
  const tokens = busy.map(({ n_prompt_tokens: count }) => count)
  const used = tokens.reduce<number | undefined>((sum, count) => (sum === undefined || count === undefined ? undefined : sum + count), 0)
  return figures({
    running: found.every(({ is_processing: isBusy }) => isBusy !== undefined) ? busy.length : undefined,
    context: contexts[0],
    kvCapacityTokens: capacity,
    kvUsage: capacity === undefined || capacity <= 0 || used === undefined ? undefined : Math.min(1, used / capacity),
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
  command: /(?:^|[\s/])llama-server\b/,
  // Ollama's own child: Ollama is asked instead.
  helper: /\/ollama\/[\w./-]*llama-server\b/,
  image: /(?:^|\/)llama\.cpp(?:[:@]|$)/,
  port: 8_080,
  proof: {
    path: '/props',
    read: ({ body, headers }) => readProps(body) ?? (headers['server'] === 'llama.cpp' ? {} : undefined),
  },
  pages: [
    // First, since it says whether the others may be asked.
    { path: '/props', rate: 'scrape', read: readProps },
    { path: '/slots', rate: 'scrape', when: isServer, read: readSlots },
    // Each reading empties the averages that this page tells its operator, so it is read as seldom as counters allow.
    { path: '/metrics', rate: 'rare', when: isServer, read: readMetrics },
    { path: '/models', rate: 'rare', when: isRouter, read: readModels },
    { path: '/v1/models', rate: 'rare', when: isServer, read: readModels },
  ],
  log: readGgmlLog,
})
