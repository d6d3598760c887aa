// Intel cards: i915 and xe. One line for each collector.
import { gpuInfo } from '../../metrics/gpu-identity.ts'
import { makeSeries } from '../../model/series.ts'
import type { CardCollector, Vendor } from '../card.ts'
import { asleep } from '../parts/asleep.ts'
import { driverVersion } from '../parts/driver-version.ts'
import { nameInPciIds } from '../parts/pci-ids.ts'
import { linkCollector } from '../parts/pci-link.ts'
import { processes } from '../parts/processes.ts'
import { load } from './load.ts'
import { memory } from './memory.ts'
import { clocks, energy, fans, powerLimits, temperature, throttle } from './sensors.ts'

const identity: CardCollector = {
  id: 'identity',
  rate: 'rare',
  readsAsleep: true,
  metrics: [gpuInfo],
  attach(card) {
    const series = makeSeries(gpuInfo, {
      ...card.labels,
      name: card.name,
      vendor: 'intel',
      pci_bus_id: card.slot,
      driver_version: driverVersion(card),
      ...(card.integrated ? { memory: 'unified' } : {}),
    })
    return { read: (out) => out.reading(series, 1) }
  },
}

export const intel: Vendor = {
  id: 'intel',
  name: 'Intel',
  drivers: ['xe', 'i915'],
  // The GPU on Intel's chips has had this address since it exists.
  isIntegrated: (_files, { slot }) => slot === '0000:00:02.0',
  // What Level Zero calls a UUID is made of ids and the place, so the place alone says as much.
  identify: (_files, { slot, pciId }) => ({ uuid: `pci-${slot}`, name: nameInPciIds(pciId) ?? `Intel GPU ${pciId}` }),
  collectors: [identity, asleep, memory, load, energy, powerLimits, temperature, fans, clocks, throttle, linkCollector(() => false), processes],
}
