// What probes in the simulated processes would report: samples each second, and the scrapes that the real source makes of them.
import type { Event } from '../../model/event.ts'
import type { Reading } from '../../model/reading.ts'
import { createAllocatorReadings, type AllocatorReadings, type DriverMemory, type GpuPlace } from '../allocator/readings.ts'
import { capacityOf, type Card } from './card.ts'
import { heldBytes, instanceUsedBytes, isAlive, usedBytes, type Process, type World } from './world.ts'

const TTL_MS = 2_500

type Watched = { readonly process: Process; readonly place: GpuPlace; pid: number; readings: AllocatorReadings }

const placeOf = ({ card, mig }: Process): GpuPlace => {
  const whole = { gpu: String(card.index), uuid: card.uuid }
  return mig === undefined ? whole : { ...whole, migUuid: mig.uuid, gi: mig.gi, ci: mig.ci }
}

export function createProbes(world: World): (t: number) => readonly Event[] {
  const watched: readonly Watched[] = world.processes
    .filter(({ probe }) => probe)
    .map((process) => {
      const place = placeOf(process)
      return { process, place, pid: process.pid, readings: createAllocatorReadings(place) }
    })
  const cards = [...new Set(watched.map(({ process }) => process.card))]

  const driverOf = (process: Process, t: number): DriverMemory | undefined => {
    const { card, mig } = process
    if (card.fault !== undefined) return undefined
    const used = mig === undefined ? usedBytes(world, card) : instanceUsedBytes(world, card, mig)
    return { t, usedBytes: used, freeBytes: (mig?.totalBytes ?? capacityOf(card)) - used, processBytes: heldBytes(process) }
  }
  const report = (card: Card, t: number, events: Event[]): void => {
    const out: Reading[] = []
    for (const entry of watched) {
      const { process, place } = entry
      if (process.card !== card || !isAlive(process)) continue
      if (process.pid !== entry.pid) {
        entry.pid = process.pid
        entry.readings = createAllocatorReadings(place)
      }
      const sample = {
        type: 'allocator',
        t,
        pid: process.pid,
        uuid: place.uuid,
        ...(place.migUuid === undefined ? {} : { mig_uuid: place.migUuid }),
        ...(process.owner === undefined ? {} : { container: process.owner.name }),
        backend: 'native',
        expandable: false,
        limit_bytes: null,
        stats: process.allocator.stats(),
        peaks: process.allocator.peaks(),
      } as const
      const driver = driverOf(process, t)
      events.push(sample)
      entry.readings.take(sample, driver)
      entry.readings.report(out, process.identity, sample, driver)
    }
    events.push({ type: 'scrape', t, source: 'allocator', group: card.uuid, ttlMs: TTL_MS, durationMs: 0, readings: out, gaps: [] })
  }
  return (t) => {
    const events: Event[] = []
    for (const card of cards) report(card, t, events)
    return events
  }
}
