// How busy each process keeps the GPU: the mean of the driver's samples since the last look. The parent makes shares of it (attribution/gpu-utilization.ts).
import { processGpuUtilizationRatio } from '../metrics/process.ts'
import { SUCCESS, failureOf } from '../nvml/codes.ts'
import type { ProcessSample } from '../nvml/device.ts'
import type { ProcessLoad } from '../sampler/protocol.ts'
import type { Collector } from './collector.ts'

/** The metric that is missing when the samples are; the parent makes it of them and declares it. */
const SAMPLED = { name: processGpuUtilizationRatio.name } as const
/** Samples of one period carry nearly the same time. */
const SAME_PERIOD_US = 10_000

/** A process has a sample for each period in which it used the GPU, and none for the others. */
function loadsOf(samples: readonly ProcessSample[]): readonly ProcessLoad[] {
  let periods = 0
  let period = Number.NEGATIVE_INFINITY
  for (const time of samples.map(({ timeUs }) => timeUs).sort((a, b) => a - b)) {
    if (time - period > SAME_PERIOD_US) {
      periods++
      period = time
    }
  }
  const sums = new Map<number, number>()
  for (const { pid, ratio } of samples) sums.set(pid, (sums.get(pid) ?? 0) + ratio)
  return [...sums].map(([pid, sum]) => ({ pid, ratio: Math.min(1, sum / periods) }))
}

export const processUtilization: Collector = {
  id: 'process-utilization',
  rate: 'fast',
  metrics: [],
  attach: (device) => {
    const query = device.utilization()
    return {
      read: (out) => {
        const code = query.ask()
        if (code === SUCCESS) out.loads(loadsOf(query.samples()))
        else out.gap(SAMPLED, device.labels, failureOf(query.name, code))
      },
    }
  },
}
