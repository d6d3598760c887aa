// What jobs say of their progress in the logs that the other sources read: one scrape for all of them.
import * as metrics from '../metrics/job-progress.ts'
import type { MetricDef } from '../model/metric.ts'
import type { Reading } from '../model/reading.ts'
import { makeSeries } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import { defineSource } from './definition.ts'
import type { JobProgress, ProgressBook } from './logs/progress-book.ts'

const EVERY_MS = 2_000

export function readingsOf({ job, rank, progress, progressedAt }: JobProgress): readonly Reading[] {
  const labels = { job, ...(rank === undefined ? {} : { rank: String(rank) }) }
  const { step, total, rate, loss, etaSeconds, samplesRate, tokensRate } = progress
  const perSecond = rate?.secondsEach === undefined ? (rate === undefined ? undefined : 0) : 1 / rate.secondsEach
  const values: readonly (readonly [MetricDef, number | undefined])[] = [
    [metrics.jobProgressRatio, step === undefined || total === undefined || total <= 0 ? undefined : Math.min(1, step / total)],
    [metrics.jobStep, step],
    [metrics.jobSteps, total],
    [metrics.jobStepRate, rate?.of === 'step' ? perSecond : undefined],
    [metrics.jobSamplesRate, rate?.of === 'sample' ? perSecond : samplesRate],
    [metrics.jobTokensRate, rate?.of === 'token' ? perSecond : tokensRate],
    [metrics.jobLoss, loss],
    [metrics.jobEtaSeconds, etaSeconds],
    [metrics.jobLastProgressTimestampSeconds, progressedAt / 1_000],
  ]
  return values.flatMap(([metric, value]) => (value === undefined || !Number.isFinite(value) ? [] : [{ series: makeSeries(metric, labels), value }]))
}

/** `nameOf`: what the job of a container is called (its compose service, its pod). */
export function createJobProgressSource(progress: ProgressBook, nameOf: (container: string) => string | undefined = () => undefined): Source {
  return {
    id: 'job-progress',
    metrics: Object.values(metrics),
    start({ emit, every }) {
      let said = false
      every(EVERY_MS, (t) => {
        const began = performance.now()
        const readings = progress.jobs().flatMap((said) => readingsOf({ ...said, job: nameOf(said.job) ?? said.job }))
        if (readings.length === 0 && !said) return
        said = readings.length > 0
        emit({ type: 'scrape', t, source: 'job-progress', group: '', ttlMs: 5 * EVERY_MS, durationMs: performance.now() - began, readings, gaps: [] })
      })
    },
    stop: () => {},
  }
}

export const jobProgress = defineSource({
  id: 'job-progress',
  metrics: Object.values(metrics),
  needs: ['config', 'jobs', 'progress'],
  create({ config, jobs, progress }) {
    if (config.simulate.scenario !== 'off') return undefined
    return createJobProgressSource(progress, (container) => jobs.figures().running.find((run) => run.container === container)?.job)
  },
})
