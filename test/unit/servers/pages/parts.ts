// What the pages of all families are made of, and what a played page is.
import type { ServerFigures } from '../../../../agent/servers/model.ts'

/** A page in the text format: each series of `of` under a prefix, with labels where its name has them. */
export const page = (prefix: string, of: Readonly<Record<string, number>>): string =>
  Object.entries(of)
    .map(([name, value]) => `${prefix}${name} ${value}\n`)
    .join('')
export const histogram = (prefix: string, name: string, labels = ''): string =>
  [
    ['0.1', 2],
    ['1', 8],
    ['+Inf', 10],
  ]
    .map(([bound, count]) => `${prefix}${name}_bucket{${labels}le="${bound}"} ${count}\n`)
    .join('')
export const LATENCY = { bounds: [0.1, 1, Infinity], counts: [2, 8, 10] }
export const GIB = 2 ** 30

export type Played = readonly [name: string, family: string, path: string, body: string, expected: ServerFigures]

export const M = '{model_name="lab/m"}'
export const E = '{engine="0",model_name="lab/m"}'
export const counts = (labels: string) => ({
  [`num_requests_running${labels}`]: 3,
  [`num_requests_waiting${labels}`]: 2,
  [`num_preemptions_total${labels}`]: 4,
  [`prompt_tokens_total${labels}`]: 500,
  [`generation_tokens_total${labels}`]: 70,
})
export const vllmFigures = { models: ['lab/m'], running: 3, waiting: 2, preemptions: 4, promptTokens: 500, generationTokens: 70, kvUsage: 0.5 }
export const finished = (prefix: string): string =>
  page(prefix, {
    'request_success_total{finished_reason="stop",model_name="lab/m"}': 6,
    'request_success_total{finished_reason="length",model_name="lab/m"}': 1,
    'request_success_total{finished_reason="abort",model_name="lab/m"}': 2,
    'request_success_total{finished_reason="error",model_name="lab/m"}': 1,
  })
export const OUTCOMES = { completed: 7, aborted: 2, failed: 1 }
