// Pages of versions between the generations, or behind another server, by family. Our own.
import { page, histogram, LATENCY, M, E, counts, vllmFigures, finished, OUTCOMES, type Played } from './parts.ts'

const json = JSON.stringify
const ENGINE = (rank: number): string => `{engine="${rank}",model_name="lab/m"}`
const WHOLE = 'engine_type="unified",model_name="lab/m",moe_ep_rank="0",pp_rank="0",tp_rank="0"'

export const VERSIONS: readonly Played[] = [
  [
    '0.6.3: throughput as gauges, requests that were swapped out',
    'vllm',
    '/metrics',
    page('vllm:', {
      [`num_requests_running${M}`]: 3,
      [`num_requests_swapped${M}`]: 9,
      [`num_requests_waiting${M}`]: 2,
      [`gpu_cache_usage_perc${M}`]: 0.5,
      [`cpu_cache_usage_perc${M}`]: 0.9,
      [`cpu_prefix_cache_hit_rate${M}`]: -1,
      [`gpu_prefix_cache_hit_rate${M}`]: -1,
      [`avg_prompt_throughput_toks_per_s${M}`]: 11,
      'lora_requests_info{max_lora="4",running_lora_adapters="",waiting_lora_adapters=""}': 1,
    }),
    { running: 3, waiting: 2, kvUsage: 0.5, models: ['lab/m'], state: 'ready' },
  ],
  [
    '0.10: old and new names side by side',
    'vllm',
    '/metrics',
    page('vllm:', {
      ...counts(E),
      [`gpu_cache_usage_perc${E}`]: 0.4,
      [`kv_cache_usage_perc${E}`]: 0.5,
      [`gpu_prefix_cache_queries_total${E}`]: 99,
      [`gpu_prefix_cache_hits_total${E}`]: 39,
      [`prefix_cache_queries_total${E}`]: 100,
      [`prefix_cache_hits_total${E}`]: 40,
      [`num_preemptions_created${E}`]: 1_700_000_000,
    }) + finished('vllm:'),
    { ...vllmFigures, prefixQueries: 100, prefixHits: 40, outcomes: OUTCOMES },
  ],
  [
    'two engines, waiting by reason, prompt tokens by source alone',
    'vllm',
    '/metrics',
    [0, 1]
      .map((rank) =>
        page('vllm:', {
          [`num_requests_running${ENGINE(rank)}`]: 3,
          [`num_requests_waiting${ENGINE(rank)}`]: 2,
          [`num_requests_waiting_by_reason{engine="${rank}",model_name="lab/m",reason="capacity"}`]: 2,
          [`num_requests_waiting_by_reason{engine="${rank}",model_name="lab/m",reason="deferred"}`]: 0,
          [`kv_cache_usage_perc${ENGINE(rank)}`]: 0.5 + rank / 4,
          [`prompt_tokens_by_source_total{engine="${rank}",model_name="lab/m",source="local_compute"}`]: 300,
          [`prompt_tokens_by_source_total{engine="${rank}",model_name="lab/m",source="local_cache_hit"}`]: 200,
          [`cache_config_info{engine="${rank}",kv_cache_size_tokens="8000",block_size="16",num_gpu_blocks="1000"}`]: 1,
        }),
      )
      .join(''),
    { running: 6, waiting: 4, kvUsage: 0.75, promptTokens: 1_000, kvCapacityTokens: 16_000 },
  ],
  [
    'with priorities: the whole queue and each of its parts',
    'sglang',
    '/metrics',
    page('sglang:', {
      [`num_running_reqs{${WHOLE},priority=""}`]: 3,
      [`num_running_reqs{${WHOLE},priority="0"}`]: 2,
      [`num_running_reqs{${WHOLE},priority="5"}`]: 1,
      [`num_queue_reqs{${WHOLE},priority=""}`]: 2,
      [`num_queue_reqs{${WHOLE},priority="5"}`]: 2,
      [`token_usage{${WHOLE},priority=""}`]: 0.5,
      [`prompt_tokens_total{is_streaming="true",model_name="lab/m",priority="0"}`]: 300,
      [`prompt_tokens_total{is_streaming="false",model_name="lab/m",priority="5"}`]: 200,
      [`cached_tokens_total{cache_source="device",model_name="lab/m"}`]: 30,
      [`cached_tokens_total{cache_source="host",model_name="lab/m"}`]: 10,
      [`num_requests_total{is_streaming="true",model_name="lab/m"}`]: 7,
      [`num_aborted_requests_total{model_name="lab/m"}`]: 2,
    }) +
      histogram('sglang:', 'time_to_first_token_seconds', 'is_streaming="true",model_name="lab/m",') +
      histogram('sglang:', 'e2e_request_latency_seconds', 'is_streaming="false",model_name="lab/m",'),
    {
      running: 3,
      waiting: 2,
      kvUsage: 0.5,
      promptTokens: 500,
      prefixHits: 40,
      prefixQueries: 500,
      outcomes: { completed: 7, aborted: 2 },
      timeToFirstToken: LATENCY,
      requestDuration: LATENCY,
    },
  ],
  [
    'the pools of a hybrid model one by one',
    'sglang',
    '/metrics',
    page('sglang:', { [`full_token_usage{${WHOLE}}`]: 0.2, [`swa_token_usage{${WHOLE}}`]: 0.7, [`mamba_usage{${WHOLE}}`]: 0.1 }),
    { kvUsage: 0.7 },
  ],
  [
    '1.4: no budget, so no share of the cache',
    'tgi',
    '/metrics',
    page('tgi_', { queue_size: 2, batch_current_size: 3, batch_current_max_tokens: 500, request_count: 12, request_success: 7 }) +
      histogram('tgi_', 'request_mean_time_per_token_duration') +
      histogram('tgi_', 'request_duration'),
    { running: 3, waiting: 2, outcomes: { completed: 7 }, interTokenLatency: LATENCY, requestDuration: LATENCY },
  ],
  [
    '1.2: requests by method, how long their texts were',
    'tei',
    '/metrics',
    page('te_', { 'request_success{method="single"}': 7, 'request_count{method="single"}': 9, request_input_length_sum: 500, request_input_length_count: 9 }),
    { promptTokens: 500, outcomes: { completed: 7 } },
  ],
  [
    'b3000: slots with a state',
    'llama.cpp',
    '/slots',
    json([
      { id: 0, n_ctx: 2_048, state: 1, prompt: 'a secret', next_token: { n_decoded: 9 } },
      { id: 1, n_ctx: 2_048, state: 0, prompt: '' },
    ]),
    { running: 1, context: 2_048 },
  ],
  [
    'b3000: properties without a build or a name',
    'llama.cpp',
    '/props',
    json({ assistant_name: '', user_name: '', total_slots: 2, default_generation_settings: { n_ctx: 2_048, model: '/models/a.gguf' } }),
    { context: 2_048, state: 'ready' },
  ],
  [
    '0.12: the queue before the engine beside the one inside',
    'lmdeploy',
    '/metrics',
    page('lmdeploy:', {
      [`num_requests_running${E}`]: 3,
      [`num_requests_waiting${E}`]: 2,
      [`num_api_requests_waiting${E}`]: 40,
      [`gpu_cache_usage_perc${E}`]: 0.5,
      [`generation_tokens_total${E}`]: 70,
    }) + histogram('lmdeploy:', 'e2e_request_latency_seconds', 'engine="0",'),
    { running: 3, waiting: 2, kvUsage: 0.5, generationTokens: 70, requestDuration: LATENCY },
  ],
  [
    '1.1: five names',
    'trtllm-serve',
    '/prometheus/metrics',
    page('trtllm_', { 'request_success_total{engine_type="trtllm",finished_reason="stop",model_name="lab/m"}': 7 }) +
      histogram('trtllm_', 'time_to_first_token_seconds', 'model_name="lab/m",') +
      histogram('trtllm_', 'time_per_output_token_seconds', 'model_name="lab/m",'),
    { models: ['lab/m'], outcomes: { completed: 7 }, timeToFirstToken: LATENCY, timePerOutputToken: LATENCY },
  ],
  [
    'main of 2026: prompt tokens from the cache',
    'trtllm-serve',
    '/prometheus/metrics',
    page('trtllm_', {
      [`kv_cache_utilization${M}`]: 0.5,
      [`num_requests_running${M}`]: 3,
      [`prompt_tokens_total${M}`]: 500,
      [`generation_tokens_total${M}`]: 70,
      [`prompt_cached_tokens_total${M}`]: 100,
      'prompt_cache_hit_tokens_total{cache_level="0",cache_tier="gpu",model_name="lab/m"}': 100,
      'request_error_total{http_code="400",model_name="lab/m"}': 2,
    }),
    { running: 3, kvUsage: 0.5, promptTokens: 500, generationTokens: 70, prefixHits: 100, prefixQueries: 500, outcomes: { failed: 2 } },
  ],
  [
    'with vLLM behind it',
    'triton',
    '/metrics',
    page('nv_inference_', { 'request_success{model="chat",version="1"}': 7, 'pending_request_count{model="chat",version="1"}': 2 }) +
      page('vllm:', { 'prompt_tokens_total{model="chat",version="1"}': 500, 'generation_tokens_total{model="chat",version="1"}': 70 }) +
      histogram('vllm:', 'time_to_first_token_seconds', 'model="chat",version="1",'),
    { models: ['chat'], waiting: 2, promptTokens: 500, generationTokens: 70, outcomes: { completed: 7 }, timeToFirstToken: LATENCY },
  ],
  [
    "newer ones: vLLM's names",
    'nim',
    '/v1/metrics',
    page('vllm:', { ...counts(E), [`kv_cache_usage_perc${E}`]: 0.5 }) + finished('vllm:'),
    { ...vllmFigures, outcomes: OUTCOMES },
  ],
  [
    '0.9: nothing of the context',
    'ollama',
    '/api/ps',
    json({ models: [{ name: 'm:8b', model: 'm:8b', size: 1_000, size_vram: 750, digest: 'x', details: { quantization_level: 'Q8_0' } }] }),
    { models: ['m:8b'], quantization: 'Q8_0', offloadedRatio: 0.25, state: 'ready' },
  ],
  [
    'at rest with cudaMallocAsync: both figures are 0',
    'comfyui',
    '/system_stats',
    json({ system: { comfyui_version: '0.4.0', pytorch_version: '2.9' }, devices: [{ type: 'cuda', vram_total: 9, torch_vram_total: 0, torch_vram_free: 0 }] }),
    { version: '0.4.0', state: 'ready' },
  ],
  [
    '2.0: the budget of the batch in its description',
    'tgi',
    '/info',
    json({
      model_id: 'lab/m',
      model_dtype: 'torch.float16',
      max_input_tokens: 4_095,
      max_total_tokens: 4_096,
      max_batch_total_tokens: 64_000,
      version: '2.0.2',
    }),
    { models: ['lab/m'], version: '2.0.2', context: 4_096, kvCapacityTokens: 64_000 },
  ],
  [
    "newer TensorRT-LLM: how long its requests' texts were",
    'triton',
    '/metrics',
    page('nv_', {
      'trt_llm_request_metrics{model="tensorrt_llm",request_type="active",version="1"}': 3,
      'llm_input_token_len_sum{model="tensorrt_llm",response_metric_type="total_input_tokens",version="1"}': 500,
      'llm_output_token_len_sum{model="tensorrt_llm",response_metric_type="total_output_tokens",version="1"}': 70,
    }),
    { running: 3, promptTokens: 500, generationTokens: 70 },
  ],
  [
    'early ones: one model, without a list',
    'infinity',
    '/models',
    json({ object: 'list', data: { id: 'lab/e', stats: { queue_fraction: 0.1, queue_absolute: 2, results_pending: 3 } } }),
    { models: ['lab/e'], waiting: 2, running: 3 },
  ],
]
