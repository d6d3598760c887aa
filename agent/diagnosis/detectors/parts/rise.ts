// By how much a counter rose within the last minutes. What it held when it was first seen is history; one that fell started over.

export type Rise = {
  /** Within the window up to `t`; undefined while the counter cannot be read. A rise is reported at once; the window need not be full. */
  readonly see: (t: number, value: number | undefined) => number | undefined
  readonly everSeen: () => boolean
  /** When it rose last; undefined before the first time. */
  readonly lastRiseT: () => number | undefined
  /** As if nothing had risen yet. */
  readonly forget: () => void
}

/** Rises are kept by the slot in which they were seen: a slowly rising counter costs no more than one that does not move. */
const SLOTS = 12

export function createRise(windowMs: number): Rise {
  const slotMs = windowMs / SLOTS
  const risen = new Float64Array(SLOTS)
  const slotOf = new Float64Array(SLOTS).fill(-1)
  let last: number | undefined
  let lastRiseT: number | undefined
  return {
    see(t, value) {
      if (value === undefined) return undefined
      const rise = last === undefined ? 0 : value < last ? value : value - last
      last = value
      const slot = Math.floor(t / slotMs)
      if (rise > 0) {
        const at = slot % SLOTS
        risen[at] = rise + (slotOf[at] === slot ? (risen[at] ?? 0) : 0)
        slotOf[at] = slot
        lastRiseT = t
      }
      if (lastRiseT === undefined) return 0
      let sum = 0
      for (let at = 0; at < SLOTS; at++) if (slot - (slotOf[at] ?? -1) < SLOTS && (slotOf[at] ?? -1) <= slot && slotOf[at] !== -1) sum += risen[at] ?? 0
      return sum
    },
    everSeen: () => last !== undefined,
    lastRiseT: () => lastRiseT,
    forget() {
      slotOf.fill(-1)
      lastRiseT = undefined
    },
  }
}
