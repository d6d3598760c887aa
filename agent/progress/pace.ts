// How long steps took, over the whole run in bounded memory, and whether they became slower for good.

export type Slowdown = {
  /** The first step after the change. */
  readonly fromStep: number
  /** How much longer a step takes than before. */
  readonly factor: number
}
export type Pace = {
  /** `ofLine`: said by a line, no bar, whose rate is smoothed. `seconds`: for one step, or what is in proportion to it (one sample, one token). */
  readonly add: (step: number, seconds: number, ofLine?: boolean) => void
  readonly count: () => number
  /** The usual length of a step now, and the range of the middle half; undefined before the first. */
  readonly now: () => { readonly seconds: number; readonly low: number; readonly high: number } | undefined
  /** `total`: the last steps of a run are no trend, whatever they take. */
  readonly slowdown: (total?: number) => Slowdown | undefined
}

type Sample = { readonly step: number; readonly seconds: number; readonly ofLine: boolean }

const KEPT = 256
const RECENT = 24
/** A change is lasting when it holds for so many samples; one or two before it must show how it was. */
const AFTER = 5
const BEFORE = 2
const FACTOR = 1.4
/** Lines that stand for so many steps each: three of them are enough where they are clearly slower than all before. */
const WIDE = 10
const AFTER_WIDE = 3
const BEFORE_WIDE = 4
const FACTOR_WIDE = 1.8
/** Where the times differ more than so from one another, nothing can be said of their change. */
const SPREAD = 0.8
const LAST = 0.99

const sorted = (values: readonly number[]): readonly number[] => values.toSorted((a, b) => a - b)
const quantile = (values: readonly number[], q: number): number => values[Math.min(values.length - 1, Math.floor(q * values.length))] ?? Number.NaN
/** The mean of the middle third: a log is looked at now and then, so that single times are rounded, and a pause must not count. */
function middle(values: readonly number[]): number {
  const third = Math.floor(values.length / 3)
  const kept = values.slice(third, values.length - third)
  return kept.reduce((sum, value) => sum + value, 0) / kept.length
}
/** A change of pace is believed after so many times in a row, all of them beyond every one before. */
const CHANGED = 4
/** Only those of the pace it has now. */
function sinceChange(values: readonly number[]): readonly number[] {
  for (let at = CHANGED; at <= values.length - CHANGED; at++) {
    const [was, is] = [values.slice(0, at), values.slice(at)]
    if (Math.min(...is) > FACTOR * Math.max(...was) || FACTOR * Math.max(...is) < Math.min(...was)) return is
  }
  return values
}
export const median = (values: readonly number[]): number => quantile(sorted(values), 0.5)

export function createPace(): Pace {
  let samples: Sample[] = []
  let recent: number[] = []
  /** Each sample kept means so many; doubled whenever the memory is full. */
  let every = 1
  let group: Sample[] = []

  const keep = (sample: Sample): void => {
    samples.push(sample)
    if (samples.length < KEPT) return
    every *= 2
    samples = samples.flatMap((first, at) =>
      at % 2 === 0 ? [{ step: first.step, seconds: median([first.seconds, samples[at + 1]?.seconds ?? first.seconds]), ofLine: first.ofLine }] : [],
    )
  }
  return {
    add(step, seconds, ofLine = false) {
      if (!(seconds > 0) || !Number.isFinite(seconds)) return
      recent.push(seconds)
      if (recent.length > RECENT) recent = recent.slice(-RECENT)
      group.push({ step, seconds, ofLine })
      if (group.length < every) return
      const first = group[0]
      if (first !== undefined) keep({ step: first.step, seconds: median(group.map((each) => each.seconds)), ofLine: first.ofLine })
      group = []
    },
    count: () => samples.length,
    now() {
      const last = sorted(sinceChange(recent.slice(-12)))
      return last.length === 0 ? undefined : { seconds: middle(last), low: quantile(last, 0.25), high: quantile(last, 0.75) }
    },
    slowdown(total) {
      const found = changeOf(samples) ?? wideChange(samples)
      return found !== undefined && total !== undefined && found.fromStep > LAST * total ? undefined : found
    },
  }
}

/** How far the times are from their middle, as factors. */
const spreadOf = (values: readonly number[], middle: number): number => values.reduce((sum, value) => sum + Math.abs(Math.log(value / middle)), 0)

/** Where the samples part into two stretches, the later one slower and lasting to the end. */
function changeOf(samples: readonly Sample[]): Slowdown | undefined {
  let best: Slowdown | undefined
  let bestSpread = Infinity
  for (let at = BEFORE; at <= samples.length - AFTER; at++) {
    // What was long ago may have had another cause (a warm-up); the nearest past is what it is compared with.
    const before = samples.slice(Math.max(0, at - 64), at).map(({ seconds }) => seconds)
    const after = samples.slice(at).map(({ seconds }) => seconds)
    const [was, is] = [median(before), median(after)]
    const factor = is / was
    if (factor < FACTOR) continue
    const middle = Math.sqrt(was * is)
    const held = after.filter((seconds) => seconds > middle).length / after.length
    const stood = before.filter((seconds) => seconds < middle).length / before.length
    const lasts = after.slice(-AFTER).filter((seconds) => seconds > middle).length >= AFTER - 1
    const spread = (spreadOf(before, was) + spreadOf(after, is)) / (before.length + after.length)
    if (held < SPREAD || stood < SPREAD || !lasts || spread >= bestSpread) continue
    bestSpread = spread
    best = { fromStep: samples[at]?.step ?? 0, factor }
  }
  return best
}

/** Few lines of many steps each: the last ones all slower than any before. */
function wideChange(samples: readonly Sample[]): Slowdown | undefined {
  for (let at = Math.max(BEFORE_WIDE, samples.length - AFTER + 1); at <= samples.length - AFTER_WIDE; at++) {
    const [before, after] = [samples.slice(Math.max(0, at - 64), at), samples.slice(at)]
    if (!after.every(({ step, ofLine }, index) => ofLine && step - (samples[at + index - 1]?.step ?? step) >= WIDE)) continue
    const [was, is] = [before, after].map((part) => part.map(({ seconds }) => seconds))
    if (was === undefined || is === undefined || Math.min(...is) < FACTOR * Math.max(...was)) continue
    const factor = median(is) / median(was)
    if (factor >= FACTOR_WIDE) return { fromStep: samples[at]?.step ?? 0, factor }
  }
  return undefined
}
