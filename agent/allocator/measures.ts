// What the statistics of PyTorch's caching allocator say about room for the next request: U, E and S* of shared reference pytorch-allocator.md,
// section 4 with the corrections of section 11. Pure.
import type { AllocatorSample, AllocatorStats } from '../model/event.ts'

/** What the measures need of a sample; an OOM event brings the same. */
export type AllocatorState = Pick<AllocatorSample, 'backend' | 'expandable' | 'limit_bytes' | 'stats'>

/** Other backends fill only allocated, reserved and active; their zeros elsewhere mean nothing. A sample that names none is taken for native. */
const isCaching = ({ backend }: AllocatorState): boolean => backend === undefined || backend === 'native'

/**
 * U: what a flush cannot give back, active + inactive split. An allocator of expandable segments never counts inactive split (it may also
 * keep pages with holes), so there U is a lower bound.
 */
export function unreleasable(state: AllocatorState): number | undefined {
  const { active_bytes: active, inactive_split_bytes: split } = state.stats
  if (!isCaching(state) || active === undefined) return undefined
  if (split === undefined) return state.expandable === true ? active : undefined
  return active + split
}

/**
 * E: the largest single piece that the driver can still give after a flush, free + reserved - U, and no more than the process's memory
 * fraction leaves. `reservedThen` is what the process had reserved when `freeBytes` was read; without it the sample's own figure stands,
 * which is off while the cache grows. With expandable segments an upper bound.
 */
export function headroom(state: AllocatorState, freeBytes: number, reservedThen = state.stats.reserved_bytes): number | undefined {
  const held = unreleasable(state)
  if (held === undefined || reservedThen === undefined) return undefined
  const room = freeBytes + reservedThen - held
  const limit = state.limit_bytes
  return Math.max(0, typeof limit === 'number' ? Math.min(room, limit - held) : room)
}

/** Free bytes of the cache that a flush leaves behind, when `stats` were read right after one. */
function strandedBytes(state: AllocatorState): number | undefined {
  const { reserved_bytes: reserved, active_bytes: active, inactive_split_bytes: split } = state.stats
  if (!isCaching(state)) return undefined
  // reserved - active reads warm cache in a retry storm (section 11.2); for expandable segments there is nothing better.
  if (state.expandable !== true) return split
  return reserved === undefined || active === undefined ? undefined : Math.max(0, reserved - active)
}

/** The share of the room that this process may use which was stranded after its last flush; undefined before the first one. */
export type Stranded = {
  /** `capacityBytes`: used + free of one scrape of the GPU. The state of an OOM is one right after a flush. */
  readonly take: (state: AllocatorState, capacityBytes: number | undefined) => number | undefined
  readonly value: () => number | undefined
}

const rose = (before: number | undefined, now: number | undefined): boolean => before !== undefined && now !== undefined && now > before

export function createStranded(): Stranded {
  let retries: number | undefined
  let ooms: number | undefined
  let value: number | undefined
  const limitOf = ({ limit_bytes: limit }: AllocatorState, capacity: number | undefined): number | undefined =>
    typeof limit === 'number' ? Math.min(limit, capacity ?? limit) : capacity
  return {
    take(state, capacityBytes) {
      const { num_alloc_retries: nowRetries, num_ooms: nowOoms } = state.stats
      // A counter that fell was reset by the program; what it counted before that is over.
      const flushed = rose(retries, nowRetries) || rose(ooms, nowOoms)
      retries = nowRetries ?? retries
      ooms = nowOoms ?? ooms
      if (!flushed) return value
      const bytes = strandedBytes(state)
      const limit = limitOf(state, capacityBytes)
      if (bytes !== undefined && limit !== undefined && limit > 0) value = Math.min(1, bytes / limit)
      return value
    },
    value: () => value,
  }
}

export type ReservedThen = {
  /** `processBytes`: what the driver counted for the process in the scrape of `driverT`, from which the free bytes are too. */
  readonly take: (t: number, stats: AllocatorStats, driverT: number, processBytes: number | undefined) => number | undefined
}

type Timed = { readonly t: number; readonly bytes: number }

/**
 * What a process had reserved at the time of the driver's reading. The driver counts context and libraries too; that part is learnt when
 * the cache was the same before and after a reading, and taken off from then on.
 */
export function createReservedThen(): ReservedThen {
  let overhead: number | undefined
  let [before, last]: (Timed | undefined)[] = []
  let [olderDriver, driver]: (Timed | undefined)[] = []
  const learn = (reading: Timed | undefined): void => {
    if (reading === undefined || before === undefined || last === undefined || before.bytes !== last.bytes) return
    if (before.t <= reading.t && reading.t <= last.t && reading.bytes >= last.bytes) overhead = reading.bytes - last.bytes
  }
  return {
    take(t, { reserved_bytes: reserved }, driverT, processBytes) {
      if (reserved === undefined) return undefined
      if (last === undefined || t > last.t) [before, last] = [last, { t, bytes: reserved }]
      if (processBytes === undefined) return reserved
      if (driver === undefined || driverT > driver.t) [olderDriver, driver] = [driver, { t: driverT, bytes: processBytes }]
      learn(olderDriver)
      learn(driver)
      return overhead === undefined ? reserved : Math.max(0, processBytes - overhead)
    },
  }
}
