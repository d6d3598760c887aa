// How busy an AMD card is: shaders, memory controller, video engine. A card that is asleep does nothing, so that is told without asking it.
import { gpuDecoderUtilizationRatio, gpuEncoderUtilizationRatio, gpuMemoryUtilizationRatio, gpuUtilizationRatio } from '../../metrics/gpu-load.ts'
import { makeSeries } from '../../model/series.ts'
import type { Failure } from '../../nvml/codes.ts'
import type { CardCollector } from '../card.ts'
import { isFailure } from '../files.ts'
import { firstRead, report } from '../parts/report.ts'
import type { Field } from './gpu-metrics-layouts.ts'
import { figureOf } from './table.ts'

const PERCENT = 0.01

export const load: CardCollector = {
  id: 'load',
  rate: 'fast',
  readsAsleep: true,
  metrics: [gpuUtilizationRatio, gpuMemoryUtilizationRatio, gpuEncoderUtilizationRatio, gpuDecoderUtilizationRatio],
  attach(card) {
    const shaders = makeSeries(gpuUtilizationRatio, card.labels)
    const memory = makeSeries(gpuMemoryUtilizationRatio, card.labels)
    // One engine encodes and decodes.
    const encoder = makeSeries(gpuEncoderUtilizationRatio, card.labels)
    const decoder = makeSeries(gpuDecoderUtilizationRatio, card.labels)
    return {
      read(out) {
        if (card.asleep()) {
          for (const series of [shaders, memory, encoder, decoder]) out.reading(series, 0)
          return
        }
        const busy = (file: string, field: Field): number | Failure =>
          firstRead(
            () => card.askNumber(`${card.device}/${file}`),
            () => figureOf(card, field),
          )
        report(out, shaders, busy('gpu_busy_percent', 'gfx'), PERCENT)
        report(out, memory, busy('mem_busy_percent', 'memoryActivity'), PERCENT)
        const media = busy('vcn_busy_percent', 'media')
        // Some firmware tells more than a hundred here, which is nothing.
        for (const series of [encoder, decoder]) if (isFailure(media) || media <= 100) report(out, series, media, PERCENT)
      },
    }
  },
}
