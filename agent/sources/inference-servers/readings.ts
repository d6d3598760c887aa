// A server's figures as readings: what it does not tell has none.
import * as metrics from '../../metrics/inference.ts'
import { histogramReadings } from '../../model/histogram.ts'
import type { MetricDef } from '../../model/metric.ts'
import type { Reading } from '../../model/reading.ts'
import { makeSeries, type Labels, type Series } from '../../model/series.ts'
import type { ServerFigures } from '../../servers/model.ts'
import type { RecentFigures } from './recent.ts'

export type Reported = {
  readonly labels: Labels
  readonly server: string
  readonly url: string
  readonly figures: ServerFigures
  readonly recent: RecentFigures
  readonly unansweredMs?: number | undefined
  /** Its own histograms too. */
  readonly histograms?: boolean
  /** Of this server; without it each reading has a new series. */
  readonly seriesOf?: SeriesOf
}

const alwaysNew: SeriesOf = (metric, labels, more) => makeSeries(metric, { ...labels, ...more })
const NOTHING_MORE: Labels = {}

/** Series of one server, made once: new ones in each round would be garbage five seconds later, as would be what the stores keep of them. */
export type SeriesOf = (metric: MetricDef, labels: Labels, more: Labels) => Series

const MAX_SERIES = 1_000
export function createSeriesOf(): SeriesOf {
  let known = new Map<MetricDef, Map<string, Series>>()
  let of = ''
  let last: Labels | undefined
  let count = 0
  return (metric, labels, more) => {
    if (labels !== last || count > MAX_SERIES) {
      last = labels
      const whose = Object.values(labels).join('\n')
      if (whose !== of || count > MAX_SERIES) [known, of, count] = [new Map(), whose, 0]
    }
    const key = more === NOTHING_MORE ? '' : Object.values(more).join('\n')
    const byKey = known.get(metric) ?? new Map<string, Series>()
    if (byKey.size === 0) known.set(metric, byKey)
    let series = byKey.get(key)
    if (series === undefined) {
      series = makeSeries(metric, { ...labels, ...more })
      // A server has one reading of these: only the newest is kept.
      if (metric.kind === 'info') byKey.clear()
      byKey.set(key, series)
      count++
    }
    return series
  }
}

export function readingsOf({ labels, server, url, figures, recent, unansweredMs, histograms = false, seriesOf = alwaysNew }: Reported): readonly Reading[] {
  const readings: Reading[] = []
  const add = (metric: MetricDef, value: number | undefined, more: Labels = NOTHING_MORE): void => {
    if (value !== undefined && Number.isFinite(value)) readings.push({ series: seriesOf(metric, labels, more), value })
  }
  const { version = '', models = [], quantization = '', context, state = '', memoryShare, layers = '' } = figures
  add(metrics.inferenceServerInfo, 1, {
    server,
    version,
    model: models.join(', '),
    quantization,
    context: context === undefined ? '' : String(context),
    state,
    url,
    layers,
    memory_share: memoryShare === undefined ? '' : String(memoryShare),
  })
  add(metrics.inferenceUnansweredSeconds, unansweredMs === undefined ? undefined : unansweredMs / 1_000)
  add(metrics.inferenceRequestsRunning, figures.running)
  add(metrics.inferenceRequestsWaiting, figures.waiting)
  add(metrics.inferenceKvCacheUsageRatio, figures.kvUsage)
  add(metrics.inferenceKvCacheCapacityTokens, figures.kvCapacityTokens)
  add(metrics.inferenceContextTokens, context)
  add(metrics.inferenceLongestRequestTokens, figures.longestRequest)
  add(metrics.inferencePreemptionsTotal, figures.preemptions)
  add(metrics.inferenceOffloadedRatio, figures.offloadedRatio)
  add(metrics.inferenceTokensTotal, figures.promptTokens, { type: 'prompt' })
  add(metrics.inferenceTokensTotal, figures.generationTokens, { type: 'generation' })
  for (const [outcome, count] of Object.entries(figures.outcomes ?? {})) add(metrics.inferenceRequestsTotal, count, { outcome })
  for (const [part, figure] of Object.entries(figures.memory ?? {})) add(metrics.inferenceMemoryBytes, figure.bytes, { part, source: figure.source })
  add(metrics.inferencePrefixCacheHitRatio, recent.prefixHitRatio ?? figures.prefixHitRatio)
  add(metrics.inferenceTokensRate, recent.promptRate, { type: 'prompt' })
  add(metrics.inferenceTokensRate, recent.generationRate, { type: 'generation' })
  for (const [q, seconds] of recent.timeToFirstToken) add(metrics.inferenceTimeToFirstTokenSeconds, seconds, { quantile: String(q) })
  for (const [q, seconds] of recent.interTokenLatency) add(metrics.inferenceInterTokenLatencySeconds, seconds, { quantile: String(q) })
  if (histograms)
    for (const [metric, counted] of [
      [metrics.inferenceTimeToFirstTokenHistogramSeconds, figures.timeToFirstToken],
      [metrics.inferenceInterTokenLatencyHistogramSeconds, figures.interTokenLatency],
      [metrics.inferenceTimePerOutputTokenHistogramSeconds, figures.timePerOutputToken],
      [metrics.inferenceRequestDurationHistogramSeconds, figures.requestDuration],
    ] as const)
      if (counted !== undefined)
        readings.push(...histogramReadings(metric, labels, counted, (one, all, more) => seriesOf(one, all, { ...more, server, model: models.join(', ') })))
  return readings
}
