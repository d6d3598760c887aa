// Since when each sum counts, as far as the receiver knows: the start times of cumulative points.
// How a counter that began before the first look is reported: OpenTelemetry's metrics data model, "Cumulative streams: handling unknown start time".

export type Starts = {
  /** Start of the point of `key`: its first delivered time, or now when it is new or has started over. */
  readonly of: (key: string, value: number, monotonic: boolean) => number
  /** The points of the last collection have arrived. Until then a first point must be sent as a first point again. */
  readonly delivered: () => void
  /** A collection at `t` begins; what `of` returned since the last delivery is forgotten. */
  readonly begin: (t: number) => void
}

/** A GPU that hangs, or a container that restarts, goes on where it was; what is away for longer starts over. */
const KEPT_MS = 3_600_000

type Entry = { readonly start: number; readonly value: number; readonly seen: number }

export function createStarts(): Starts {
  const known = new Map<string, Entry>()
  let undelivered = new Map<string, Entry>()
  let now = 0
  return {
    begin(t) {
      now = t
      undelivered = new Map()
    },
    of(key, value, monotonic) {
      const before = known.get(key)
      // A value that fell has started over; so has everything when the clock was set back.
      const goesOn = before !== undefined && before.start <= now && !(monotonic && value < before.value)
      const start = goesOn ? before.start : now
      undelivered.set(key, { start, value, seen: now })
      return start
    },
    delivered() {
      for (const [key, entry] of undelivered) known.set(key, entry)
      for (const [key, { seen }] of known) if (now - seen > KEPT_MS) known.delete(key)
      undelivered = new Map()
    },
  }
}
