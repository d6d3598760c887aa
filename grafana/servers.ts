// Inference servers: what they compute, who waits, how full their KV caches are, and what their memory is for.
import * as units from '@grafana/grafana-foundation-sdk/units'
import {
  inferenceContextTokens,
  inferenceInterTokenLatencySeconds,
  inferenceKvCacheUsageRatio,
  inferenceLongestRequestTokens,
  inferenceMemoryBytes,
  inferenceOffloadedRatio,
  inferencePreemptionsTotal,
  inferencePrefixCacheHitRatio,
  inferenceRequestsRunning,
  inferenceRequestsTotal,
  inferenceRequestsWaiting,
  inferenceServerInfo,
  inferenceTimeToFirstTokenSeconds,
  inferenceTokensRate,
} from '../agent/metrics/inference.ts'
import type { MetricDef } from '../agent/model/metric.ts'
import type { Board } from './parts/board.ts'
import { toContainer } from './parts/links.ts'
import { BAD, BLUE, ORANGE, PURPLE, WARN } from './parts/look.ts'
import { figure, lines } from './parts/panels.ts'
import { CONTAINER, containers, manyHosts } from './parts/select.ts'
import { rows } from './parts/table.ts'

const ONE = 'instance, name, container'
const NAME = '{{name}}'
const of = ({ name }: MetricDef, more = ''): string => `${name}{${CONTAINER}${more === '' ? '' : `,${more}`}}`
const each = (metric: MetricDef, more = ''): string => `sum by (${ONE}) (${of(metric, more)})`
const worst = (metric: MetricDef, more = ''): string => `max by (${ONE}) (${of(metric, more)})`

const now = [
  figure({
    title: 'Servers',
    help: 'Inference servers that the agents found behind GPU memory, or that their configuration adds.',
    queries: [{ expr: `count(count by (${ONE}) (${of(inferenceServerInfo)}))` }],
    none: 'none',
  }),
  figure({
    title: 'Engines dead',
    help: 'Servers whose port answers though the process that held the GPU has ended: engine_dead.',
    queries: [{ expr: `count(${of(inferenceServerInfo, 'state="dead"')}) or vector(0)` }],
    steps: [[0.5, BAD]],
  }),
  figure({
    title: 'Generated',
    help: 'Tokens a second, of all servers.',
    decimals: 0,
    queries: [{ expr: `sum(${of(inferenceTokensRate, 'type="generation"')})` }],
  }),
  figure({ title: 'Running', help: 'Requests that are computed now.', decimals: 0, queries: [{ expr: `sum(${of(inferenceRequestsRunning)})` }] }),
  figure({ title: 'Waiting', help: 'Requests that wait to be computed.', decimals: 0, queries: [{ expr: `sum(${of(inferenceRequestsWaiting)})` }] }),
  figure({
    title: 'Fullest KV cache',
    help: 'Full while requests wait: kv_cache_starved. Full while nobody waits is good use.',
    unit: units.PercentUnit,
    decimals: 0,
    queries: [{ expr: `max(${of(inferenceKvCacheUsageRatio)})` }],
    steps: [[0.95, WARN]],
  }),
  figure({
    title: 'Slowest first token',
    help: 'The 95th percentile of the last minute, of the slowest server that has a histogram of it.',
    unit: units.Seconds,
    queries: [{ expr: `max(${of(inferenceTimeToFirstTokenSeconds, 'quantile="0.95"')})` }],
  }),
  figure({
    title: 'Most in host memory',
    help: 'Share of its model that a server keeps outside of GPU memory: model_on_cpu.',
    unit: units.PercentUnit,
    decimals: 0,
    queries: [{ expr: `max(${of(inferenceOffloadedRatio)})` }],
    steps: [[0.01, WARN]],
  }),
]

const list = [
  rows({
    title: 'All servers',
    help: 'Each server with what it says of itself; an empty cell is a figure that it does not report.',
    height: 9,
    columns: [
      { label: 'instance', name: 'Host' },
      { label: 'name', name: 'Server' },
      { label: 'container', name: 'Container', links: [toContainer()] },
      { expr: each(inferenceTokensRate, 'type="generation"'), name: 'Tokens/s', decimals: 0 },
      { expr: each(inferenceRequestsRunning), name: 'Running now' },
      { expr: each(inferenceRequestsWaiting), name: 'Waiting now', steps: [[1, WARN]] },
      { expr: worst(inferenceKvCacheUsageRatio), name: 'KV cache', unit: units.PercentUnit, decimals: 0, steps: [[0.95, WARN]] },
      { expr: each(inferenceMemoryBytes, 'part="weights"'), name: 'Weights', unit: units.BytesIEC },
      { expr: each(inferenceMemoryBytes, 'part="kv_cache"'), name: 'Memory of the KV cache', unit: units.BytesIEC },
      { expr: worst(inferenceContextTokens), name: 'Context' },
      { expr: worst(inferenceLongestRequestTokens), name: 'Longest request' },
      { expr: worst(inferenceOffloadedRatio), name: 'In host memory', unit: units.PercentUnit, decimals: 0, steps: [[0.01, WARN]] },
    ],
    worst: ['Tokens/s'],
    none: 'no server',
  }),
]

