// The processes that the lists of a GPU have named, shared between collectors of one device: the accounting mode knows others too.
import type { Device } from '../../nvml/device.ts'

/** More than a GPU has in a day; the oldest are forgotten. */
const MOST_PIDS = 8_192
const listed = new WeakMap<Device, Set<number>>()

export function listedPids(device: Device): { readonly add: (pid: number) => void; readonly has: (pid: number) => boolean } {
  const pids = listed.get(device) ?? new Set<number>()
  listed.set(device, pids)
  return {
    add(pid) {
      if (pids.has(pid)) return
      pids.add(pid)
      const oldest = pids.size > MOST_PIDS ? pids.values().next().value : undefined
      if (oldest !== undefined) pids.delete(oldest)
    },
    has: (pid) => pids.has(pid),
  }
}
