// LM Studio: which models are loaded, and with which context. It tells no bytes.
import * as z from 'zod/mini'
import { defineFamily } from '../family.ts'
import { amount, listOf, part, readJson, words } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'

/** 0.4 and newer. */
const now = z.object({
  models: z.array(
    z.object({
      key: words,
      quantization: part(z.object({ name: words })),
      loaded_instances: listOf(z.object({ id: words, config: part(z.object({ context_length: amount })) })),
    }),
  ),
})
const before = z.object({
  data: z.array(z.object({ id: words, state: words, quantization: words, max_context_length: amount, loaded_context_length: amount })),
})

export function readModels(body: string): ServerFigures | undefined {
  const models = readJson(body, now)?.models.filter(({ loaded_instances: loaded }) => loaded.length > 0)
  if (models === undefined) return undefined
  return figures({
    state: 'ready',
    models: models.flatMap(({ key }) => key ?? []).slice(0, 8),
    quantization: models[0]?.quantization?.name,
    context: models[0]?.loaded_instances[0]?.config?.context_length,
  })
}
export function readOldModels(body: string): ServerFigures | undefined {
  const all = readJson(body, before)?.data
  // Others have a list of this shape too, but no state in it.
  if (all === undefined || !all.some(({ state }) => state === 'loaded' || state === 'not-loaded')) return undefined
  const models = all.filter(({ state }) => state === 'loaded')
  return figures({
    state: 'ready',
    models: models.flatMap(({ id }) => id ?? []).slice(0, 8),
    quantization: models[0]?.quantization,
    context: models[0]?.loaded_context_length,
  })
}

export const lmStudio = defineFamily({
  id: 'lm-studio',
  title: 'LM Studio',
  command: /lm-studio|LM-Studio|\.lmstudio\/|(?:^|[\s/])llmster\b/,
  port: 1_234,
  proof: { path: '/api/v0/models', read: ({ body }) => readOldModels(body) ?? readModels(body) },
  pages: [
    { path: '/api/v1/models', rate: 'scrape', read: readModels },
    { path: '/api/v0/models', rate: 'rare', read: readOldModels },
  ],
})
