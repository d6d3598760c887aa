// Infinity: embeddings; its list of models tells the queue of each.
import * as z from 'zod/mini'
import { defineFamily } from '../family.ts'
import { amount, listOf, part, readJson, words } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'

const model = z.object({ id: words, stats: part(z.object({ queue_absolute: amount, queue_fraction: amount, results_pending: amount })) })
/** Up to 0.0.31 it has one model, without a list. */
const models = z.object({
  data: z.union([
    z.pipe(
      model,
      z.transform((one: z.output<typeof model>) => [one]),
    ),
    listOf(model),
  ]),
})
export function readModels(body: string): ServerFigures | undefined {
  const data = readJson(body, models)?.data
  if (data === undefined || !data.some(({ stats }) => stats !== undefined)) return undefined
  const waits = data.flatMap(({ stats }) => stats?.queue_absolute ?? [])
  const pending = data.flatMap(({ stats }) => stats?.results_pending ?? [])
  const total = (values: readonly number[]): number | undefined => (values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0))
  return figures({ state: 'ready', models: data.flatMap(({ id }) => id ?? []).slice(0, 8), waiting: total(waits), running: total(pending) })
}

export const infinity = defineFamily({
  id: 'infinity',
  title: 'Infinity',
  command: /\binfinity_emb\b/,
  image: /(?:^|\/)infinity(?:[:@]|$)/,
  port: 7_997,
  proof: { path: '/models', read: ({ body }) => readModels(body) },
  pages: [{ path: '/models', rate: 'scrape', read: readModels }],
})
