// AMD cards: amdgpu, and of the older radeon what it has. One line for each collector.
import type { Vendor } from '../card.ts'
import { asleep } from '../parts/asleep.ts'
import { generationOf, linkCollector } from '../parts/pci-link.ts'
import { processes } from '../parts/processes.ts'
import { isFailure } from '../files.ts'
import { identify, identity, isIntegrated, partitions, pcieReplays } from './identity.ts'
import { load } from './load.ts'
import { memory } from './memory.ts'
import { ecc, retiredPages } from './ras.ts'
import { clocks, energy, fan, maxClocks, power, powerLimits, temperature, temperatureThresholds } from './sensors.ts'
import { tableOf } from './table.ts'
import { throttle } from './throttle.ts'

/** The firmware knows the slot's link; the GPU's own function shows a link inside the card from Vega 20 on. */
const pcieLink = linkCollector(
  ({ files, device }) => !files.has(`${device}/gpu_metrics`),
  (card) => {
    const table = card.integrated ? undefined : tableOf(card)
    if (table === undefined || isFailure(table)) return undefined
    const { linkSpeed, linkWidth } = table.figures
    const generation = linkSpeed === undefined ? 0 : generationOf(linkSpeed)
    return { ...(generation === 0 ? {} : { generation }), ...(linkWidth === undefined || linkWidth === 0 ? {} : { width: linkWidth }) }
  },
)

export const amd: Vendor = {
  id: 'amd',
  name: 'AMD',
  drivers: ['amdgpu', 'radeon'],
  isIntegrated,
  identify,
  collectors: [
    identity,
    asleep,
    memory,
    load,
    power,
    powerLimits,
    energy,
    temperature,
    temperatureThresholds,
    fan,
    clocks,
    maxClocks,
    throttle,
    ecc,
    retiredPages,
    pcieLink,
    pcieReplays,
    partitions,
    processes,
  ],
}
