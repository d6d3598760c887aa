// Lowest and highest of a few figures in each minute: what a detector remembers of one subject.

export type Minute<Name extends string> = {
  /** Unix ms divided by 60,000. */
  readonly minute: number
  readonly samples: number
  readonly low: Readonly<Record<Name, number>>
  readonly high: Readonly<Record<Name, number>>
}
export type Minutes<Name extends string> = {
  readonly add: (t: number, figures: Readonly<Record<Name, number>>) => void
  /** Minutes that are over at `t` and began at most `count` minutes before the present one, oldest first; those without a sample are missing. */
  readonly over: (t: number, count: number) => readonly Minute<Name>[]
}

export const MINUTE_MS = 60_000

type Kept<Name extends string> = { minute: number; samples: number; low: Record<Name, number>; high: Record<Name, number> }

export function createMinutes<Name extends string>(names: readonly Name[], keep: number): Minutes<Name> {
  let kept: Kept<Name>[] = []
  return {
    add(t, figures) {
      const minute = Math.floor(t / MINUTE_MS)
      const last = kept.at(-1)
      // The clock was set back: what was remembered belongs to another time.
      if (last !== undefined && minute < last.minute) kept = []
      if (last === undefined || minute !== last.minute) {
        kept.push({ minute, samples: 1, low: { ...figures }, high: { ...figures } })
        if (kept.length > keep + 1) kept.shift()
        return
      }
      last.samples += 1
      for (const name of names) {
        const value = figures[name]
        if (value < last.low[name]) last.low[name] = value
        if (value > last.high[name]) last.high[name] = value
      }
    },
    over(t, count) {
      const now = Math.floor(t / MINUTE_MS)
      return kept.filter(({ minute }) => minute < now && minute >= now - count)
    },
  }
}

export const lowest = <Name extends string>(minutes: readonly Minute<Name>[], name: Name): number =>
  minutes.reduce((least, { low }) => Math.min(least, low[name]), Number.POSITIVE_INFINITY)
export const highest = <Name extends string>(minutes: readonly Minute<Name>[], name: Name): number =>
  minutes.reduce((most, { high }) => Math.max(most, high[name]), Number.NEGATIVE_INFINITY)
