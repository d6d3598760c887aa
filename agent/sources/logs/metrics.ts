// What the log sources say of their own work: lines, bytes, what was left out and why, how far behind.
import type { Reading } from '../../model/reading.ts'
import { defineMetric, type MetricDef } from '../../model/metric.ts'
import { makeSeries, type Series } from '../../model/series.ts'

const linesTotal = defineMetric({
  name: 'warpwatch_agent_log_lines_total',
  kind: 'counter',
  unit: '{line}',
  help: 'Lines of logs that were read.',
  labels: ['stream'],
})
const bytesTotal = defineMetric({
  name: 'warpwatch_agent_log_bytes_total',
  kind: 'counter',
  unit: 'By',
  help: 'Bytes of logs that were read.',
  labels: ['stream'],
})
const skippedTotal = defineMetric({
  name: 'warpwatch_agent_log_skipped_total',
  kind: 'counter',
  unit: '{line}',
  help: 'Lines of logs that could not be judged, or were cut: too long, too many at once, overwritten before they were read, of an unknown form.',
  labels: ['stream', 'reason'],
})
const lagSeconds = defineMetric({
  name: 'warpwatch_agent_log_lag_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Age of the newest lines when they were read, the worst of all logs of the stream; absent while nothing is written.',
  labels: ['stream'],
})

export const logMetrics: readonly MetricDef[] = [linesTotal, bytesTotal, skippedTotal, lagSeconds]

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
  for (const reason of SKIP_REASONS) skipped.set(reason, { count: 0, series: makeSeries(skippedTotal, { stream, reason }) })
  const series = { lines: makeSeries(linesTotal, { stream }), bytes: makeSeries(bytesTotal, { stream }), lag: makeSeries(lagSeconds, { stream }) }
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
