// What the log sources say of their own work: lines, bytes, what was left out and why, how far behind.
import { agentLogBytesTotal, agentLogLagSeconds, agentLogLinesTotal, agentLogSkippedTotal } from '../../metrics/agent-sources.ts'
import type { Reading } from '../../model/reading.ts'
import { type MetricDef } from '../../model/metric.ts'
import { makeSeries, type Series } from '../../model/series.ts'

export const logMetrics: readonly MetricDef[] = [agentLogLinesTotal, agentLogBytesTotal, agentLogSkippedTotal, agentLogLagSeconds]

export type StreamName = 'container' | 'kernel' | 'file' | 'journal'
/** Why lines were left out. `cut`: longer than is kept, judged in pieces. */
export const SKIP_REASONS = ['cut', 'rate_limited', 'overwritten', 'malformed', 'truncated', 'gone'] as const
export type SkipReason = (typeof SKIP_REASONS)[number]

export type LogCounters = {
  readonly read: (lines: number, bytes: number) => void
  readonly skip: (reason: SkipReason, lines?: number) => void
  readonly behind: (ms: number) => void
  /** The totals so far; the lag since it was asked for last. */
  readonly readings: () => Reading[]
  readonly lines: () => number
  readonly skipped: (reason: SkipReason) => number
}

export function createLogCounters(stream: StreamName): LogCounters {
  const skipped = new Map<SkipReason, { count: number; readonly series: Series }>()
  for (const reason of SKIP_REASONS) skipped.set(reason, { count: 0, series: makeSeries(agentLogSkippedTotal, { stream, reason }) })
  const series = {
    lines: makeSeries(agentLogLinesTotal, { stream }),
    bytes: makeSeries(agentLogBytesTotal, { stream }),
    lag: makeSeries(agentLogLagSeconds, { stream }),
  }
  let lines = 0
  let bytes = 0
  let lagMs: number | undefined
  return {
    read(moreLines, moreBytes) {
      lines += moreLines
      bytes += moreBytes
    },
    skip(reason, count = 1) {
      const entry = skipped.get(reason)
      if (entry !== undefined) entry.count += count
    },
    behind(ms) {
      // A writer whose clock runs ahead of ours is not behind.
      lagMs = Math.max(lagMs ?? 0, ms)
    },
    readings() {
      const out: Reading[] = [
        { series: series.lines, value: lines },
        { series: series.bytes, value: bytes },
      ]
      for (const entry of skipped.values()) out.push({ series: entry.series, value: entry.count })
      if (lagMs !== undefined) out.push({ series: series.lag, value: lagMs / 1000 })
      lagMs = undefined
      return out
    },
    lines: () => lines,
    skipped: (reason) => skipped.get(reason)?.count ?? 0,
  }
}
