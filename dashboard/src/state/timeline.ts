// The last minutes as one value per second and key, on the server's clock: live frames fill it from the right, history fills its holes.

/** 15 minutes, the span of the cards' charts. */
export const WINDOW_S = 900

export type Timeline = {
  /** The newest second of the window; 0 before anything came. */
  readonly end: () => number
  /** Moves the window on so that it ends at this second; never back. */
  readonly advance: (second: number) => void
  readonly put: (key: string, second: number, value: number) => void
  /** Adds to what stands at the second: for a key that several series share. */
  readonly add: (key: string, second: number, value: number) => void
  /** Writes `value` to the holes of [from, to); what live frames brought stays. */
  readonly fill: (key: string, from: number, to: number, value: number) => void
  /** The values of the window, oldest first, NaN where nothing is known; undefined for an unknown key. The array is reused: read it at once. */
  readonly values: (key: string) => Float64Array | undefined
  readonly at: (key: string, second: number) => number | undefined
  /** The newest second that has a value. */
  readonly newest: (key: string) => number | undefined
  readonly keys: (prefix: string) => readonly string[]
}

export function createTimeline(size = WINDOW_S + 1): Timeline {
  const lanes = new Map<string, Float64Array>()
  let end = 0
  const index = (second: number): number => second - end + size - 1
  const lane = (key: string): Float64Array => {
    let found = lanes.get(key)
    if (found === undefined) lanes.set(key, (found = new Float64Array(size).fill(NaN)))
    return found
  }
  const advance = (second: number): void => {
    if (second <= end) return
    const shift = Math.min(size, second - end)
    end = second
    for (const [key, values] of lanes) {
      values.copyWithin(0, shift)
      values.fill(NaN, size - shift)
      // A container that left 15 minutes ago leaves the memory of the page as well.
      if (shift === size || values.every(Number.isNaN)) lanes.delete(key)
    }
  }
  const write = (key: string, second: number, value: number, sum: boolean): void => {
    advance(second)
    const at = index(second)
    if (at < 0) return
    const values = lane(key)
    const known = values[at] ?? NaN
    values[at] = sum && !Number.isNaN(known) ? known + value : value
  }
  return {
    end: () => end,
    advance,
    put: (key, second, value) => write(key, second, value, false),
    add: (key, second, value) => write(key, second, value, true),
    fill(key, from, to, value) {
      const first = Math.max(0, index(from))
      const last = Math.min(size, index(to))
      if (first >= last) return
      const values = lane(key)
      for (let i = first; i < last; i++) if (Number.isNaN(values[i])) values[i] = value
    },
    values: (key) => lanes.get(key),
    at(key, second) {
      const value = lanes.get(key)?.[index(second)]
      return value === undefined || Number.isNaN(value) ? undefined : value
    },
    newest(key) {
      const values = lanes.get(key)
      if (values === undefined) return undefined
      for (let i = size - 1; i >= 0; i--) if (!Number.isNaN(values[i])) return end - (size - 1 - i)
      return undefined
    },
    keys: (prefix) => [...lanes.keys()].filter((key) => key.startsWith(prefix)),
  }
}
