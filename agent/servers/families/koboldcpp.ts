// KoboldCpp: llama.cpp with an API of its own; one request at a time, and a queue.
import * as z from 'zod/mini'
import { defineFamily } from '../family.ts'
import { amount, readJson, words } from '../json-page.ts'
import { figures, type ServerFigures } from '../model.ts'

const version = z.object({ result: z.literal('KoboldCpp'), version: words })
const perf = z.object({ queue: z.number(), idle: z.number(), total_gens: amount })
const model = z.object({ result: z.string() })
const context = z.object({ value: z.number() })

export function readPerf(body: string): ServerFigures | undefined {
  const found = readJson(body, perf)
  if (found === undefined) return undefined
  const total = found.total_gens
  return figures({ state: 'ready', running: found.idle === 0 ? 1 : 0, waiting: found.queue, outcomes: total === undefined ? undefined : { completed: total } })
}

export const koboldCpp = defineFamily({
  id: 'koboldcpp',
  title: 'KoboldCpp',
  command: /(?:^|[\s/])koboldcpp[\w.-]*(?:\s|$)/,
  image: /(?:^|\/)koboldcpp(?:[:@]|$)/,
  port: 5_001,
  proof: {
    path: '/api/extra/version',
    read: ({ body }) => {
      const found = readJson(body, version)
      return found === undefined ? undefined : figures({ version: found.version, state: 'ready' })
    },
  },
  pages: [
    { path: '/api/extra/perf', rate: 'scrape', read: readPerf },
    {
      path: '/api/v1/model',
      rate: 'rare',
      read: (body) => {
        const name = readJson(body, model)
          ?.result.replace(/^koboldcpp\//, '')
          .slice(0, 200)
        // "inactive" while no text model is loaded.
        return name === undefined || name === '' || name === 'inactive' ? undefined : { models: [name] }
      },
    },
    {
      path: '/api/extra/true_max_context_length',
      rate: 'rare',
      read: (body) => {
        const value = readJson(body, context)?.value
        return value === undefined || value <= 0 ? undefined : { context: value }
      },
    },
  ],
})