const quantiles = (metric: MetricDef) => [
  { expr: worst(metric, 'quantile="0.5"'), legend: `${NAME} p50`, colour: BLUE },
  { expr: worst(metric, 'quantile="0.95"'), legend: `${NAME} p95`, colour: ORANGE },
  { expr: worst(metric, 'quantile="0.99"'), legend: `${NAME} p99`, colour: BAD },
]
const work = [
  lines({
    title: 'Tokens a second',
    help: 'Generated tokens, and tokens of prompts, over the last minute.',
    queries: [
      { expr: each(inferenceTokensRate, 'type="generation"'), legend: `${NAME} generated` },
      { expr: each(inferenceTokensRate, 'type="prompt"'), legend: `${NAME} prompt` },
    ],
    links: [toContainer('series')],
  }),
  lines({
    title: 'Requests',
    help: 'Running and waiting. A queue that grows while the GPU has little to do: server_underfed.',
    queries: [
      { expr: each(inferenceRequestsRunning), legend: `${NAME} running`, colour: BLUE },
      { expr: each(inferenceRequestsWaiting), legend: `${NAME} waiting`, colour: ORANGE },
    ],
  }),
  lines({
    title: 'Time to the first token',
    help: "Out of the server's own histogram; servers without one have no line.",
    unit: units.Seconds,
    queries: quantiles(inferenceTimeToFirstTokenSeconds),
  }),
  lines({
    title: 'Between tokens',
    help: "Out of the server's own histogram; servers without one have no line.",
    unit: units.Seconds,
    queries: quantiles(inferenceInterTokenLatencySeconds),
  }),
  lines({
    title: 'How requests ended',
    help: 'Requests a second: completed, aborted (the client left), rejected (before any work), failed.',
    queries: [{ expr: `sum by (${ONE}, outcome) (rate(${of(inferenceRequestsTotal)}[$__rate_interval]))`, legend: `${NAME} {{outcome}}` }],
  }),
  lines({
    title: 'Preemptions',
    help: 'Requests a second that lost their place because the KV cache was full; what they had is computed again.',
    queries: [{ expr: `sum by (${ONE}) (rate(${of(inferencePreemptionsTotal)}[$__rate_interval]))`, legend: NAME, colour: BAD }],
  }),
]
const memory = [
  lines({
    title: 'KV cache in use',
    help: 'Share of the tokens that it holds, of the fullest engine.',
    unit: units.PercentUnit,
    max: 1,
    queries: [{ expr: worst(inferenceKvCacheUsageRatio), legend: NAME }],
    steps: [[0.95, WARN]],
  }),
  lines({
    title: 'Found in the prefix cache',
    help: 'Share of prompt tokens of the last minute that need not be computed again.',
    unit: units.PercentUnit,
    max: 1,
    queries: [{ expr: worst(inferencePrefixCacheHitRatio), legend: NAME, colour: PURPLE }],
  }),
  lines({
    title: 'What GPU memory is for',
    help: 'Weights, KV cache, graphs and other, as the servers say it themselves by a metric, a page or the head of the log; of all cards of a server together.',
    width: 24,
    unit: units.BytesIEC,
    stacked: true,
    queries: [{ expr: `sum by (${ONE}, part) (${of(inferenceMemoryBytes)})`, legend: `${NAME} {{part}}` }],
  }),
]

export const servers: Board = {
  name: 'servers',
  title: 'servers',
  about: 'Inference servers: tokens, queues, latencies, KV caches, and what their GPU memory is for. Generated: edit grafana/*.ts in the repository.',
  variables: [manyHosts, containers],
  marks: `${CONTAINER},kind=~"kv_cache_starved|server_underfed|model_on_cpu|engine_dead|model_load_stuck|cache_reserved_idle|context_oversized|cuda_oom"`,
  rows: [
    ['Now', now],
    ['Servers', list],
    ['Work', work],
    ['Memory', memory],
  ],
}
