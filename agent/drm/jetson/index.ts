// Jetson boards with the driver nvgpu (Nano, TX2, Xavier, Orin), whose NVML is a stub or missing: their GPU from the kernel's files. One line for each collector.
import type { Vendor } from '../card.ts'
import { asleep } from '../parts/asleep.ts'
import { identityCollector } from '../parts/identity.ts'
import { boardText, findJetson } from './find.ts'
import { clocks, load, maxClocks } from './load.ts'
import { memory, processes } from './memory.ts'
import { fan, power, temperature, temperatureThresholds, throttle } from './sensors.ts'
import { unread } from './unread.ts'

const identity = identityCollector('nvidia', ({ files, roots }) => {
  const serial = boardText(files, roots, 'serial-number')
  return serial === '' ? {} : { serial }
})

export const jetson: Vendor = {
  id: 'jetson',
  name: 'Jetson',
  drivers: ['nvgpu'],
  isIntegrated: () => true,
  find: findJetson,
  isPresent: (files, { folder }) => files.list(folder).length > 0,
  identify(files, { slot }, roots) {
    const serial = boardText(files, roots, 'serial-number')
    const model = boardText(files, roots, 'model')
    return { uuid: /^\w{4,40}$/.test(serial) ? `jetson-${serial}` : `jetson-${slot}`, name: model === '' ? 'Jetson GPU' : model.slice(0, 100) }
  },
  collectors: [identity, asleep, memory, load, power, temperature, temperatureThresholds, fan, clocks, maxClocks, throttle, processes, unread],
}
