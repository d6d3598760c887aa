// How a GPU's utilization ran over the last minutes, second by second: its mean, and how often it fell from work to next to nothing.

export type Run = {
  /** 0 to 1. */
  readonly mean: number
  /** Shares of the seconds: next to nothing, and at work. */
  readonly low: number
  readonly high: number
  readonly fallsPerMinute: number
}
export type SawTooth = {
  readonly note: (t: number, ratio: number | undefined) => void
  /** Undefined until four fifths of the window are known. */
  readonly run: (t: number) => Run | undefined
}

/** Next to nothing, and at work: percent. */
const LOW = 5
const HIGH = 50
const NONE = 255
const COVERED = 0.8

export function createSawTooth(windowSeconds: number): SawTooth {
  const seconds = new Uint8Array(windowSeconds).fill(NONE)
  let last = -1
  return {
    note(t, ratio) {
      const second = Math.floor(t / 1_000)
      // After a pause, or a jump of the clock, what was not seen is not known.
      if (second < last || second - last > windowSeconds) seconds.fill(NONE)
      else for (let missed = last + 1; missed < second; missed++) seconds[missed % windowSeconds] = NONE
      last = second
      seconds[second % windowSeconds] = ratio === undefined ? NONE : Math.min(100, Math.round(ratio * 100))
    },
    run(t) {
      if (Math.floor(t / 1_000) - last > windowSeconds / 10) return undefined
      let [known, sum, low, high, falls] = [0, 0, 0, 0, 0]
      let working = false
      for (let at = 1; at <= windowSeconds; at++) {
        const value = seconds[(last + at) % windowSeconds] ?? NONE
        if (value === NONE) continue
        known++
        sum += value
        if (value <= LOW) {
          low++
          if (working) falls++
          working = false
        } else if (value >= HIGH) {
          high++
          working = true
        }
      }
      if (known < COVERED * windowSeconds) return undefined
      return { mean: sum / known / 100, low: low / known, high: high / known, fallsPerMinute: (falls * 60) / known }
    },
  }
}
