// What the crash test writes: values that follow from series and time, so that each answer can be checked.
import { defineMetric } from '../../agent/model/metric.ts'
import { makeSeries } from '../../agent/model/series.ts'

export const crashMetrics = ['power', 'memory', 'clock'].map((name) =>
  defineMetric({ name: `warpwatch_crash_${name}`, subject: 'agent', kind: 'gauge', unit: '1', help: 'Test.', labels: ['n'] }),
)
export const crashSeries = crashMetrics.flatMap((metric) => Array.from({ length: 40 }, (_, n) => makeSeries(metric, { n: String(n) })))
export function crashReading(series: number, t: number): number {
  const second = t / 1000
  if (series % 3 === 0) return Math.floor(second / 60) * 2_097_152
  return ((second * (7919 + series)) % 99_991) / 1000
}
