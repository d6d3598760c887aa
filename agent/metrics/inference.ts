// Inference servers: what they say of themselves, by the process that listens and the GPUs that its family holds.
import { defineMetric } from '../model/metric.ts'
import { SERVER_LABELS } from './labels.ts'

export const inferenceServerInfo = defineMetric({
  name: 'warpwatch_inference_server_info',
  subject: 'inference',
  field: 'info',
  kind: 'info',
  unit: '1',
  help: 'An inference server: its kind, version, models, quantization, tokens that one request may have, state (loading, ready, sleeping, dead), address, the share of each GPU that it was set to take, and its layers on the GPU of all.',
  labels: [...SERVER_LABELS, 'server', 'version', 'model', 'quantization', 'context', 'state', 'url', 'memory_share', 'layers'],
  history: false,
})
const gauge = (name: string, field: string, unit: string, help: string, more: readonly string[] = []) =>
  defineMetric({ name: `warpwatch_inference_${name}`, subject: 'inference', field, kind: 'gauge', unit, help, labels: [...SERVER_LABELS, ...more] })
const counter = (name: string, field: string, unit: string, help: string, more: readonly string[] = []) =>
  defineMetric({ name: `warpwatch_inference_${name}`, subject: 'inference', field, kind: 'counter', unit, help, labels: [...SERVER_LABELS, ...more] })

export const inferenceUnansweredSeconds = gauge(
  'unanswered_seconds',
  'unanswered_seconds',
  's',
  'For how long a server that answered before has let all requests of the agent run out of time (2 s each) after taking their connection; absent when it is not asked.',
)
export const inferenceRequestsRunning = gauge('requests_running', 'requests_running', '{request}', 'Requests that are computed now.')
export const inferenceRequestsWaiting = gauge('requests_waiting', 'requests_waiting', '{request}', 'Requests that wait to be computed.')
export const inferenceKvCacheUsageRatio = gauge(
  'kv_cache_usage_ratio',
  'kv_cache_usage_ratio',
  '1',
  'Share of the KV cache in use, of the fullest engine; what is only kept for later requests does not count where the server reports it separately.',
)
export const inferenceKvCacheCapacityTokens = gauge('kv_cache_capacity_tokens', 'kv_cache_capacity_tokens', '{token}', 'Tokens that the KV cache holds.')
export const inferenceContextTokens = gauge('context_tokens', 'context_tokens', '{token}', 'Tokens that one request may have, as in force.')
export const inferenceLongestRequestTokens = gauge(
  'longest_request_tokens',
  'longest_request_tokens',
  '{token}',
  'Tokens of the longest request since the server started, prompt and answer together.',
)
export const inferencePrefixCacheHitRatio = gauge(
  'prefix_cache_hit_ratio',
  'prefix_cache_hit_ratio',
  '1',
  'Share of prompt tokens of the last minute that were found in the prefix cache.',
)
export const inferenceTokensRate = gauge('tokens_rate', 'tokens_rate', '{token/s}', 'Tokens a second over the last minute.', ['type'])
export const inferenceTimeToFirstTokenSeconds = gauge(
  'time_to_first_token_seconds',
  'time_to_first_token_seconds',
  's',
  "From a request to its first token, over the last minute, out of the server's own histogram; absent when no request ended its wait.",
  ['quantile'],
)
export const inferenceInterTokenLatencySeconds = gauge(
  'inter_token_latency_seconds',
  'inter_token_latency_seconds',
  's',
  "Between two tokens of a request, over the last minute, out of the server's own histogram; absent when none was made.",
  ['quantile'],
)
const histogram = (name: string, help: string, otel?: string) =>
  defineMetric({
    name: `warpwatch_inference_${name}_histogram_seconds`,
    subject: 'inference',
    kind: 'histogram',
    unit: 's',
    help: `${help} With servers.histograms: the server's own buckets since it started.`,
    labels: [...SERVER_LABELS, 'server', 'model', 'le'],
    history: false,
    ...(otel === undefined
      ? {}
      : {
          otel: [
            {
              name: otel,
              // Chats and completions are counted together; this is the conventions' widest word.
              attributes: { 'gen_ai.operation.name': 'generate_content' },
              labels: { server: 'gen_ai.provider.name', model: 'gen_ai.request.model' },
            },
          ],
        }),
  })
export const inferenceTimeToFirstTokenHistogramSeconds = histogram(
  'time_to_first_token',
  'From a request to its first token.',
  'gen_ai.server.time_to_first_token',
)
export const inferenceTimePerOutputTokenHistogramSeconds = histogram(
  'time_per_output_token',
  'What a request takes for each token after its first.',
  'gen_ai.server.time_per_output_token',
)
export const inferenceRequestDurationHistogramSeconds = histogram('request_duration', 'From a request to its last token.', 'gen_ai.server.request.duration')
/** The conventions have no name for it: theirs is of a request as a whole. */
export const inferenceInterTokenLatencyHistogramSeconds = histogram('inter_token_latency', 'Between two tokens of a request.')
export const inferenceMemoryBytes = defineMetric({
  name: 'warpwatch_inference_memory_bytes',
  subject: 'inference',
  field: 'memory_bytes',
  by: 'part',
  kind: 'gauge',
  unit: 'By',
  help: 'GPU memory by what it is for, on all its GPUs together, as the server says it itself; source: gauge, api or log.',
  labels: [...SERVER_LABELS, 'part', 'source'],
})
export const inferenceOffloadedRatio = gauge('offloaded_ratio', 'offloaded_ratio', '1', 'Share of the model that is outside of GPU memory.')
export const inferenceTokensTotal = counter('tokens_total', 'tokens_total', '{token}', 'Tokens of prompts and generated tokens since the server started.', [
  'type',
])
export const inferencePreemptionsTotal = counter(
  'preemptions_total',
  'preemptions_total',
  '{preemption}',
  'Requests that lost their place because the KV cache was full, since the server started.',
)
export const inferenceRequestsTotal = counter(
  'requests_total',
  'requests_total',
  '{request}',
  'Requests that ended since the server started: completed, aborted (the client left), rejected (before any work) or failed.',
  ['outcome'],
)
