// A process's caching allocator in outline: reserved memory grows in steps, stays as warm cache, is flushed when the card is full, and fails after that.
// Rules after PyTorch's CUDACachingAllocator: large segments of 20 MiB, one flush and one retry before the error.
import type { AllocatorStats } from '../../model/event.ts'

export const MIB = 1 << 20
export const GIB = 1 << 30
const SEGMENT = 20 * MIB
/** A growing process takes several segments at once, which is what makes the steps in a chart. */
const STEP = 320 * MIB

export type AllocatorFailure = {
  readonly requestBytes: number
  readonly freeBytes: number
  readonly stats: AllocatorStats
  readonly reserved: number
  readonly allocated: number
}

export type SimulatedAllocator = {
  /** Memory that the process holds beyond its CUDA context. */
  readonly reserved: () => number
  /**
   * The process now needs `allocated` bytes, `stranded` bytes of its cache are in pieces too small to use, and the card has `free` bytes left.
   * Returns the failure when even a flush does not help.
   */
  readonly demand: (allocated: number, stranded: number, free: number) => AllocatorFailure | undefined
  readonly stats: () => AllocatorStats
  readonly peaks: () => { readonly allocated_bytes: number; readonly reserved_bytes: number }
}

const upTo = (bytes: number, step: number): number => Math.ceil(bytes / step) * step

export function createAllocator(): SimulatedAllocator {
  let [allocated, reserved, stranded, retries, ooms, peakAllocated, peakReserved] = [0, 0, 0, 0, 0, 0, 0]

  const stats = (): AllocatorStats => ({
    allocated_bytes: allocated,
    reserved_bytes: reserved,
    active_bytes: allocated,
    // A part of any warm cache sits in split segments; what is stranded does so entirely.
    inactive_split_bytes: Math.min(reserved - allocated, stranded + Math.floor((reserved - allocated - Math.min(stranded, reserved - allocated)) * 0.3)),
    requested_bytes: Math.floor(allocated * 0.985),
    num_alloc_retries: retries,
    num_ooms: ooms,
  })
  const settle = (): void => {
    peakAllocated = Math.max(peakAllocated, allocated)
    peakReserved = Math.max(peakReserved, reserved)
  }
  return {
    reserved: () => reserved,
    demand(wanted, strandedNow, free) {
      const need = upTo(Math.floor(wanted) + strandedNow, SEGMENT)
      stranded = strandedNow
      if (need > reserved) {
        const roomy = upTo(need, STEP)
        if (roomy - reserved <= free) reserved = roomy
        else if (need - reserved <= free) reserved = need
        else {
          const limit = reserved + free
          retries += 1
          // The flush gives back what is whole; live blocks and stranded pieces stay.
          reserved = Math.min(reserved, upTo(allocated + strandedNow, SEGMENT))
          if (need > limit) {
            ooms += 1
            return { requestBytes: need - reserved, freeBytes: limit - reserved, stats: stats(), reserved, allocated }
          }
          reserved = need
        }
      }
      allocated = Math.floor(wanted)
      settle()
      return undefined
    },
    stats,
    peaks: () => ({ allocated_bytes: peakAllocated, reserved_bytes: peakReserved }),
  }
}
