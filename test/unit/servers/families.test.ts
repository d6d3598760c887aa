// Each family's pages in the generations that the captures do not hold, written again.
import { describe, expect, test } from 'vitest'
import {
  lmdeploy,
  infinity,
  llamaCpp,
  lmStudio,
  ollama,
  sglang,
  tgi,
  triton,
  trtllmServe,
  vllm,
  webui,
  whisperCpp,
} from '../../../agent/servers/families/index.ts'
import type { Family, Known } from '../../../agent/servers/family.ts'
import { joined, type ServerFigures } from '../../../agent/servers/model.ts'
import { FAMILIES } from '../../../agent/servers/recognise.ts'

const read = (family: Family, path: string, body: unknown, known: Partial<Known> = {}): ServerFigures | undefined =>
  family.pages.find((page) => page.path === path)?.read(typeof body === 'string' ? body : JSON.stringify(body), { argv: [], figures: {}, ...known })

describe('vLLM', () => {
  test('V0 and V1 side by side: the newer name counts, not the sum of both', () => {
    const page = 'vllm:gpu_cache_usage_perc{model_name="m"} 0.7\nvllm:kv_cache_usage_perc{model_name="m"} 0.71\nvllm:cpu_cache_usage_perc 0.1\n'
    expect(read(vllm, '/metrics', page)?.kvUsage).toBe(0.71)
    expect(read(vllm, '/metrics', 'vllm:gpu_cache_usage_perc{model_name="m"} 0.7\nvllm:gpu_prefix_cache_hit_rate -1.0')).toMatchObject({ kvUsage: 0.7 })
  })
  test('two data-parallel engines: requests are added, the fullest cache counts, tokens of all caches', () => {
    const engine = (rank: number, usage: number): string =>
      `vllm:num_requests_running{engine="${rank}",model_name="m"} 3\nvllm:kv_cache_usage_perc{engine="${rank}",model_name="m"} ${usage}\n` +
      `vllm:cache_config_info{engine="${rank}",block_size="16",num_gpu_blocks="200"} 1\n`
    expect(read(vllm, '/metrics', engine(0, 0.2) + engine(1, 0.9))).toMatchObject({ running: 6, kvUsage: 0.9, kvCapacityTokens: 3_200, models: ['m'] })
  })
  test('under new Ray, with OpenTelemetry', () => {
    expect(read(vllm, '/metrics', 'ray_vllm_num_requests_waiting{ReplicaId="r",model_name="m"} 4')).toMatchObject({ waiting: 4, models: ['m'] })
  })
  test('asleep', () => {
    expect(read(vllm, '/metrics', 'vllm:engine_sleep_state{sleep_state="awake"} 0\nvllm:engine_sleep_state{sleep_state="discard_all"} 1')?.state).toBe(
      'sleeping',
    )
  })
  test('a page without any of its names is none of its pages', () => {
    expect(read(vllm, '/metrics', 'python_gc_objects_collected_total 1\nprocess_open_fds 3\n')).toBeUndefined()
  })
  test('the newest log, two workers, started twice', () => {
    const start = (weights: string): string =>
      `(EngineCore_DP0 pid=9) INFO 08-05 10:00:00 [core.py:1] Initializing a V1 LLM engine (v0.25.0) with config: model='org/m', dtype=torch.bfloat16, max_seq_len=8192, quantization=fp8, kv_cache_dtype=auto\n` +
      `(Worker_TP0 pid=10) INFO 08-05 10:00:01 [r.py:1] Model loading took ${weights} GiB memory and 2.1 seconds\n` +
      `(Worker_TP1 pid=11) INFO 08-05 10:00:01 [r.py:1] Model loading took ${weights} GiB memory and 2.1 seconds\n` +
      `(Worker_TP0 pid=10) INFO 08-05 10:00:02 [w.py:1] Available KV cache memory: 20.00 GiB\n(EngineCore_DP0 pid=9) INFO 08-05 10:00:03 [k.py:1] GPU KV cache size: 131,072 tokens, Maximum concurrency for 8,192 tokens per request: 16.00x\n`
    expect(vllm.log(start('99.0') + start('8.0'))).toEqual({
      version: '0.25.0',
      models: ['org/m'],
      quantization: 'fp8',
      context: 8_192,
      kvCapacityTokens: 131_072,
      memory: { weights: { bytes: 16 * 2 ** 30, source: 'log' }, kv_cache: { bytes: 20 * 2 ** 30, source: 'log' } },
    })
  })
})

