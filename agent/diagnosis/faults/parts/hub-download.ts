// What the hub client says of the room for a download, and whether the file came all the same.

const DECIMAL_MB = 1_000_000
export function hubFree(message: string): number | undefined {
  const free = /only has (\d{1,12}(?:\.\d{1,4})?) MB free/.exec(message)?.[1]
  return free === undefined ? undefined : Math.round(Number(free) * DECIMAL_MB)
}
const neededIn = (message: string): string | undefined => /expected file size is: ([\d.]{1,12}) MB/.exec(message)?.[1]
/** What it says of the file and of the disk. */
export function hubSizes(message: string): string | undefined {
  const needed = neededIn(message)
  const free = /only has ([\d.]{1,12}) MB free/.exec(message)?.[1]
  const where = /target location (\/\S{1,300})/.exec(message)?.[1]
  return needed === undefined || free === undefined ? undefined : `A download needs ${needed} MB, and ${where ?? 'its target'} has only ${free} MB free.`
}

const UNITS: Readonly<Record<string, number>> = { '': 1 / DECIMAL_MB, k: 1 / 1000, M: 1, G: 1000, T: DECIMAL_MB }
/** Megabytes of what a finished bar has fetched; a bar that counts something else says that all is there. */
function arrived(line: string): number {
  if (!line.includes('100%|')) return 0
  const [, figure, unit = ''] = /\| ?[\d.]{1,8}[kMGT]?\/([\d.]{1,8})([kMGT]?) \[[^\]]{3,60}[kMG]?B\/s/.exec(line) ?? []
  return figure === undefined ? Number.POSITIVE_INFINITY : Number(figure) * (UNITS[unit] ?? 1)
}
/** tqdm rounds its figures. */
const HALF = 0.5
/** A file of that size came to its end in the lines below, or one that is larger than what is said to be free. */
export const arrivedAll = (message: string, below: readonly string[]): boolean =>
  below.some((line) => arrived(line) > Math.min(HALF * Number(neededIn(message) ?? 0), (hubFree(message) ?? Number.POSITIVE_INFINITY) / DECIMAL_MB))
