// How much history there is, on disk and in memory.
import type { Disk } from './disk.ts'
import type { SealedBlock } from './seal.ts'
import type { HistoryStats } from './types.ts'
import type { Windows } from './window.ts'

type Measured = Pick<HistoryStats, 'droppedBlocks' | 'droppedReadings' | 'degraded'> & {
  readonly disk: Disk | undefined
  readonly waiting: readonly SealedBlock[]
  readonly windows: Windows
}

export function measure({ disk, waiting, windows, ...counts }: Measured): HistoryStats {
  const pages = disk?.pages()
  const bytes = pages === undefined ? 0 : pages.all * pages.bytes
  const stored = disk?.samples() ?? 0
  let samples = stored
  for (const block of waiting) for (const segment of block.segments) samples += segment.samples
  for (const column of windows.columns()) samples += column.filled
  const starts = [disk?.oldestRaw(), ...waiting.map((block) => block.start), ...windows.groups().map((group) => (group.start < 0 ? undefined : group.start))]
  const oldest = starts.reduce<number>((least, start) => (start === undefined ? least : Math.min(least, start)), Number.POSITIVE_INFINITY)
  return {
    ...counts,
    bytes,
    samples,
    bytesPerSample: stored > 0 ? bytes / stored : undefined,
    oldest: Number.isFinite(oldest) ? oldest * 1000 : undefined,
    series: windows.size(),
    waitingBlocks: waiting.length,
  }
}