describe('SGLang', () => {
  test('0.5.18 tells its memory by gauges; its GB are GiB', () => {
    const page =
      'sglang:weight_memory_usage_gb{tp_rank="0"} 10\nsglang:kv_cache_memory_usage_gb{tp_rank="0"} 20\nsglang:graph_memory_usage_gb{phase="decode"} 1\nsglang:graph_memory_usage_gb{phase="prefill"} 0.5\n'
    expect(read(sglang, '/metrics', page)?.memory).toEqual({
      weights: { bytes: 10 * 2 ** 30, source: 'gauge' },
      kv_cache: { bytes: 20 * 2 ** 30, source: 'gauge' },
      graphs: { bytes: 1.5 * 2 ** 30, source: 'gauge' },
    })
  })
  test('without --enable-metrics, its loads', () => {
    const load = {
      num_running_reqs: 2,
      num_waiting_reqs: 1,
      token_usage: 0.5,
      max_total_num_tokens: 1_000,
      memory: { weight_gb: 1, kv_cache_gb: 2, graph_gb: 0 },
    }
    expect(read(sglang, '/v1/loads?include=core,memory,queues', { loads: [load, { ...load, token_usage: 0.75 }] })).toMatchObject({
      running: 4,
      waiting: 2,
      kvUsage: 0.75,
      kvCapacityTokens: 2_000,
      memory: { weights: { bytes: 2 * 2 ** 30, source: 'api' } },
    })
  })
})

describe('llama.cpp', () => {
  const slots = [
    { id: 0, n_ctx: 4_096, is_processing: true, n_prompt_tokens: 1_024, prompt: 'a secret' },
    { id: 1, n_ctx: 4_096, is_processing: false, n_prompt_tokens: 900 },
  ]
  test('slots with caches of their own, and slots that share one', () => {
    expect(read(llamaCpp, '/slots', slots, { argv: ['llama-server', '--parallel', '2'] })).toEqual({
      running: 1,
      context: 4_096,
      kvCapacityTokens: 8_192,
      kvUsage: 0.125,
    })
    expect(read(llamaCpp, '/slots', slots, { argv: ['llama-server', '-m', 'x'] })).toMatchObject({ kvCapacityTokens: 4_096, kvUsage: 0.25 })
  })
  test('of a server whose command line nobody knows the cache is not guessed', () => {
    expect(read(llamaCpp, '/slots', slots)).toEqual({ running: 1, context: 4_096 })
  })
  test('asleep, and a router', () => {
    expect(read(llamaCpp, '/props', { build_info: 'b9-x', total_slots: 1, is_sleeping: true })).toEqual({ version: 'b9-x', state: 'sleeping' })
    expect(read(llamaCpp, '/props', { role: 'router', build_info: 'b9-x' })).toMatchObject({ router: true })
    const { pages }: Family = llamaCpp
    const asked = pages.filter(({ when }) => when?.({ argv: [], figures: { router: true } }) ?? true).map(({ path }) => path)
    expect(asked).toEqual(['/props', '/models'])
  })
  test('two KV buffers of a sliding-window model are added, trial loads are not', () => {
    const log = [
      'load_tensors:        CUDA0 model buffer size =     0.00 MiB',
      'llama_kv_cache:      CUDA0 KV buffer size =     0.00 MiB',
      'llama_model_loader: loaded meta data with 30 key-value pairs',
      'load_tensors: offloaded 20/25 layers to GPU',
      'load_tensors:        CUDA0 model buffer size =  3000.00 MiB',
      'load_tensors:   CPU_Mapped model buffer size =  1000.00 MiB',
      'llama_kv_cache:      CUDA0 KV buffer size =   100.00 MiB',
      'llama_kv_cache:      CUDA0 KV buffer size =    50.00 MiB',
      'sched_reserve:  CUDA_Host compute buffer size =   400.00 MiB',
    ].join('\n')
    expect(llamaCpp.log(log)).toEqual({
      offloadedRatio: 0.25,
      layers: '20/25',
      memory: { weights: { bytes: 3_000 * 2 ** 20, source: 'log' }, kv_cache: { bytes: 150 * 2 ** 20, source: 'log' } },
    })
  })
})

