// How busy each process keeps the GPU: the mean of the driver's samples since the last look. The parent makes shares of it (attribution/gpu-utilization.ts).
import { processGpuUtilizationRatio } from '../metrics/process.ts'
import { SUCCESS, failureOf } from '../nvml/codes.ts'
import type { ProcessSamples } from '../nvml/device.ts'
import type { ProcessLoad } from '../sampler/protocol.ts'
import type { Collector } from './collector.ts'
import { listedPids } from './parts/listed-pids.ts'

/** The metric that is missing when the samples are; the parent makes it of them and declares it. */
const SAMPLED = { name: processGpuUtilizationRatio.name } as const
const NONE: readonly ProcessLoad[] = []
/** Samples of one period carry nearly the same time. */
const SAME_PERIOD_US = 10_000

const round = (ratio: number): number => Math.round(ratio * 1e4) / 1e4

/** A process has a sample for each period in which it used the GPU, and none for the others. */
function loadsOf({ count, pid: pids, timeUs, percent }: Readonly<ProcessSamples>): readonly ProcessLoad[] {
  if (count === 0) return NONE
  const times = timeUs.slice(0, count).sort()
  let periods = 0
  let period = Number.NEGATIVE_INFINITY
  for (let at = 0; at < count; at++) {
    const time = times[at] ?? 0
    if (time - period <= SAME_PERIOD_US) continue
    periods++
    period = time
  }
  const sums = new Map<number, number>()
  for (let at = 0; at < count; at++) sums.set(pids[at] ?? 0, (sums.get(pids[at] ?? 0) ?? 0) + (percent[at] ?? 0))
  return Array.from(sums, ([pid, sum]) => ({ pid, ratio: round(Math.min(1, sum / 100 / periods)) }))
}

/**
 * Of one process alone nobody needs samples: the GPU's own figure is its. They are then only asked for so often, which also shows others that come and go between two
 * lists; after these they are asked for each time again for a while.
 */
const ALONE_EVERY = 4
const AFTER_OTHERS = 60

/** Its name is behind that of `processes`, so it runs when this second's list is known. */
export const utilizationByProcess: Collector = {
  id: 'process-utilization',
  rate: 'fast',
  metrics: [],
  attach: (device) => {
    const query = device.utilization()
    const listed = listedPids(device)
    let code: number | undefined
    let skipped = 0
    /** Looks since a list or the samples named more than one process. */
    let aloneFor = 0
    return {
      read: (out) => {
        if (code !== SUCCESS || (listed.count() ?? 2) > 1) aloneFor = 0
        if (++aloneFor > AFTER_OTHERS && ++skipped < ALONE_EVERY) {
          out.loads(NONE)
          return
        }
        skipped = 0
        code = query.ask()
        if (code !== SUCCESS) {
          out.gap(SAMPLED, device.labels, failureOf(query.name, code))
          return
        }
        const loads = loadsOf(query.samples)
        if (loads.length > 1) aloneFor = 0
        out.loads(loads)
      },
    }
  },
}
