// The processes that the lists of a GPU have named, shared between collectors of one device: the accounting mode knows others too.
import type { Device } from '../../nvml/device.ts'

/** More than a GPU has in a day; the oldest are forgotten. */
const MOST_PIDS = 8_192

export type ListedPids = {
  readonly add: (pid: number) => void
  readonly has: (pid: number) => boolean
  /** How many are in the newest list. */
  readonly listed: (count: number) => void
  /** Undefined before the first list, and where it could not be read. */
  readonly count: () => number | undefined
  readonly unread: () => void
}

function createListedPids(): ListedPids {
  const pids = new Set<number>()
  let now: number | undefined
  return {
    add(pid) {
      if (pids.has(pid)) return
      pids.add(pid)
      const oldest = pids.size > MOST_PIDS ? pids.values().next().value : undefined
      if (oldest !== undefined) pids.delete(oldest)
    },
    has: (pid) => pids.has(pid),
    listed: (count) => void (now = count),
    count: () => now,
    unread: () => void (now = undefined),
  }
}

const byDevice = new WeakMap<Device, ListedPids>()

export function listedPids(device: Device): ListedPids {
  let known = byDevice.get(device)
  if (known === undefined) byDevice.set(device, (known = createListedPids()))
  return known
}
