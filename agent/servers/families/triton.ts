// Triton, also with TensorRT-LLM or vLLM behind it. Metrics have a port of their own.
import { readExposition } from '../exposition.ts'
import { defineFamily, type Asked } from '../family.ts'
import { figures, joined, type RequestOutcome, type ServerFigures } from '../model.ts'
import { highestOf, labelValues, outcomesOf, samplesOf, shareOf, sumOf } from '../pick.ts'
import { readTrtllmLog } from './trtllm-log.ts'
import { readVllmMetrics } from './vllm-page.ts'
import { lookup } from '../../text/lookup.ts'

const wanted = (name: string): string | undefined => (/^nv_(?:inference|(?:trt_)?llm)_(?!.*_bucket$)/.test(name) ? name : undefined)
const FAILURES: Readonly<Record<string, RequestOutcome>> = { REJECTED: 'rejected', CANCELED: 'aborted' }
const REQUESTS = ['nv_trt_llm_request_metrics']
const BLOCKS = ['nv_trt_llm_kv_cache_block_metrics']

function readOwn(body: string, { seen }: Asked): ServerFigures | undefined {
  const page = readExposition(body, wanted, seen)
  if (page.size === 0) return undefined
  const blocks = (type: string): number | undefined => highestOf(page, BLOCKS, { kv_cache_block_type: type })
  const [used, most, each] = [blocks('used'), blocks('max'), blocks('tokens_per')]
  return figures({
    models: labelValues(page, 'model'),
    state: 'ready',
    running: sumOf(page, REQUESTS, { request_type: 'active' }),
    waiting: sumOf(page, REQUESTS, { request_type: 'waiting' }) ?? sumOf(page, ['nv_inference_pending_request_count']),
    kvUsage: used === undefined || most === undefined || most <= 0 ? shareOf(page, BLOCKS, { kv_cache_block_type: 'fraction' }) : Math.min(1, used / most),
    kvCapacityTokens: most === undefined || each === undefined ? undefined : most * each,
    promptTokens: sumOf(page, ['nv_llm_input_token_len_sum']),
    generationTokens: sumOf(page, ['nv_llm_output_token_len_sum']),
    outcomes: outcomesOf([
      { samples: samplesOf(page, ['nv_inference_request_success']), wordOf: () => 'completed' },
      { samples: samplesOf(page, ['nv_inference_request_failure']), wordOf: ({ reason }) => lookup(FAILURES, reason ?? '') ?? 'failed' },
    ]),
  })
}

/** Its back end for vLLM puts that one's names on the same page, where they tell of the language model and Triton's own of all models. */
export function readMetrics(body: string, asked: Asked = {}): ServerFigures | undefined {
  const own = readOwn(body, asked)
  if (own === undefined) return undefined
  const engine = readVllmMetrics(body, asked)
  if (engine === undefined) return own
  const { outcomes: _, models: __, state: ___, ...tokens } = engine
  return joined(tokens, own)
}

export const triton = defineFamily({
  id: 'triton',
  title: 'Triton',
  command: /(?:^|[\s/])tritonserver\b/,
  helper: /triton_python_backend_stub/,
  image: /(?:^|\/)tritonserver(?:[:@]|$)/,
  port: 8_002,
  proof: {
    path: '/metrics',
    read: ({ body }) => readMetrics(body),
  },
  pages: [{ path: '/metrics', rate: 'scrape', read: readMetrics }],
  log: readTrtllmLog,
})
