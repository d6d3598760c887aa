// Histograms of servers: only when the configuration wants them; on /metrics as Prometheus reads them, over OTLP under the names of the conventions.
import { expect, test } from 'vitest'
import { createExposition } from '../../../agent/http/exposition.ts'
import { inferenceTimeToFirstTokenHistogramSeconds } from '../../../agent/metrics/inference.ts'
import { histogramOfReadings, histogramReadings } from '../../../agent/model/histogram.ts'
import type { Event } from '../../../agent/model/event.ts'
import { createMetricsCollector, serializeMetrics } from '../../../agent/sinks/otlp/metrics.ts'
import { createResource } from '../../../agent/sinks/otlp/resource.ts'
import { createSeriesCache } from '../../../agent/sources/recording/series-cache.ts'
import { metricNamed } from '../../../agent/catalogue.ts'
import { createLatestStore } from '../../../agent/store/latest.ts'
import { decodeMetrics } from '../../setup/otlp-decode.ts'
import { parseExposition } from '../http/parse-exposition.ts'
import { HOLDER, METRICS, run, standIn, vllm, vllmPages } from './scene.ts'

const labels = 'engine="0",model_name="org/m"'
const histogram = (name: string, counts: readonly number[], sum: number): string =>
  ['0.1', '0.25', '1.0', '+Inf'].map((bound, at) => `vllm:${name}_bucket{${labels},le="${bound}"} ${counts[at]}.0\n`).join('') +
  `vllm:${name}_count{${labels}} ${counts.at(-1)}.0\nvllm:${name}_sum{${labels}} ${sum}\nvllm:${name}_created{${labels}} 1.7e+09\n`
const PAGE =
  METRICS(500) +
  histogram('time_to_first_token_seconds', [3, 7, 9, 10], 4.5) +
  histogram('inter_token_latency_seconds', [400, 450, 500, 500], 30.25) +
  histogram('request_time_per_output_token_seconds', [8, 10, 10, 10], 0.75) +
  histogram('e2e_request_latency_seconds', [0, 0, 2, 10], 61)

async function scrape(histograms: boolean): Promise<Event & { readonly type: 'scrape' }> {
  const { port } = await standIn(vllmPages(PAGE))
  const said = await run(vllm(port), [HOLDER], { histograms }).round()
  if (said === undefined) throw new Error('expected a scrape')
  return said
}
const ofHistograms = ({ readings }: Event & { readonly type: 'scrape' }) => readings.filter(({ series }) => series.metric.kind === 'histogram')

test('none unless they are wanted', async () => {
  expect(ofHistograms(await scrape(false))).toEqual([])
})

test('on /metrics with the buckets, the count and the sum of the server', async () => {
  const said = await scrape(true)
  const latest = createLatestStore()
  latest.apply(said)
  const exposition = createExposition({ latest, dcgm: 'off', hostnameLabel: 'hostname', hostname: 'h' })
  for (const format of ['text', 'openmetrics'] as const) {
    const family = parseExposition(exposition.page(format).body.toString('utf8'), format).get('warpwatch_inference_time_to_first_token_histogram_seconds')
    expect(family?.type).toBe('histogram')
    expect(
      family?.samples.map(({ name, labels: { le }, value }) => [name.slice('warpwatch_inference_time_to_first_token_histogram_seconds'.length), le, value]),
    ).toEqual([
      ['_bucket', '0.1', 3],
      ['_bucket', '0.25', 7],
      ['_bucket', '1.0', 9],
      ['_bucket', '+Inf', 10],
      ['_count', undefined, 10],
      ['_sum', undefined, 4.5],
    ])
    expect(family?.samples[0]?.labels).toMatchObject({ server: 'vllm', model: 'org/m', gpu: '0' })
  }
})

test('over OTLP as gen_ai.server.*, with the attributes that the conventions require', async () => {
  const latest = createLatestStore()
  const collector = createMetricsCollector(latest, createResource({ hostname: 'h', procRoot: '/proc', dataDir: '/d', extra: {} }))
  const said = await scrape(true)
  latest.apply(said)
  const sent = decodeMetrics(serializeMetrics(collector.collect(said.t).resources))
  const found = new Map(sent.metrics.filter(({ instrument }) => instrument === 'histogram').map((metric) => [metric.name, metric]))
  expect([...found.keys()].toSorted()).toEqual([
    'gen_ai.server.request.duration',
    'gen_ai.server.time_per_output_token',
    'gen_ai.server.time_to_first_token',
    'warpwatch.inference_inter_token_latency_histogram',
  ])
  expect([...found.values()].map(({ unit }) => unit)).toEqual(['s', 's', 's', 's'])
  const first = found.get('gen_ai.server.time_to_first_token')?.histograms
  expect(first).toMatchObject([{ count: 10, sum: 4.5, explicitBounds: [0.1, 0.25, 1], bucketCounts: [3, 4, 2, 1] }])
  expect(first?.[0]?.attributes).toMatchObject({
    'gen_ai.operation.name': 'generate_content',
    'gen_ai.provider.name': 'vllm',
    'gen_ai.request.model': 'org/m',
    'process.pid': 100n,
    gpu: '0',
  })
  expect(first?.[0]?.attributes).not.toHaveProperty('le')
  // A server's name and its GPUs are no hardware's.
  const running = sent.metrics.find(({ name }) => name === 'warpwatch.inference_requests_running')?.points[0]?.attributes
  expect(running).not.toHaveProperty('hw.model')
  expect(running).toMatchObject({ name: expect.stringMatching(/^vllm:/), gpu: '0' })
})

test('what a recording keeps of one, its labels, gives the same series again', () => {
  const readings = histogramReadings(inferenceTimeToFirstTokenHistogramSeconds, { name: 'a' }, { bounds: [0.5, 2, Infinity], counts: [1, 2, 2], sum: 1.5 })
  const seriesOf = createSeriesCache(metricNamed)
  expect(readings.map(({ series: { metric, labels: kept } }) => seriesOf(metric.name, kept).key)).toEqual(readings.map(({ series }) => series.key))
  expect(histogramOfReadings(readings)).toEqual({ bounds: [0.5, 2, Infinity], counts: [1, 2, 2], sum: 1.5 })
  expect(histogramOfReadings(readings.slice(0, 2))).toBeUndefined()
})

test('however many models, reasons and buckets a page has, the series of a server are few and its names short', async () => {
  const many = Array.from({ length: 4_000 }, (_, at) => {
    const of = `engine="${at}",model_name="${'m'.repeat(1_000)}${at}",finished_reason="r${at}"`
    return `vllm:request_success_total{${of}} 1\nvllm:num_requests_running{${of}} 1\nvllm:e2e_request_latency_seconds_bucket{${of},le="${at}.0"} 1\n`
  })
  const { port } = await standIn(vllmPages(PAGE + many.join('').slice(0, 1_900_000)))
  const said = await run(vllm(port), [HOLDER], { histograms: true }).round()
  const [plain, counted] = [said?.readings.filter(({ series }) => series.metric.kind !== 'histogram'), said === undefined ? [] : ofHistograms(said)]
  expect(plain?.length).toBeGreaterThan(5)
  expect(plain?.length).toBeLessThanOrEqual(40)
  expect(counted.length).toBeLessThanOrEqual(4 * 102)
  expect(Math.max(...(said?.readings ?? []).map(({ series }) => series.key.length))).toBeLessThan(4_000)
})
