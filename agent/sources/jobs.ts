// What the agent says of jobs on /metrics: what runs, how runs ended, what they used.
import {
  jobEnergyJoulesTotal,
  jobGpuSecondsTotal,
  jobInfo,
  jobRunsTotal,
  usageEnergyJoulesTotal,
  usageGpuSecondsTotal,
  usageTokensTotal,
} from '../metrics/job.ts'
import type { JobFigures } from '../model/job.ts'
import type { Reading } from '../model/reading.ts'
import { createSeriesCache, type Labels } from '../model/series.ts'
import type { MetricDef } from '../model/metric.ts'
import type { Source } from '../model/source.ts'
import { defineSource } from './definition.ts'

const metrics = [jobInfo, jobRunsTotal, jobGpuSecondsTotal, jobEnergyJoulesTotal, usageGpuSecondsTotal, usageEnergyJoulesTotal, usageTokensTotal] as const
/** Sums over hours: nobody needs them each second, and each reading costs. */
const EVERY_MS = 10_000

export function createJobsSource(figures: () => JobFigures): Source {
  const seriesFor = createSeriesCache()
  const reading = (metric: MetricDef, labels: Labels, value: number): Reading => ({ series: seriesFor(metric, labels), value })
  return {
    id: 'jobs',
    metrics,
    start({ emit, every }) {
      every(EVERY_MS, (t) => {
        const { running, totals, use } = figures()
        const readings: Reading[] = []
        for (const {
          job,
          job_id,
          run,
          kind,
          user = '',
          namespace = '',
          container = '',
          slurm_job = '',
          account = '',
          partition = '',
          unit = '',
          gpus,
        } of running)
          readings.push(
            reading(
              jobInfo,
              {
                job,
                job_id,
                run: String(run),
                kind,
                user,
                namespace,
                container,
                slurm_job,
                account,
                partition,
                unit,
                gpus: [...new Set(gpus.map(({ gpu }) => gpu))].join(','),
              },
              1,
            ),
          )
        for (const [job, { runs, gpuSeconds, hasGpu, energyJoules }] of totals) {
          for (const [outcome, count] of runs) readings.push(reading(jobRunsTotal, { job, outcome }, count))
          if (hasGpu) for (const state of ['active', 'idle', 'lost'] as const) readings.push(reading(jobGpuSecondsTotal, { job, state }, gpuSeconds[state]))
          if (energyJoules !== undefined) readings.push(reading(jobEnergyJoulesTotal, { job }, energyJoules))
        }
        for (const { owner, use: of } of use) {
          const labels: Labels = Object.fromEntries(
            Object.entries({ user: owner.user, namespace: owner.namespace, account: owner.account }).flatMap(([name, value]) =>
              value === undefined ? [] : [[name, value]],
            ),
          )
          for (const [state, ms] of [
            ['held', of.heldMs],
            ['active', of.activeMs],
            ['idle', of.idleMs],
          ] as const)
            readings.push(reading(usageGpuSecondsTotal, { ...labels, state }, ms / 1_000))
          readings.push(reading(usageEnergyJoulesTotal, labels, of.joules))
          if (of.tokens > 0) readings.push(reading(usageTokensTotal, labels, of.tokens))
        }
        emit({ type: 'scrape', t, source: 'jobs', group: '', ttlMs: 2.5 * EVERY_MS, durationMs: 0, readings, gaps: [] })
      })
    },
    stop: () => {},
  }
}

export const jobs = defineSource({ id: 'jobs', metrics, needs: ['jobs'], create: ({ jobs: { figures } }) => createJobsSource(figures) })
