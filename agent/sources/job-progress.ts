// What jobs say of their progress in the logs that the other sources read: one scrape for all of them.
import * as metrics from '../metrics/job-progress.ts'
import type { Run } from '../model/job.ts'
import type { MetricDef } from '../model/metric.ts'
import type { Reading } from '../model/reading.ts'
import { createSeriesCache, makeSeries } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import type { LatestStore } from '../store/latest.ts'
import { defineSource } from './definition.ts'
import { efficiencyOf } from './logs/job-efficiency.ts'
import type { JobProgress, ProgressBook } from './logs/progress-book.ts'

const EVERY_MS = 2_000

/** `now`: a time left is that of the moment when it was said; it has become less since. */
export function readingsOf(
  { job, rank, progress, progressedAt }: JobProgress,
  now: number = progressedAt,
  seriesFor: typeof makeSeries = makeSeries,
): readonly Reading[] {
  const labels = { job, ...(rank === undefined ? {} : { rank: String(rank) }) }
  const { step, total, done, rate, loss, epoch, learningRate, etaSeconds, etaRange, phase, samplesRate, tokensRate } = progress
  const since = Math.max(0, now - progressedAt) / 1_000
  const left = (seconds: number | undefined): number | undefined => (seconds === undefined ? undefined : Math.max(0, seconds - since))
  const perSecond = rate?.secondsEach === undefined ? (rate === undefined ? undefined : 0) : 1 / rate.secondsEach
  const values: readonly (readonly [MetricDef, number | undefined])[] = [
    [metrics.jobProgressRatio, step === undefined || total === undefined || total <= 0 ? done : Math.min(1, step / total)],
    [metrics.jobStep, step],
    [metrics.jobSteps, total],
    [metrics.jobStepRate, rate?.of === 'step' ? perSecond : undefined],
    [metrics.jobSamplesRate, rate?.of === 'sample' ? perSecond : samplesRate],
    [metrics.jobTokensRate, rate?.of === 'token' ? perSecond : tokensRate],
    [metrics.jobLoss, loss],
    [metrics.jobEpoch, epoch],
    [metrics.jobLearningRate, learningRate],
    [metrics.jobEtaSeconds, left(etaSeconds)],
    [metrics.jobEtaEarliestSeconds, left(etaRange?.[0])],
    [metrics.jobEtaLatestSeconds, left(etaRange?.[1])],
    [metrics.jobLastProgressTimestampSeconds, progressedAt / 1_000],
  ]
  const figures = values.flatMap(([metric, value]) => (value === undefined || !Number.isFinite(value) ? [] : [{ series: seriesFor(metric, labels), value }]))
  return phase === undefined ? figures : [...figures, { series: seriesFor(metrics.jobPhaseInfo, { ...labels, phase }), value: 1 }]
}

/** Tokens a second of the whole job: of ranks that each say their own, the sum. */
function tokensOf(all: readonly JobProgress[], job: string): number {
  return all
    .filter((one) => one.job === job)
    .reduce(
      (sum, { progress: { rate, tokensRate } }) => sum + (rate?.of === 'token' && rate.secondsEach !== undefined ? 1 / rate.secondsEach : (tokensRate ?? 0)),
      0,
    )
}

export type JobLookup = {
  /** The running job of a container: what it is called (its compose service, its pod), which GPUs it holds. */
  readonly runOf?: (container: string) => Pick<Run, 'job' | 'gpus'> | undefined
  readonly latest?: Pick<LatestStore, 'of'>
}

export function createJobProgressSource(progress: ProgressBook, { runOf = () => undefined, latest }: JobLookup = {}): Source {
  const seriesFor = createSeriesCache()
  return {
    id: 'job-progress',
    metrics: Object.values(metrics),
    start({ emit, every }) {
      let said = false
      every(EVERY_MS, (t) => {
        const began = performance.now()
        const all = progress.jobs()
        const readings = all.flatMap((each) => readingsOf({ ...each, job: runOf(each.job)?.job ?? each.job }, t, seriesFor))
        for (const job of new Set(all.map((each) => each.job))) {
          const run = runOf(job)
          if (run !== undefined && latest !== undefined) readings.push(...efficiencyOf(run.job, tokensOf(all, job), run, latest))
        }
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
  needs: ['config', 'jobs', 'latest', 'progress'],
  create({ config, jobs, latest, progress }) {
    if (config.simulate.scenario !== 'off') return undefined
    return createJobProgressSource(progress, { runOf: (container) => jobs.figures().running.find((run) => run.container === container), latest })
  },
})