test('Ollama: on the GPU, partly, not at all, nothing loaded', () => {
  const model = (size_vram: number) => ({ name: 'm:8b', size: 1_000, size_vram, context_length: 4_096, details: { quantization_level: 'Q4_K_M' } })
  expect(read(ollama, '/api/ps', { models: [model(1_000)] })).toEqual({
    state: 'ready',
    models: ['m:8b'],
    quantization: 'Q4_K_M',
    context: 4_096,
    offloadedRatio: 0,
  })
  expect(read(ollama, '/api/ps', { models: [model(250)] })?.offloadedRatio).toBe(0.75)
  expect(read(ollama, '/api/ps', { models: [model(0)] })?.offloadedRatio).toBe(1)
  expect(read(ollama, '/api/ps', { models: [] })).toEqual({ state: 'ready' })
  expect(read(ollama, '/api/ps', { error: 'x' })).toBeUndefined()
})

test('TGI: pressure on the token budget', () => {
  const page =
    'tgi_queue_size 7\ntgi_batch_current_size 3\ntgi_batch_current_max_tokens 500\ntgi_batch_max_total_tokens 2000\ntgi_request_success 9\ntgi_request_failure{err="overloaded"} 2\n'
  expect(read(tgi, '/metrics', page)).toEqual({
    state: 'ready',
    running: 3,
    waiting: 7,
    kvUsage: 0.25,
    kvCapacityTokens: 2_000,
    outcomes: { completed: 9, rejected: 2 },
  })
})

test('others, each by its own names', () => {
  expect(read(infinity, '/models', { data: [{ id: 'e', stats: { queue_absolute: 3, results_pending: 1 } }] })).toMatchObject({
    models: ['e'],
    waiting: 3,
    running: 1,
  })
  expect(read(lmdeploy, '/metrics', 'lmdeploy:num_requests_running{model_name="m"} 2\nlmdeploy:gpu_cache_usage_perc 0.4')).toMatchObject({
    running: 2,
    kvUsage: 0.4,
  })
  expect(read(lmdeploy, '/is_sleeping', { is_sleeping: true })).toEqual({ state: 'sleeping' })
  expect(
    read(trtllmServe, '/prometheus/metrics', 'trtllm_kv_cache_max_blocks 10\ntrtllm_kv_cache_tokens_per_block 32\ntrtllm_kv_cache_utilization 0.5'),
  ).toMatchObject({
    kvCapacityTokens: 320,
    kvUsage: 0.5,
  })
  expect(read(triton, '/metrics', 'nv_inference_pending_request_count{model="a"} 3')).toMatchObject({ waiting: 3, models: ['a'] })
  const instance = { id: 'm', config: { context_length: 8_192 } }
  expect(
    read(lmStudio, '/api/v1/models', {
      models: [
        { key: 'm', quantization: { name: 'Q4' }, loaded_instances: [instance] },
        { key: 'n', loaded_instances: [] },
      ],
    }),
  ).toMatchObject({
    models: ['m'],
    context: 8_192,
  })
  expect(read(webui, '/sdapi/v1/memory', { cuda: { active: { current: 5 }, reserved: { current: 8 } } })?.memory).toEqual({
    weights: { bytes: 5, source: 'api' },
    other: { bytes: 3, source: 'api' },
  })
})

test('what is joined keeps the first that told a figure, and the memory part by part', () => {
  const gauge: ServerFigures = { running: 1, memory: { weights: { bytes: 1, source: 'gauge' } } }
  const log: ServerFigures = { running: 9, version: '1', memory: { weights: { bytes: 2, source: 'log' }, graphs: { bytes: 3, source: 'log' } } }
  expect(joined(gauge, log)).toEqual({ running: 1, version: '1', memory: { weights: { bytes: 1, source: 'gauge' }, graphs: { bytes: 3, source: 'log' } } })
})

test('the model of whisper.cpp stands in its command line', () => {
  expect(read(whisperCpp, '/health', { status: 'ok' }, { argv: ['whisper-server', '-m', '/models/ggml-large-v3-q5_0.bin'] })).toEqual({
    state: 'ready',
    models: ['ggml-large-v3-q5_0.bin'],
    quantization: 'q5_0',
  })
})

test('TGI without a gauge of its budget: the share of the cache by the one in its description', () => {
  const page = FAMILIES.find(({ id }) => id === 'tgi')?.pages.find(({ path }) => path === '/metrics')
  expect(page?.read('tgi_batch_current_max_tokens 500\ntgi_queue_size 0\n', { argv: [], figures: { kvCapacityTokens: 2_000 } })).toMatchObject({
    kvUsage: 0.25,
  })
})
