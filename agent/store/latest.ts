// The present: what each source said last, as long as it still holds. A series that is not refreshed is gone.
import { createInventory, type Inventory } from '../inventory/inventory.ts'
import type { Scrape } from '../model/event.ts'
import type { Gap, Reading } from '../model/reading.ts'

export type LatestGroup = {
  readonly source: string
  readonly group: string
  readonly t: number
  readonly readings: readonly Reading[]
  readonly gaps: readonly Gap[]
}

export type LatestStore = {
  /** Takes a scrape in; it replaces what the same source and group said before. */
  readonly apply: (scrape: Scrape) => void
  /** Drops the groups whose time to live has run out at `now` (Unix ms). */
  readonly expire: (now: number) => void
  readonly groups: () => Iterable<LatestGroup>
  /** All readings of a metric, by its full name. */
  readonly of: (metric: string) => readonly Reading[]
  /** Who the GPUs, containers and processes are that the readings speak of. */
  readonly inventory: Inventory
  readonly gaps: () => readonly (Gap & { readonly source: string; readonly t: number })[]
}

/** More than any source is late, less than any clock is set back by hand. */
const CLOCK_SET_BACK_MS = 60_000

/** Cost per scrape is one map entry, whatever its size: readings are kept as they came. */
export function createLatestStore(): LatestStore {
  const groups = new Map<string, LatestGroup & { readonly expiresAt: number }>()
  let version = 0
  const inventory = createInventory({ groups: () => groups.values(), version: () => version })
  return {
    inventory,
    apply(scrape) {
      const { source, group, t, readings, gaps } = scrape
      const key = `${source}\n${group}`
      const known = groups.get(key)
      // A late answer must not undo a newer one; but what lies far ahead was said before the clock was set back.
      if (known !== undefined && known.t > t && known.t - t <= CLOCK_SET_BACK_MS) return
      version += 1
      groups.set(key, { source, group, t, readings, gaps, expiresAt: t + scrape.ttlMs })
    },
    expire(now) {
      // Once a second who is here is learnt, whether anybody asks or not: what is dropped is remembered.
      inventory.gpus()
      groups.forEach((group, key) => {
        if ((group.expiresAt < now || group.t - now > CLOCK_SET_BACK_MS) && groups.delete(key)) version += 1
      })
    },
    groups: () => groups.values(),
    of(metric) {
      const found: Reading[] = []
      groups.forEach(({ readings }) => {
        for (let at = 0; at < readings.length; at++) {
          const reading = readings[at]
          if (reading?.series.metric.name === metric) found.push(reading)
        }
      })
      return found
    },
    gaps() {
      const found: (Gap & { source: string; t: number })[] = []
      for (const group of groups.values()) for (const gap of group.gaps) found.push({ ...gap, source: group.source, t: group.t })
      return found
    },
  }
}
