// Which GPUs are sampled last or not at all because they hung, and when a left-out one is tried again. Pure: the caller brings the time (ms, any clock).

export type HangPolicyOptions = {
  /** Two hangs within this time, and the GPU is left out. */
  readonly windowMs: number
  /** Waits before the first, second, … try of a left-out GPU; the last one repeats. */
  readonly probeDelaysMs: readonly number[]
}

export type HangPolicy = {
  /** Notes a hang; says where the GPU stands now. */
  readonly hang: (gpu: number, now: number) => 'last' | 'leftOut'
  readonly last: (now: number) => readonly number[]
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

type Standing = { hangs: number[]; leftOut: boolean; probes: number; probeAt: number }

export function createHangPolicy({ windowMs, probeDelaysMs }: HangPolicyOptions): HangPolicy {
  const standings = new Map<number, Standing>()
  const delayAfter = (probes: number): number => probeDelaysMs[Math.min(probes, probeDelaysMs.length - 1)] ?? 0
  return {
    hang(gpu, now) {
      const standing = standings.get(gpu) ?? { hangs: [], leftOut: false, probes: 0, probeAt: 0 }
      standings.set(gpu, standing)
      standing.hangs = standing.hangs.filter((at) => now - at <= windowMs)
      // A GPU that came back and stayed for the whole window starts with the short wait again; one that flaps waits longer from time to time.
      if (standing.hangs.length === 0) standing.probes = 0
      standing.hangs.push(now)
      if (standing.hangs.length < 2) return 'last'
      standing.leftOut = true
      standing.probeAt = now + delayAfter(standing.probes)
      return 'leftOut'
    },
    last(now) {
      return [...standings].filter(([, s]) => !s.leftOut && s.hangs.some((at) => now - at <= windowMs)).map(([gpu]) => gpu)
    },
    leftOut: () => [...standings].filter(([, s]) => s.leftOut).map(([gpu]) => gpu),
    nextProbe() {
      let next: { gpu: number; at: number } | undefined
      for (const [gpu, s] of standings) if (s.leftOut && (next === undefined || s.probeAt < next.at)) next = { gpu, at: s.probeAt }
      return next
    },
    probeFailed(gpu, now) {
      const standing = standings.get(gpu)
      if (standing === undefined) return 0
      standing.probes++
      const delay = delayAfter(standing.probes)
      standing.probeAt = now + delay
      return delay
    },
    probeSoon(now) {
      for (const standing of standings.values()) if (standing.leftOut) standing.probeAt = Math.min(standing.probeAt, now)
    },
    recovered(gpu) {
      const standing = standings.get(gpu)
      if (standing === undefined) return
      standing.leftOut = false
      standing.probes++
    },
    forget: (gpu) => void standings.delete(gpu),
  }
}
