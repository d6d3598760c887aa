// Pure readers of cgroup files, v1 and v2. What a text does not say is undefined, whatever garbage comes.

/** A limit that is none: v2 writes `max`; v1 the highest multiple of the page size (9223372036854771712 with 4 KiB); other tools all ones or -1. */
const UNLIMITED_FROM = 2 ** 62

/** One number alone, such as memory.current. */
export function parseNumber(text: string): number | undefined {
  const trimmed = text.trim()
  return /^\d{1,20}$/.test(trimmed) ? Number(trimmed) : undefined
}

export function parseLimit(text: string): number | 'unlimited' | undefined {
  const trimmed = text.trim()
  if (trimmed === 'max' || trimmed === '-1') return 'unlimited'
  const value = parseNumber(trimmed)
  return value !== undefined && value >= UNLIMITED_FROM ? 'unlimited' : value
}

/** v2's cpu.max, microseconds: `400000 100000` are four cores, `max 100000` is no limit. */
export function parseCpuMax(text: string): number | 'unlimited' | undefined {
  const match = /^(max|\d{1,15}) (\d{1,15})$/.exec(text.trim())
  if (match?.[1] === 'max') return 'unlimited'
  const period = Number(match?.[2])
  return match === null || period <= 0 ? undefined : Number(match[1]) / period
}
/** v1's cpu.cfs_quota_us, microseconds; -1 is no limit. */
export function parseQuota(text: string): number | 'unlimited' | undefined {
  return text.trim().startsWith('-') ? 'unlimited' : parseNumber(text)
}

/** The value of a line `key value`, as in memory.stat, cpu.stat, memory.events and v1 memory.oom_control. */
export function parseKeyed(text: string, key: string): number | undefined {
  const needle = `${key} `
  let at = text.startsWith(needle) ? 0 : text.indexOf(`\n${needle}`)
  if (at < 0) return undefined
  if (at > 0 || !text.startsWith(needle)) at++
  const end = text.indexOf('\n', at)
  return parseNumber(text.slice(at + needle.length, end < 0 ? undefined : end))
}

export type Pressure = { readonly someSeconds?: number; readonly fullSeconds?: number }

/** `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, microseconds; the `full` line of cpu exists since Linux 5.13. */
export function parsePressure(text: string): Pressure {
  const total = (kind: string): number | undefined => {
    const digits = new RegExp(`^${kind} .*\\btotal=(\\d{1,20})$`, 'm').exec(text)?.[1]
    return digits === undefined ? undefined : Number(digits) / 1e6
  }
  const [some, full] = [total('some'), total('full')]
  return { ...(some === undefined ? {} : { someSeconds: some }), ...(full === undefined ? {} : { fullSeconds: full }) }
}

/** As `docker stats` (docker/cli, calculateMemUsageUnixNoCache): the part of the page cache that is given back first does not count, unless the figures disagree. */
export function workingSet(usageBytes: number, inactiveFileBytes: number): number {
  return inactiveFileBytes < usageBytes ? usageBytes - inactiveFileBytes : usageBytes
}
