// Xinference: a supervisor that lists its models, and on newer ones counts their requests and tokens.
import * as z from 'zod/mini'
import { readExposition } from '../exposition.ts'
import { defineFamily, type Asked } from '../family.ts'
import { amount, listOf, readJson, words } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'
import { histogramOf, isUnread, labelValues, outcomesOf, samplesOf, sumOf } from '../pick.ts'

const wanted = (name: string): string | undefined => {
  const own = /^xinference:(.+)$/.exec(name)?.[1]
  return own === undefined || (isUnread(own) && !own.startsWith('model_request_duration_seconds')) ? undefined : own
}

export function readMetrics(body: string, { seen }: Asked = {}): ServerFigures | undefined {
  const page = readExposition(body, wanted, seen)
  if (page.size === 0) return undefined
  const [all, failed] = [sumOf(page, ['model_request']), sumOf(page, ['model_request_errors'])]
  return figures({
    models: labelValues(page, 'model_uid', ['model_info', 'model_serve_count']),
    version: labelValues(page, 'version', ['build_info'])[0],
    state: 'ready',
    running: sumOf(page, ['model_serve_count']),
    promptTokens: sumOf(page, ['input_tokens_total_counter']),
    generationTokens: sumOf(page, ['output_tokens_total_counter']),
    outcomes: {
      ...(all === undefined ? {} : { completed: Math.max(0, all - (failed ?? 0)) }),
      ...outcomesOf([{ samples: samplesOf(page, ['model_request_errors']), wordOf: () => 'failed' }]),
    },
    requestDuration: histogramOf(page, ['model_request_duration_seconds']),
  })
}

const models = z.object({ data: listOf(z.object({ id: words, owned_by: words, quantization: words, context_length: amount })) })
function readModels(body: string): ServerFigures | undefined {
  const data = readJson(body, models)?.data
  if (data === undefined) return undefined
  const quantization = data[0]?.quantization
  return figures({
    models: data.flatMap(({ id }) => id ?? []).slice(0, 8),
    context: data[0]?.context_length,
    quantization: quantization === 'none' ? undefined : quantization,
    state: 'ready',
  })
}

export const xinference = defineFamily({
  id: 'xinference',
  title: 'Xinference',
  command: /(?:^|[\s/])xinference-(?:local|supervisor)\b|\bxinference\.deploy\.(?:local|supervisor)\b/,
  helper: /(?:^|[\s/])xinference-worker\b|\bModel: \S+-\d+-\d+\b/,
  image: /(?:^|\/)xinference(?:[:@]|$)/,
  port: 9_997,
  proof: {
    path: '/v1/models',
    read: ({ body }) => {
      const data = readJson(body, models)?.data
      // An empty list says nothing of who answers.
      return data?.some(({ owned_by: owner }) => owner === 'xinference') === true ? readModels(body) : undefined
    },
  },
  pages: [
    { path: '/metrics', rate: 'scrape', read: readMetrics },
    { path: '/v1/models', rate: 'rare', read: readModels },
  ],
})
