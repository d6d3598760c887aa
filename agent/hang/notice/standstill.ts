// When a job that has stopped is to be looked at, and whether what was found is an alarm: learnt from the pauses that the job has made itself.
// Pure: times come with the calls, Unix ms.

export type Found = {
  readonly verdict: 'hang' | 'straggler' | 'slow_phase' | 'healthy' | 'resumed' | 'unknown'
  readonly confidence: 'read' | 'computed' | 'likely'
  /** Where those stand that hold it up. */
  readonly place: string
}
export type Standstill = {
  /** When the job last said something of its progress, as often as that is known. */
  readonly progressed: (at: number) => void
  /** How long it has been silent when its processes should be looked at; undefined: not now. */
  readonly due: (t: number) => number | undefined
  /** What the look came to that began at `begunAt`; whether the job hangs. */
  readonly looked: (t: number, found: Found, begunAt?: number) => boolean
  /** A look failed, or is under way. */
  readonly later: (t: number) => void
  readonly hangs: () => boolean
  /** How many pauses between two signs of progress are known. */
  readonly pauses: () => number
  /** Time between two signs of progress, ms, as nine of ten are; undefined while too few are known. */
  readonly usual: () => number | undefined
}

/** Pauses by which a job's own rhythm is known. */
const LEAST_GAPS = 3
const KEPT_GAPS = 128
/** A job is silent when it has said nothing for so many of its usual pauses. */
const GAPS = 3
/** Where a job has been before without hanging it may stand so many times as long. */
const AGAIN = 2
const MOST_PLACES = 64
/** Between looks at a silent job: soon again, then rarely. A job that hangs is looked at often enough to meet its dumps: PyTorch waits a minute after its time-out. */
const FIRST_AGAIN_MS = 5_000
const MOST_AGAIN_MS = 120_000
const HUNG_AGAIN_MS = 45_000

export function createStandstill(afterMs: number): Standstill {
  let last: number | undefined
  const gaps: number[] = []
  /** Where it was in a pause that ended by itself, and how long that was. */
  const harmless = new Map<string, number>()
  let looks: { at: number; place: string; verdict: Found['verdict'] }[] = []
  let nextLook = 0
  let hangs = false

  const usual = (): number | undefined =>
    gaps.length < LEAST_GAPS ? undefined : gaps.toSorted((a, b) => a - b)[Math.min(gaps.length - 1, Math.floor(0.9 * gaps.length))]
  const learn = (pause: number): void => {
    for (const { place } of looks) {
      harmless.set(place, Math.max(pause, harmless.get(place) ?? 0))
      if (harmless.size > MOST_PLACES) for (const oldest of harmless.keys()) if (harmless.delete(oldest)) break
    }
  }
  return {
    progressed(at) {
      if (last === at) return
      if (last !== undefined && at > last) {
        gaps.push(at - last)
        if (gaps.length > KEPT_GAPS) gaps.shift()
        learn(at - last)
      }
      last = at
      looks = []
      nextLook = 0
      hangs = false
    },
    due(t) {
      if (last === undefined || t < nextLook || t - last < afterMs) return undefined
      const each = usual()
      return each !== undefined && t - last >= GAPS * each ? t - last : undefined
    },
    looked(t, { verdict, confidence, place }, begunAt = t) {
      const before = looks.at(-1)
      looks.push({ at: t, place, verdict })
      if (looks.length > MOST_PLACES) looks.shift()
      const silent = t - (last ?? t)
      const known = harmless.get(place)
      const agrees = before?.verdict === verdict && before.place === place
      // What only seems so must be seen twice; and where the job has been before and gone on, it may stand again.
      const sure = confidence === 'read' || ((confidence === 'computed' || agrees) && (known === undefined || silent > AGAIN * known))
      hangs ||= verdict === 'hang' && sure
      nextLook = hangs ? t + HUNG_AGAIN_MS : begunAt + Math.min(MOST_AGAIN_MS, FIRST_AGAIN_MS * 2 ** (looks.length - 1))
      return hangs
    },
    later(t) {
      nextLook = t + FIRST_AGAIN_MS
    },
    hangs: () => hangs,
    pauses: () => gaps.length,
    usual,
  }
}
