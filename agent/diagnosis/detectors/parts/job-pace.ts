// The pace of one job against its own past: what a step took, with pauses for evaluations and checkpoints left out because they are single samples.
export type JobPace = {
  /** A step that the job has reached, and when. */
  readonly see: (step: number, atMs: number) => void
  /** Undefined while the past is too short, or the newest times do not agree. */
  readonly judge: (factor: number) => { readonly slow: boolean; readonly was: number; readonly is: number; readonly fromStep: number } | undefined
  /** While it is slow the past stays as it was. */
  readonly freeze: (frozen: boolean) => void
}

type Sample = { readonly step: number; readonly seconds: number }

/** A sample spans at least so long, so that the clock of a log in whole seconds does not matter. */
const SPAN_MS = 3_000
const RECENT = 5
/** Of the newest, so many must agree. */
const AGREE = 4
/** The first samples are warm-up and compilation. */
const WARM_UP = 5
const LEAST = 15
const KEPT = 240

const quantile = (sorted: readonly number[], q: number): number => sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN

export function createJobPace(): JobPace {
  let last: { readonly step: number; readonly at: number } | undefined
  let recent: Sample[] = []
  let past: number[] = []
  let seen = 0
  let every = 1
  let skipped = 0
  let isFrozen = false

  const keep = (seconds: number): void => {
    seen += 1
    if (seen <= WARM_UP || isFrozen) return
    if (++skipped < every) return
    skipped = 0
    past.push(seconds)
    if (past.length < KEPT) return
    past = past.filter((_, at) => at % 2 === 0)
    every *= 2
  }
  return {
    see(step, atMs) {
      if (last === undefined || step < last.step || atMs < last.at) {
        // A new epoch, or the job began again.
        last = { step, at: atMs }
        return
      }
      if (step === last.step || atMs - last.at < SPAN_MS) return
      recent.push({ step: last.step, seconds: (atMs - last.at) / 1_000 / (step - last.step) })
      last = { step, at: atMs }
      const oldest = recent.length > RECENT ? recent.shift() : undefined
      if (oldest !== undefined) keep(oldest.seconds)
    },
    judge(factor) {
      if (past.length < LEAST || recent.length < RECENT) return undefined
      const before = past.toSorted((a, b) => a - b)
      const [was, high] = [quantile(before, 0.5), quantile(before, 0.9)]
      const is = quantile(
        recent.map(({ seconds }) => seconds).toSorted((a, b) => a - b),
        0.5,
      )
      const limit = Math.max(factor * was, high * 1.02)
      const over = recent.filter(({ seconds }) => seconds > limit).length
      const fromStep = recent.find(({ seconds }) => seconds > limit)?.step ?? 0
      if (over >= AGREE) return { slow: true, was, is, fromStep }
      const middle = was * (1 + (factor - 1) / 2)
      return recent.filter(({ seconds }) => seconds < Math.max(middle, high)).length >= AGREE ? { slow: false, was, is, fromStep } : undefined
    },
    freeze(frozen) {
      isFrozen = frozen
    },
  }
}
