// The newest readings of the watched metrics: a reading holds until its source reports another, or until its time to live has passed.
import { createInventory, type Inventory } from '../../../inventory/inventory.ts'
import type { Scrape } from '../../../model/event.ts'
import type { MetricDef } from '../../../model/metric.ts'
import type { Gap, Reading } from '../../../model/reading.ts'

export type Present = {
  /** Time of the newest judgment; readings are those that hold then. */
  readonly t: () => number
  /** Readings of a metric that hold now; empty when it could not be read. */
  readonly of: (metric: string) => readonly Reading[]
  /** When each of `of` was read, in the same order: what a lost scrape leaves standing is no second look. */
  readonly timesOf: (metric: string) => readonly number[]
  /** Who the GPUs, containers and processes are that hold now. */
  readonly inventory: Inventory
  /** Gaps of a metric (or of a source by its id) that hold now. */
  readonly gapsOf: (metric: string) => readonly Gap[]
  /** When the source last said anything at all, Unix ms. */
  readonly heard: (source: string) => number | undefined
}
export type PresentFold = Present & {
  readonly ingest: (scrape: Scrape) => void
  /** Moves to `t`: what has outlived its time is dropped. */
  readonly moveTo: (t: number) => void
}

const NONE: readonly never[] = []

/** Costs one reference per scrape, and one pass over the readings per tick in which anybody asks. */
export function createPresent(watched: ReadonlySet<string>): PresentFold {
  const sources = new Map<string, Map<string, Scrape>>()
  const heardAt = new Map<string, number>()
  /** Lists are overwritten from the start and keep their capacity; entries beyond `count` are cut off at the end. */
  const listed = new Map<string, { readonly readings: Reading[]; readonly times: number[]; count: number }>()
  const gaps = new Map<string, Gap[]>()
  let now = 0
  let stale = true
  let version = 0

  const index = (): void => {
    stale = false
    version += 1
    for (const list of listed.values()) list.count = 0
    gaps.clear()
    sources.forEach((groups) => {
      groups.forEach((scrape) => {
        // Also when the clock was set back: what lies far in the future is no newer.
        if (Math.abs(now - scrape.t) > scrape.ttlMs) {
          groups.delete(scrape.group)
          return
        }
        let last: MetricDef | undefined
        let list: ReturnType<typeof listed.get>
        const { readings } = scrape
        for (let at = 0; at < readings.length; at++) {
          const reading = readings[at]
          if (reading === undefined) continue
          const { metric } = reading.series
          if (metric !== last) {
            last = metric
            list = listed.get(metric.name)
            if (list === undefined && watched.has(metric.name)) listed.set(metric.name, (list = { readings: [], times: [], count: 0 }))
          }
          if (list === undefined) continue
          list.readings[list.count] = reading
          list.times[list.count] = scrape.t
          list.count++
        }
        for (const gap of scrape.gaps) {
          const list = gaps.get(gap.metric)
          if (list === undefined) gaps.set(gap.metric, [gap])
          else list.push(gap)
        }
      })
    })
    for (const list of listed.values()) {
      if (list.readings.length > list.count) list.readings.length = list.count
      if (list.times.length > list.count) list.times.length = list.count
    }
  }

  const scrapes = function* (): Iterable<Scrape> {
    for (const groups of sources.values()) yield* groups.values()
  }
  const inventory = createInventory({
    groups: scrapes,
    version() {
      if (stale) index()
      return version
    },
  })

  return {
    inventory,
    ingest(scrape) {
      let groups = sources.get(scrape.source)
      if (groups === undefined) sources.set(scrape.source, (groups = new Map()))
      groups.set(scrape.group, scrape)
      heardAt.set(scrape.source, scrape.t)
      stale = true
    },
    moveTo(t) {
      now = t
      stale = true
    },
    t: () => now,
    of(metric) {
      if (stale) index()
      return listed.get(metric)?.readings ?? NONE
    },
    timesOf(metric) {
      if (stale) index()
      return listed.get(metric)?.times ?? NONE
    },
    gapsOf(metric) {
      if (stale) index()
      return gaps.get(metric) ?? NONE
    },
    heard: (source) => heardAt.get(source),
  }
}
