// What a job makes of the power that its GPUs draw: tokens per joule and per GPU hour, beside the power limit in force.
import { gpuPowerLimitWatts, gpuPowerWatts } from '../../metrics/gpu-power.ts'
import * as metrics from '../../metrics/job-progress.ts'
import type { Run } from '../../model/job.ts'
import type { Reading } from '../../model/reading.ts'
import { makeSeries } from '../../model/series.ts'
import type { LatestStore } from '../../store/latest.ts'

/** Per GPU, from the newest readings; absent where one of the job's GPUs does not say, as half of the power is not the power. */
function wattsOf(latest: Pick<LatestStore, 'of'>, metric: string, uuids: readonly string[]): readonly number[] | undefined {
  const byGpu = new Map(latest.of(metric).map(({ series, value }) => [series.labels['uuid'], value]))
  const found = uuids.flatMap((uuid) => byGpu.get(uuid) ?? [])
  return found.length === uuids.length && uuids.length > 0 ? found : undefined
}

/** `tokensRate`: of the whole job, a second. A GPU that another job shares is left to nobody: its power cannot be distinguished. */
export function efficiencyOf(job: string, tokensRate: number, run: Pick<Run, 'gpus'>, latest: Pick<LatestStore, 'of'>): readonly Reading[] {
  const whole = run.gpus.filter(({ gi, share }) => gi === undefined && share > 0.99)
  if (whole.length < run.gpus.length || tokensRate <= 0) return []
  const uuids = [...new Set(whole.map(({ uuid }) => uuid))]
  const drawn = wattsOf(latest, gpuPowerWatts.name, uuids)
  const limits = wattsOf(latest, gpuPowerLimitWatts.name, uuids)
  const [limit] = limits ?? []
  if (limit === undefined || limits?.some((other) => other !== limit) === true) return []
  const labels = { job, power_limit_watts: String(Math.round(limit)) }
  const watts = drawn?.reduce((sum, value) => sum + value, 0) ?? 0
  return [
    { series: makeSeries(metrics.jobTokensPerGpuHour, labels), value: (tokensRate * 3_600) / uuids.length },
    ...(watts > 0 ? [{ series: makeSeries(metrics.jobTokensPerJoule, labels), value: tokensRate / watts }] : []),
  ]
}
