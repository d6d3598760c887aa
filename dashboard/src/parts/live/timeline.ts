// The last stretch of time as one value per cell and key, on the server's clock: live frames fill it from the right, history fills its holes.
// Cells are seconds, or for the longer ranges of many seconds: such a cell holds its seconds' mean, and their highest beside it.

/** 15 minutes, the span of the cards' charts. */
export const WINDOW_S = 900

export type Timeline = {
  /** Seconds of a cell. */
  readonly step: number
  /** The newest second of the window; 0 before anything came. */
  readonly end: () => number
  /** The last second of the cell at this place of `values`, or the newest one that has come. */
  readonly secondAt: (place: number) => number
  /** Moves the window on so that it ends at this second; never back. */
  readonly advance: (second: number) => void
  /** What came live. */
  readonly put: (key: string, second: number, value: number) => void
  /** History's word on [from, to): into seconds that have none, as what came live stays; over coarse cells, as history saw all of their seconds. */
  readonly fill: (key: string, from: number, to: number, value: number, peak?: number) => void
  /** The values of the window, oldest first, NaN where nothing is known; undefined for an unknown key. The array is reused: read it at once. */
  readonly values: (key: string) => Float64Array | undefined
  /** The highest of each coarse cell; undefined where cells are seconds. */
  readonly peaks: (key: string) => Float64Array | undefined
  readonly at: (key: string, second: number) => number | undefined
  /** The newest second that has a value. */
  readonly newest: (key: string) => number | undefined
  /** The oldest second that has a value. */
  readonly oldest: (key: string) => number | undefined
  readonly keys: (prefix: string) => readonly string[]
  /** Another number after a key came or went. */
  readonly generation: () => number
}

const PEAK = 'peak of '

export function createTimeline(size = WINDOW_S + 1, step = 1): Timeline {
  const lanes = new Map<string, Float64Array>()
  let end = 0
  let generation = 0
  const cellOf = (second: number): number => Math.floor(second / step)
  const index = (second: number): number => cellOf(second) - cellOf(end) + size - 1
  const secondAt = (place: number): number => Math.min(end, (cellOf(end) - (size - 1 - place) + 1) * step - 1)
  const lane = (key: string): Float64Array => {
    let found = lanes.get(key)
    if (found === undefined) {
      lanes.set(key, (found = new Float64Array(size).fill(NaN)))
      generation++
    }
    return found
  }
  const advance = (second: number): void => {
    if (second <= end) return
    const shift = Math.min(size, cellOf(second) - cellOf(end))
    end = second
    if (shift === 0) return
    for (const [key, values] of lanes) {
      values.copyWithin(0, shift)
      values.fill(NaN, size - shift)
      // A container that left the window leaves the memory of the page as well.
      if (shift === size || values.every(Number.isNaN)) {
        lanes.delete(key)
        generation++
      }
    }
  }
  return {
    step,
    end: () => end,
    secondAt,
    advance,
    put(key, second, value) {
      advance(second)
      const at = index(second)
      if (at < 0) return
      const values = lane(key)
      if (step === 1) {
        values[at] = value
        return
      }
      const [mean = NaN, peaks] = [values[at], lane(PEAK + key)]
      // Of a cell's seconds this is the so-manieth: frames come once a second.
      values[at] = Number.isNaN(mean) ? value : mean + (value - mean) / ((second % step) + 1)
      if (!((peaks[at] ?? NaN) >= value)) peaks[at] = value
    },
    fill(key, from, to, value, peak = value) {
      const first = Math.max(0, index(from))
      const last = Math.min(size, index(to + step - 1))
      if (first >= last) return
      const values = lane(key)
      if (step === 1) {
        for (let i = first; i < last; i++) if (Number.isNaN(values[i])) values[i] = value
        return
      }
      values.fill(value, first, last)
      lane(PEAK + key).fill(peak, first, last)
    },
    values: (key) => lanes.get(key),
    peaks: (key) => lanes.get(PEAK + key),
    at(key, second) {
      const value = lanes.get(key)?.[index(second)]
      return value === undefined || Number.isNaN(value) ? undefined : value
    },
    newest(key) {
      const values = lanes.get(key)
      if (values === undefined) return undefined
      for (let i = size - 1; i >= 0; i--) if (!Number.isNaN(values[i])) return secondAt(i)
      return undefined
    },
    oldest(key) {
      const place = lanes.get(key)?.findIndex((value) => !Number.isNaN(value)) ?? -1
      return place < 0 ? undefined : secondAt(place)
    },
    generation: () => generation,
    keys: (prefix) => [...lanes.keys()].filter((key) => key.startsWith(prefix)),
  }
}
