// Since when each sum counts, as far as the receiver knows: the start times of cumulative points.
// How a counter that began before anybody looked is told: OpenTelemetry's metrics data model, "Cumulative streams: handling unknown start time".

export type Starts = {
  /** Start of the point of `key` at `t`: its first delivered time, or `t` when it is new or has begun anew. */
  readonly of: (key: string, value: number, t: number, monotonic: boolean) => number
  /** What `of` said since the last collection has arrived. Before that a first point must be told as a first point again. */
  readonly delivered: () => void
  /** Forgets what `of` said since the last delivery. */
  readonly begin: () => void
  readonly size: () => number
}

/** A GPU that hangs, or a container that restarts, goes on where it was; what is away for longer begins anew. */
const KEPT_MS = 3_600_000

type Entry = { readonly start: number; readonly value: number; readonly seen: number }

export function createStarts(): Starts {
  const known = new Map<string, Entry>()
  let told = new Map<string, Entry>()
  return {
    begin: () => void (told = new Map()),
    of(key, value, t, monotonic) {
      const before = known.get(key)
      // A value that fell has begun anew; so has everything when the clock was set back.
      const goesOn = before !== undefined && before.start <= t && !(monotonic && value < before.value)
      const start = goesOn ? before.start : t
      told.set(key, { start, value, seen: t })
      return start
    },
    delivered() {
      let newest = 0
      for (const [key, entry] of told) {
        known.set(key, entry)
        newest = entry.seen
      }
      for (const [key, { seen }] of known) if (newest - seen > KEPT_MS) known.delete(key)
      told = new Map()
    },
    size: () => known.size,
  }
}
