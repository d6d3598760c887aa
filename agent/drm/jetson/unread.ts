// What other GPUs tell and a Jetson's does not, each with the reason: a gap, so that nobody waits for it or takes it for zero.
import { gpuEccErrorsTotal } from '../../metrics/gpu-errors.ts'
import { gpuPcieLinkGeneration, gpuPcieLinkWidth } from '../../metrics/gpu-links.ts'
import { gpuDecoderUtilizationRatio, gpuEncoderUtilizationRatio, gpuMemoryUtilizationRatio } from '../../metrics/gpu-load.ts'
import { gpuEnergyJoulesTotal, gpuPowerLimitWatts } from '../../metrics/gpu-power.ts'
import { gpuMemoryTemperatureCelsius } from '../../metrics/gpu-temperature.ts'
import type { MetricDef } from '../../model/metric.ts'
import { failureOf } from '../../nvml/codes.ts'
import type { CardCollector } from '../card.ts'

const WHY: readonly (readonly [reason: string, ...metrics: readonly MetricDef[]])[] = [
  ['the GPU is on the chip and has no PCIe slot', gpuPcieLinkGeneration, gpuPcieLinkWidth],
  ['the memory is the host’s, and has neither ECC counters nor a sensor here', gpuEccErrorsTotal, gpuMemoryTemperatureCelsius],
  ['the board’s power monitor counts no energy and has no limit for the GPU', gpuEnergyJoulesTotal, gpuPowerLimitWatts],
  ['the kernel has no file with the load of memory or video engines', gpuMemoryUtilizationRatio, gpuEncoderUtilizationRatio, gpuDecoderUtilizationRatio],
]

export const unread: CardCollector = {
  id: 'untold',
  rate: 'slow',
  readsAsleep: true,
  metrics: WHY.flatMap(([, ...metrics]) => metrics),
  attach(card) {
    const gaps = WHY.flatMap(([reason, ...metrics]) => metrics.map((metric) => ({ metric, failure: failureOf(card.device, -1, 'not_supported', reason) })))
    return {
      read(out) {
        for (const { metric, failure } of gaps) out.gap(metric, card.labels, failure)
      },
    }
  },
}
