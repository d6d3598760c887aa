// Pages in the text format of Prometheus, by family and version. Our own.
import { page, histogram, LATENCY, GIB, M, E, counts, vllmFigures, finished, OUTCOMES, type Played } from './parts.ts'

export const TEXTS: readonly Played[] = [
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
    'attention by data parallelism: each rank is an engine of its own, with a queue and a pool of its own',
    'sglang',
    '/metrics',
    ['0', '1', '2', '3']
      .map((rank) => {
        const labels = `{dp_rank="${rank}",engine_type="unified",model_name="lab/m",moe_ep_rank="${rank}",pid="91${rank}",pp_rank="0",tp_rank="${rank}"}`
        return page('sglang:', {
          [`num_running_reqs${labels}`]: 3,
          [`num_queue_reqs${labels}`]: Number(rank),
          [`token_usage${labels}`]: 0.2 * (Number(rank) + 1),
          [`max_total_num_tokens${labels}`]: 1_000,
        })
      })
      .join('') + page('sglang:', { 'generation_tokens_total{model_name="lab/m"}': 70 }),
    { models: ['lab/m'], running: 12, waiting: 6, kvUsage: 0.8, kvCapacityTokens: 4_000, generationTokens: 70 },
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
  [
    '2, which counts requests and tokens',
    'xinference',
    '/metrics',
    page('xinference:', {
      'build_info{version="2.4.0",xinference_role="supervisor"}': 1,
      'model_info{model_uid="chat",model_name="m",model_type="LLM"}': 1,
      'model_serve_count{model_uid="chat"}': 3,
      'input_tokens_total_counter{model="chat"}': 500,
      'output_tokens_total_counter{model="chat"}': 70,
      'model_request_total{model_uid="chat"}': 10,
      'model_request_errors_total{model_uid="chat"}': 1,
    }) + histogram('xinference:', 'model_request_duration_seconds', 'model_uid="chat",'),
    {
      models: ['chat'],
      version: '2.4.0',
      running: 3,
      promptTokens: 500,
      generationTokens: 70,
      outcomes: { completed: 9, failed: 1 },
      requestDuration: LATENCY,
    },
  ],
]
