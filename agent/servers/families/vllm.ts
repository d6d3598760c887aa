// vLLM: V0 and V1, alone or under Ray, whose names carry a prefix. The memory split is in its log alone.
import * as z from 'zod/mini'
import { defineFamily } from '../family.ts'
import { amount, listOf, readJson, words } from '../json-page.ts'
import { figures } from '../model.ts'
import { readVllmLog } from './vllm-log.ts'
import { readVllmMetrics } from './vllm-page.ts'

const version = z.object({ version: z.string() })
const models = z.object({ data: listOf(z.object({ id: words, max_model_len: amount })) })

export const vllm = defineFamily({
  id: 'vllm',
  title: 'vLLM',
  command: /(?:^|[\s/])vllm(?:\.exe)? serve\b|vllm\.entrypoints\.|(?:^|\s)\S{1,40}::APIServer/,
  // Its prefix can be set by VLLM_PROCESS_NAME_PREFIX.
  helper: /(?:^|\s)\S{1,40}::(?:EngineCore|Worker(?:_|$)|DPCoordinator)|VllmWorker/,
  image: /(?:^|\/)vllm(?:[-/]openai|[:@]|$)|vllm-openai/,
  port: 8_000,
  proof: {
    path: '/version',
    read: ({ body }) => {
      const found = readJson(body, version)
      return found === undefined ? undefined : { version: found.version.slice(0, 100) }
    },
  },
  proofIsWeak: true,
  keyed: { flag: /^--api-key(?:=|$)/, open: ['/version', '/metrics'] },
  pages: [
    { path: '/metrics', rate: 'scrape', read: readVllmMetrics },
    {
      path: '/v1/models',
      rate: 'rare',
      read: (body) => {
        const data = readJson(body, models)?.data
        if (data === undefined) return undefined
        return figures({ models: data.flatMap(({ id }) => id ?? []).slice(0, 8), context: data[0]?.max_model_len })
      },
    },
  ],
  log: readVllmLog,
  engineApart: true,
})
