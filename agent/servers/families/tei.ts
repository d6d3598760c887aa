// Text Embeddings Inference.
import * as z from 'zod/mini'
import { readExposition } from '../exposition.ts'
import { defineFamily, type Asked } from '../family.ts'
import { amount, readJson, words } from '../json-page.ts'
import { figures, type RequestOutcome, type ServerFigures } from '../model.ts'
import { outcomesOf, samplesOf, sumOf } from '../pick.ts'
import { lookup } from '../../text/lookup.ts'

const wanted = (name: string): string | undefined => /^te_(?!.*_bucket$)(.+)$/.exec(name)?.[1]
const FAILURES: Readonly<Record<string, RequestOutcome>> = { validation: 'rejected', overloaded: 'rejected' }

export function readMetrics(body: string, { seen }: Asked = {}): ServerFigures | undefined {
  const page = readExposition(body, wanted, seen)
  if (page.size === 0) return undefined
  return figures({
    state: 'ready',
    waiting: sumOf(page, ['queue_size']),
    promptTokens: sumOf(page, ['request_input_length_sum']),
    outcomes: outcomesOf([
      { samples: samplesOf(page, ['request_success']), wordOf: () => 'completed' },
      { samples: samplesOf(page, ['request_failure']), wordOf: ({ err }) => lookup(FAILURES, err ?? '') ?? 'failed' },
    ]),
  })
}

const info = z.object({
  model_id: z.string(),
  model_type: z.unknown(),
  version: words,
  max_input_length: amount,
  tokenization_workers: z.optional(z.unknown()),
})
export function readInfo(body: string): ServerFigures | undefined {
  const found = readJson(body, info)
  if (found === undefined) return undefined
  return figures({ models: [found.model_id.slice(0, 200)], version: found.version, context: found.max_input_length })
}

export const tei = defineFamily({
  id: 'tei',
  title: 'TEI',
  command: /text-embeddings-router\b/,
  image: /text-embeddings-inference/,
  port: 3_000,
  proof: { path: '/info', read: ({ body }) => readInfo(body) },
  pages: [
    { path: '/metrics', rate: 'scrape', read: readMetrics },
    { path: '/info', rate: 'rare', read: readInfo },
  ],
})
