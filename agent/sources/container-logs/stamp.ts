// Times as engines write them before each line: RFC 3339 with up to nine digits of a second.

/** Unix ms; undefined when it is no such time. */
export function stampMs(stamp: string): number | undefined {
  const ms = Date.parse(stamp)
  return Number.isFinite(ms) ? ms : undefined
}

/** Unix seconds with nine decimals, as the API's `since` takes them. */
export function stampSince(stamp: string): string | undefined {
  const ms = stampMs(stamp)
  if (ms === undefined) return undefined
  const fraction = /\.(\d{1,9})/.exec(stamp)?.[1] ?? ''
  return `${Math.floor(ms / 1000)}.${fraction.padEnd(9, '0')}`
}

/** Negative when `a` is earlier. */
export function compareStamps(a: string, b: string): number {
  // Docker writes them all in one length and zone: text order is time order.
  if (a.length === b.length && a.at(-1) === 'Z' && b.at(-1) === 'Z') return a < b ? -1 : a > b ? 1 : 0
  const byMs = (stampMs(a) ?? 0) - (stampMs(b) ?? 0)
  if (byMs !== 0) return byMs
  const nanos = (stamp: string): number => Number((/\.(\d{1,9})/.exec(stamp)?.[1] ?? '').padEnd(9, '0'))
  return nanos(a) - nanos(b)
}
