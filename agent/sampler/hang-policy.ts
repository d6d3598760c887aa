// Which GPUs are left out because they hung, and when each is tried again. Pure: the caller brings the time (ms, any clock).

export type HangPolicyOptions = {
  /** The first hang within this time is tried again at once, the next ones later and later. */
  readonly windowMs: number
  /** Waits before the second, third, … try of a left-out GPU; the last one repeats. */
  readonly probeDelaysMs: readonly number[]
}

export type HangPolicy = {
  /** Notes a hang: the GPU is left out. Answers after how long it is tried. */
  readonly hang: (gpu: number, now: number) => number
  readonly leftOut: () => readonly number[]
  /** The left-out GPU that is to be tried first, and when. */
  readonly nextProbe: () => { readonly gpu: number; readonly at: number } | undefined
  /** A try failed at `now`; answers after how long the next one comes. */
  readonly probeFailed: (gpu: number, now: number) => number
  /** Something changed for the better: try all left-out ones now. */
  readonly probeSoon: (now: number) => void
  /** A whole scrape succeeded: back among the others, though its hangs are still remembered for the window. */
  readonly recovered: (gpu: number) => void
  readonly forget: (gpu: number) => void
}

type Standing = { hungAt: number; leftOut: boolean; waits: number; probeAt: number }

export function createHangPolicy({ windowMs, probeDelaysMs }: HangPolicyOptions): HangPolicy {
  const standings = new Map<number, Standing>()
  const wait = (standing: Standing, now: number): number => {
    const delay = probeDelaysMs[Math.min(standing.waits++, probeDelaysMs.length - 1)] ?? 0
    standing.probeAt = now + delay
    return delay
  }
  return {
    hang(gpu, now) {
      const known = standings.get(gpu)
      if (known !== undefined && now - known.hungAt <= windowMs) {
        // One that returns and hangs again waits longer from time to time.
        known.hungAt = now
        known.leftOut = true
        return wait(known, now)
      }
      standings.set(gpu, { hungAt: now, leftOut: true, waits: 0, probeAt: now })
      return 0
    },
    leftOut: () => [...standings].filter(([, s]) => s.leftOut).map(([gpu]) => gpu),
    nextProbe() {
      let next: { gpu: number; at: number } | undefined
      for (const [gpu, s] of standings) if (s.leftOut && (next === undefined || s.probeAt < next.at)) next = { gpu, at: s.probeAt }
      return next
    },
    probeFailed(gpu, now) {
      const standing = standings.get(gpu)
      return standing === undefined ? 0 : wait(standing, now)
    },
    probeSoon(now) {
      for (const standing of standings.values()) if (standing.leftOut) standing.probeAt = Math.min(standing.probeAt, now)
    },
    recovered(gpu) {
      const standing = standings.get(gpu)
      if (standing !== undefined) standing.leftOut = false
    },
    forget: (gpu) => void standings.delete(gpu),
  }
}
