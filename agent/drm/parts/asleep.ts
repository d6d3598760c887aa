// Whether the kernel has suspended a card, which its other collectors respect.
import { gpuAsleep } from '../../metrics/gpu-identity.ts'
import { makeSeries } from '../../model/series.ts'
import type { CardCollector } from '../card.ts'

export const asleep: CardCollector = {
  id: 'asleep',
  rate: 'fast',
  readsAsleep: true,
  metrics: [gpuAsleep],
  attach(card) {
    const series = makeSeries(gpuAsleep, card.labels)
    return { read: (out) => out.reading(series, card.asleep() ? 1 : 0) }
  },
}
