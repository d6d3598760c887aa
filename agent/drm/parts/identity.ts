// Who a card is, as one series: its name, vendor and driver, whether it shares the host's memory, and what its vendor adds.
import { gpuInfo } from '../../metrics/gpu-identity.ts'
import { makeSeries, type Labels } from '../../model/series.ts'
import type { Card, CardCollector } from '../card.ts'
import { driverVersion } from './driver-version.ts'

export const identityCollector = (vendor: string, more: (card: Card) => Labels): CardCollector => ({
  id: 'identity',
  rate: 'rare',
  readsAsleep: true,
  metrics: [gpuInfo],
  attach(card) {
    const series = makeSeries(gpuInfo, {
      ...card.labels,
      name: card.name,
      vendor,
      driver_version: driverVersion(card),
      ...(card.integrated ? { memory: 'unified' } : {}),
      ...more(card),
    })
    return { read: (out) => out.reading(series, 1) }
  },
})
