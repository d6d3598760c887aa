// How much may be read: so many lines and bytes at once, and so many more each second.

export type Rate = { readonly lines: number; readonly linesPerSecond: number; readonly bytes: number; readonly bytesPerSecond: number }

/** Each line counts, and each arrival. A probe says one line a second, and at most eight of 64 KiB after a crash. */
export const PER_CONNECTION: Rate = { lines: 60, linesPerSecond: 30, bytes: 2 ** 20, bytesPerSecond: 128 * 1024 }
/** Of all together: 1,024 honest probes, or some hundredths of a core for a flood. */
export const IN_ALL: Rate = { lines: 4_000, linesPerSecond: 3_000, bytes: 8 * 2 ** 20, bytesPerSecond: 2 * 2 ** 20 }

export type Budget = {
  /** Takes a line of so many bytes off; false: nothing is left, come again. */
  readonly take: (bytes: number) => boolean
  readonly refill: (seconds: number) => void
}

export function createBudget(rate: Rate): Budget {
  let { lines, bytes } = rate
  return {
    take(size) {
      if (lines < 1 || bytes < size) return false
      lines -= 1
      bytes -= size
      return true
    },
    refill(seconds) {
      lines = Math.min(rate.lines, lines + rate.linesPerSecond * seconds)
      bytes = Math.min(rate.bytes, bytes + rate.bytesPerSecond * seconds)
    },
  }
}
