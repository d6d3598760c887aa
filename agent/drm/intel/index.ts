// Intel cards: i915 and xe. One line for each collector.
import type { Vendor } from '../card.ts'
import { asleep } from '../parts/asleep.ts'
import { identityCollector } from '../parts/identity.ts'
import { nameInPciIds } from '../parts/pci-ids.ts'
import { linkCollector } from '../parts/pci-link.ts'
import { processes } from '../parts/processes.ts'
import { load } from './load.ts'
import { memory } from './memory.ts'
import { clocks, energy, fans, powerLimits, temperature, throttle } from './sensors.ts'

const identity = identityCollector('intel', ({ slot }) => ({ pci_bus_id: slot }))

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
