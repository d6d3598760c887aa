// The rate of a counter between two looks at it.

/** `next` gives counts per second since the previous look; undefined at the first one and where the counter went back (a wrap, a reset). */
export function createRate(): { readonly next: (count: number, nowMs: number) => number | undefined; readonly forget: () => void } {
  let before: { readonly count: number; readonly nowMs: number } | undefined
  return {
    next(count, nowMs) {
      const last = before
      before = { count, nowMs }
      return last === undefined || count < last.count || nowMs <= last.nowMs ? undefined : ((count - last.count) * 1000) / (nowMs - last.nowMs)
    },
    forget: () => (before = undefined),
  }
}
