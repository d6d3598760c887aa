// Each family in an old and a new version: the same figures under the names of each, or under those that replaced them. The pages are our own.
import { describe, expect, test } from 'vitest'
import type { Family } from '../../../agent/servers/family.ts'
import type { ServerFigures } from '../../../agent/servers/model.ts'
import { FAMILIES } from '../../../agent/servers/recognise.ts'

/** A page in the text format: each series of `of` under a prefix, with labels where its name has them. */
const page = (prefix: string, of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .map(([name, value]) => `${prefix}${name} ${value}\n`)
    .join('')
const histogram = (prefix: string, name: string, labels = ''): string =>
  [
    ['0.1', 2],
    ['1', 8],
    ['+Inf', 10],
  ]
    .map(([bound, count]) => `${prefix}${name}_bucket{${labels}le="${bound}"} ${count}\n`)
    .join('')
const LATENCY = { bounds: [0.1, 1, Infinity], counts: [2, 8, 10] }
const GIB = 2 ** 30

type Played = readonly [name: string, family: string, path: string, body: string, expected: ServerFigures]

const M = '{model_name="lab/m"}'
const E = '{engine="0",model_name="lab/m"}'
const counts = (labels: string) => ({
  [`num_requests_running${labels}`]: 3,
  [`num_requests_waiting${labels}`]: 2,
  [`num_preemptions_total${labels}`]: 4,
  [`prompt_tokens_total${labels}`]: 500,
  [`generation_tokens_total${labels}`]: 70,
})
const vllmFigures = { models: ['lab/m'], running: 3, waiting: 2, preemptions: 4, promptTokens: 500, generationTokens: 70, kvUsage: 0.5 }
const finished = (prefix: string): string =>
  page(prefix, {
    'request_success_total{finished_reason="stop",model_name="lab/m"}': 6,
    'request_success_total{finished_reason="length",model_name="lab/m"}': 1,
    'request_success_total{finished_reason="abort",model_name="lab/m"}': 2,
    'request_success_total{finished_reason="error",model_name="lab/m"}': 1,
  })
const OUTCOMES = { completed: 7, aborted: 2, failed: 1 }

const TEXTS: readonly Played[] = [
  [
    'V0: the names of 0.5',
    'vllm',
    '/metrics',
    page('vllm:', { ...counts(M), [`gpu_cache_usage_perc${M}`]: 0.5, [`gpu_prefix_cache_hit_rate${M}`]: 0.2 }) +
      histogram('vllm:', 'time_to_first_token_seconds', 'model_name="lab/m",') +
      histogram('vllm:', 'time_per_output_token_seconds', 'model_name="lab/m",') +
      finished('vllm:'),
    { ...vllmFigures, prefixHitRatio: 0.2, timeToFirstToken: LATENCY, interTokenLatency: LATENCY, outcomes: OUTCOMES },
  ],
  [
    'V1 of 0.8: prefix counters of the GPU',
    'vllm',
    '/metrics',
    page('vllm:', {
      ...counts(E),
      [`gpu_cache_usage_perc${E}`]: 0.5,
      [`gpu_prefix_cache_queries_total${E}`]: 100,
      [`gpu_prefix_cache_hits_total${E}`]: 40,
      'cache_config_info{block_size="16",cpu_offload_gb="0",gpu_memory_utilization="0.9",num_gpu_blocks="1000"}': 1,
    }),
    { ...vllmFigures, prefixQueries: 100, prefixHits: 40, kvCapacityTokens: 16_000, memoryShare: 0.9, offloadedRatio: 0 },
  ],
  [
    'main of 2026: no old name is left, tokens of the cache in its own label',
    'vllm',
    '/metrics',
    page('vllm:', {
      ...counts(E),
      [`kv_cache_usage_perc${E}`]: 0.5,
      [`prefix_cache_queries_total${E}`]: 100,
      [`prefix_cache_hits_total${E}`]: 40,
      'engine_sleep_state{engine="0",sleep_state="awake"}': 1,
      'cache_config_info{block_size="64",kv_cache_size_tokens="40007",num_gpu_blocks="999"}': 1,
    }) + histogram('vllm:', 'inter_token_latency_seconds', 'engine="0",'),
    { ...vllmFigures, prefixQueries: 100, prefixHits: 40, kvCapacityTokens: 40_007, state: 'ready', interTokenLatency: LATENCY },
  ],
  ['under Ray', 'vllm', '/metrics', page('ray_vllm:', { ...counts(M), [`gpu_cache_usage_perc${M}`]: 0.5 }), vllmFigures],
  ['under Ray with OpenTelemetry', 'vllm', '/metrics', page('ray_vllm_', { ...counts(M), [`kv_cache_usage_perc${M}`]: 0.5 }), vllmFigures],
  [
    '0.4: time for each output token, no counter of retractions',
    'sglang',
    '/metrics',
    page('sglang:', {
      [`num_running_reqs${M}`]: 3,
      [`num_queue_reqs${M}`]: 2,
      [`token_usage${M}`]: 0.5,
      [`cache_hit_rate${M}`]: 0.3,
      [`prompt_tokens_total${M}`]: 500,
      [`generation_tokens_total${M}`]: 70,
    }) + histogram('sglang:', 'time_per_output_token_seconds', 'model_name="lab/m",'),
    { models: ['lab/m'], running: 3, waiting: 2, kvUsage: 0.5, prefixHitRatio: 0.3, promptTokens: 500, generationTokens: 70, interTokenLatency: LATENCY },
  ],
  [
    '0.5.18 of all schedulers: what two ranks compute together counts once, their memory twice',
    'sglang',
    '/metrics',
    ['0', '1']
      .map((rank) => {
        const labels = `{engine_type="unified",model_name="lab/m",pp_rank="0",tp_rank="${rank}"}`
        return page('sglang:', {
          [`num_running_reqs${labels}`]: 3,
          [`num_queue_reqs${labels}`]: 2,
          [`num_used_tokens${labels}`]: 500,
          [`max_total_num_tokens${labels}`]: 1_000,
          [`num_retracted_requests_total${labels}`]: 4,
          [`prompt_tokens_total${labels}`]: 500,
          [`cached_tokens_total${labels}`]: 100,
          [`num_aborted_requests_total${labels}`]: 2,
          [`weight_memory_usage_gb${labels}`]: 10,
          [`kv_cache_memory_usage_gb${labels}`]: 20,
        })
      })
      .join(''),
    {
      running: 3,
      waiting: 2,
      kvUsage: 0.5,
      kvCapacityTokens: 1_000,
      preemptions: 4,
      prefixHits: 100,
      prefixQueries: 500,
      outcomes: { aborted: 2 },
      memory: { weights: { bytes: 20 * GIB, source: 'gauge' }, kv_cache: { bytes: 40 * GIB, source: 'gauge' } },
    },
  ],
  [
    'the prefix cache by tokens that were skipped',
    'tgi',
    '/metrics',
    page('tgi_', {
      queue_size: 2,
      batch_current_size: 3,
      batch_current_max_tokens: 500,
      batch_max_total_tokens: 1_000,
      request_input_length_sum: 500,
      request_generated_tokens_sum: 70,
      request_skipped_tokens_sum: 100,
      request_success: 7,
      'request_failure{err="overloaded"}': 1,
      'request_failure{err="generation"}': 2,
    }) + histogram('tgi_', 'request_mean_time_per_token_duration'),
    {
      running: 3,
      waiting: 2,
      kvUsage: 0.5,
      kvCapacityTokens: 1_000,
      promptTokens: 500,
      generationTokens: 70,
      prefixHits: 100,
      prefixQueries: 500,
      outcomes: { completed: 7, rejected: 1, failed: 2 },
      interTokenLatency: LATENCY,
    },
  ],
  [
    'its queue and how requests ended',
    'tei',
    '/metrics',
    page('te_', { queue_size: 2, 'request_success{method="batch"}': 7, 'request_failure{err="overloaded"}': 1, 'request_failure{err="backend"}': 2 }),
    { waiting: 2, outcomes: { completed: 7, rejected: 1, failed: 2 } },
  ],
  [
    'up to b5001: the cache as a share',
    'llama.cpp',
    '/metrics',
    page('llamacpp:', {
      requests_processing: 3,
      requests_deferred: 2,
      kv_cache_usage_ratio: 0.5,
      prompt_tokens_total: 500,
      tokens_predicted_total: 70,
    }),
    { running: 3, waiting: 2, kvUsage: 0.5, promptTokens: 500, generationTokens: 70 },
  ],
  [
    'b6500: the longest request under its first name',
    'llama.cpp',
    '/metrics',
    page('llamacpp:', { n_past_max: 900, requests_processing: 1 }),
    { longestRequest: 900 },
  ],
  [
    '0.5 and newer: the prefix cache, no share any more',
    'llama.cpp',
    '/metrics',
    page('llamacpp:', {
      requests_processing: 3,
      requests_deferred: 2,
      prompt_tokens_total: 400,
      prompt_tokens_cached_total: 100,
      tokens_predicted_total: 70,
      n_tokens_max: 900,
    }),
    { running: 3, waiting: 2, promptTokens: 400, prefixHits: 100, prefixQueries: 500, longestRequest: 900, generationTokens: 70 },
  ],
  [
    '0.9: gauges of what ended',
    'lmdeploy',
    '/metrics',
    page('lmdeploy:', {
      [`num_requests_running${E}`]: 3,
      [`num_requests_waiting${E}`]: 2,
      [`gpu_cache_usage_perc${E}`]: 0.5,
      [`num_requests_succeeded${E}`]: 7,
      [`num_requests_failed${E}`]: 1,
      [`prompt_tokens_total${E}`]: 500,
    }) + histogram('lmdeploy:', 'iter_token_latency', 'engine="0",'),
    { models: ['lab/m'], running: 3, waiting: 2, kvUsage: 0.5, outcomes: { completed: 7, failed: 1 }, promptTokens: 500, interTokenLatency: LATENCY },
  ],
  [
    '0.16: counters of what ended',
    'lmdeploy',
    '/metrics',
    page('lmdeploy:', { [`request_success_total${E}`]: 7, [`prefix_cache_hit_rate${E}`]: 0.3 }) +
      histogram('lmdeploy:', 'time_to_first_token_seconds', 'engine="0",') +
      histogram('lmdeploy:', 'time_per_output_token_seconds', 'engine="0",'),
    { outcomes: { completed: 7 }, prefixHitRatio: 0.3, timeToFirstToken: LATENCY, interTokenLatency: LATENCY },
  ],
  [
    'blocks without a share',
    'trtllm-serve',
    '/prometheus/metrics',
    page('trtllm_', {
      [`num_requests_running${M}`]: 3,
      [`num_requests_waiting${M}`]: 2,
      [`kv_cache_used_blocks${M}`]: 10,
      [`kv_cache_max_blocks${M}`]: 20,
      [`kv_cache_tokens_per_block${M}`]: 32,
      [`kv_cache_hit_rate${M}`]: 0.3,
      'request_success_total{finished_reason="stop"}': 7,
      request_error_total: 1,
    }),
    { models: ['lab/m'], running: 3, waiting: 2, kvUsage: 0.5, kvCapacityTokens: 640, prefixHitRatio: 0.3, outcomes: { completed: 7, failed: 1 } },
  ],
  [
    'without a language model behind it',
    'triton',
    '/metrics',
    page('nv_inference_', {
      'pending_request_count{model="resnet",version="1"}': 2,
      'request_success{model="resnet",version="1"}': 7,
      'request_failure{model="resnet",reason="REJECTED",version="1"}': 1,
      'request_failure{model="resnet",reason="OTHER",version="1"}': 2,
    }),
    { models: ['resnet'], waiting: 2, outcomes: { completed: 7, rejected: 1, failed: 2 } },
  ],
  [
    'with TensorRT-LLM',
    'triton',
    '/metrics',
    page('nv_trt_llm_', {
      'request_metrics{model="m",request_type="active"}': 3,
      'request_metrics{model="m",request_type="waiting"}': 2,
      'kv_cache_block_metrics{kv_cache_block_type="used",model="m"}': 10,
      'kv_cache_block_metrics{kv_cache_block_type="max",model="m"}': 20,
      'kv_cache_block_metrics{kv_cache_block_type="tokens_per",model="m"}': 64,
    }),
    { running: 3, waiting: 2, kvUsage: 0.5, kvCapacityTokens: 1_280 },
  ],
  [
    '1.x: names without a prefix',
    'nim',
    '/v1/metrics',
    page('', {
      [`num_requests_running${M}`]: 3,
      [`num_requests_waiting${M}`]: 2,
      [`gpu_cache_usage_perc${M}`]: 0.5,
      'request_finish_total{finished_reason="stop",model_name="lab/m"}': 7,
      'request_failure_total{model_name="lab/m"}': 1,
      [`generation_tokens_total${M}`]: 70,
    }),
    { models: ['lab/m'], running: 3, waiting: 2, kvUsage: 0.5, outcomes: { completed: 7, failed: 1 }, generationTokens: 70 },
  ],
]

const json = JSON.stringify
const JSONS: readonly Played[] = [
  ['what it serves', 'vllm', '/v1/models', json({ data: [{ id: 'm', max_model_len: 8_192, root: 'lab/m' }] }), { models: ['m'], context: 8_192 }],
  [
    'an answer of several engines without shares',
    'sglang',
    '/v1/loads?include=core,memory,queues',
    json({ loads: [{ num_running_reqs: 3, num_waiting_reqs: 2, num_used_tokens: 500, max_total_num_tokens: 1_000, memory: { weight_gb: 10 } }] }),
    { running: 3, waiting: 2, kvUsage: 0.5, kvCapacityTokens: 1_000, memory: { weights: { bytes: 10 * GIB, source: 'api' } } },
  ],
  [
    '3.3',
    'tgi',
    '/info',
    json({ model_id: 'lab/m', model_dtype: 'torch.float16', max_total_tokens: 4_096, version: '3.3.7', router: 'text-generation-router' }),
    { models: ['lab/m'], version: '3.3.7', context: 4_096 },
  ],
  [
    '1.9',
    'tei',
    '/info',
    json({ model_id: 'lab/e', model_type: { embedding: { pooling: 'mean' } }, max_input_length: 512, version: '1.9.3' }),
    { models: ['lab/e'], version: '1.9.3', context: 512 },
  ],
  [
    'each model with its queue',
    'infinity',
    '/models',
    json({ data: [{ id: 'lab/e', stats: { queue_fraction: 0.1, queue_absolute: 2, results_pending: 3, batch_size: 32 } }] }),
    { models: ['lab/e'], waiting: 2, running: 3 },
  ],
  [
    '0.7: the type is guessed, the name is the path',
    'llama.cpp',
    '/props',
    json({
      total_slots: 4,
      model_alias: '/models/a.gguf',
      model_path: '/models/a.gguf',
      model_ftype: '(guessed) Q4_K - Medium',
      build_info: 'b11669-x',
      default_generation_settings: { n_ctx: 8_192 },
    }),
    { models: ['a.gguf'], quantization: 'Q4_K - Medium', context: 8_192, version: 'b11669-x', state: 'ready' },
  ],
  ['a router', 'llama.cpp', '/props', json({ role: 'router', build_info: 'b11669-x' }), { router: true, state: 'ready' }],
  [
    "a router's models, of which one sleeps",
    'llama.cpp',
    '/models',
    json({
      data: [
        { id: 'a', status: { value: 'loaded' } },
        { id: 'b', status: { value: 'sleeping' } },
        { id: 'c', status: { value: 'unloaded' } },
      ],
    }),
    { models: ['a', 'b'] },
  ],
  [
    'before 0.10: no context; and the new ones',
    'ollama',
    '/api/ps',
    json({ models: [{ name: 'm:8b', size: 1_000, size_vram: 750, details: { quantization_level: 'Q4_0' } }] }),
    { models: ['m:8b'], quantization: 'Q4_0', offloadedRatio: 0.25 },
  ],
  [
    '0.33',
    'ollama',
    '/api/ps',
    json({ models: [{ name: 'm:8b', size: 1_000, size_vram: 1_000, context_length: 32_768, details: { quantization_level: 'Q4_K_M' } }] }),
    { models: ['m:8b'], context: 32_768, offloadedRatio: 0 },
  ],
  ['asleep', 'lmdeploy', '/is_sleeping', json({ is_sleeping: true }), { state: 'sleeping' }],
  [
    'before 0.4',
    'lm-studio',
    '/api/v0/models',
    json({
      data: [
        { id: 'a', state: 'loaded', quantization: 'Q8_0', loaded_context_length: 4_096 },
        { id: 'b', state: 'not-loaded' },
      ],
    }),
    { models: ['a'], quantization: 'Q8_0', context: 4_096 },
  ],
  [
    '0.4',
    'lm-studio',
    '/api/v1/models',
    json({ models: [{ key: 'a', quantization: { name: 'Q8_0' }, loaded_instances: [{ id: 'a', config: { context_length: 4_096 } }] }] }),
    { models: ['a'], quantization: 'Q8_0', context: 4_096 },
  ],
  [
    "PyTorch's own figures",
    'comfyui',
    '/system_stats',
    json({ system: { comfyui_version: '0.3.70' }, devices: [{ type: 'cuda', torch_vram_total: 8 * GIB, torch_vram_free: 3 * GIB }] }),
    { version: '0.3.70', memory: { weights: { bytes: 5 * GIB, source: 'api' }, other: { bytes: 3 * GIB, source: 'api' } } },
  ],
  ['one runs, two wait', 'comfyui', '/prompt', json({ exec_info: { queue_remaining: 3 } }), { running: 1, waiting: 2 }],
  ['its tasks', 'webui', '/internal/pending-tasks', json({ size: 2, tasks: [] }), { waiting: 2 }],
]

describe.each([...TEXTS, ...JSONS])('%s', (_name, id, path, body, expected) => {
  const family: Family | undefined = FAMILIES.find((one) => one.id === id)
  const read = (text: string): ServerFigures | undefined => family?.pages.find((one) => one.path === path)?.read(text, { argv: [], figures: {} })
  test(`${id} ${path}`, () => expect(read(body)).toMatchObject(expected))
  test('a page that was cut off anywhere never throws', () => {
    for (let end = 0; end < body.length; end += Math.max(1, Math.floor(body.length / 40))) expect(() => read(body.slice(0, end))).not.toThrow()
  })
})

test('the log of a TensorRT-LLM engine, whoever serves it', () => {
  const text =
    '[TensorRT-LLM][INFO] Number of tokens per block: 64.\n[TensorRT-LLM][INFO] [MemUsageChange] Allocated 5.00 GiB\n[TensorRT-LLM][INFO] Number of blocks in KV cache primary pool: 500\n'
  for (const id of ['triton', 'trtllm-serve']) expect(FAMILIES.find((one) => one.id === id)?.log?.(text)).toMatchObject({ kvCapacityTokens: 32_000 })
})

test('every family is played', () => {
  expect([...new Set([...TEXTS, ...JSONS].map(([, id]) => id))].toSorted()).toEqual(FAMILIES.map(({ id }) => id).toSorted())
})
