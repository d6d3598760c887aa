// The agent about itself: what each source did, what was dropped, what it all costs. Every five seconds, from /proc and its own books.
import { readdirSync } from 'node:fs'
import { keepOpen } from '../attribution/small-file.ts'
import type { Signal } from '../lib/signal.ts'
import { COMMIT, NODE_VERSION, VERSION } from '../lib/version.ts'
import { agentGapsTotal, agentSourceDurationSeconds, agentSourceUp } from '../metrics/agent-sources.ts'
import {
  agentCpuModeSecondsTotal,
  agentEventLoopUtilizationRatio,
  agentEventsTotal,
  buildInfo,
  processCpuSecondsTotal,
  processOpenFds,
  processResidentMemoryBytes,
  processStartTimeSeconds,
} from '../metrics/agent.ts'
import { pageSize } from '../lib/page-size.ts'
import type { MetricDef } from '../model/metric.ts'
import type { Reading } from '../model/reading.ts'
import type { ReloadState } from '../model/reload.ts'
import { makeSeries, type Labels, type Series } from '../model/series.ts'
import type { Source } from '../model/source.ts'
import type { SourceStatistics } from '../store/source-statistics.ts'
import { reloadFigures, selfMetrics } from './agent-self/figures.ts'
import type { SelfFigure } from './agent-self/figures.ts'
import { defineSource } from './definition.ts'

export type AgentSelfOptions = {
  readonly statistics: SourceStatistics
  readonly reports: readonly (() => readonly SelfFigure[])[]
  /** Sources that say only that they are switched off: that is not down. */
  readonly off?: readonly string[]
  /** Result of the last configuration reload; a change is on /metrics within a second. */
  readonly reloads?: Signal<ReloadState>
}

/** The slowest source, nvidia-smi, speaks each 5 s; three of its periods. */
const UP_WITHIN_MS = 15_000
/** Nobody acts within seconds on what these tell, and each time costs as much as a second of sampling a GPU does. */
const EVERY_MS = 5_000
/** At first each second: what is wrong from the start is told soon. */
const OFTEN_MS = 5_000
const BUILD: Labels = { version: VERSION, commit: COMMIT, node: NODE_VERSION }
/** Counting descriptors walks a directory, so it is done rarely. */
const FDS_EVERY_MS = 10_000

export function createAgentSelfSource({ statistics, reports, off = [], reloads }: AgentSelfOptions): Source {
  const known = new Map<MetricDef, Map<string, Series>>()
  const reading = (metric: MetricDef, labels: Labels, value: number): Reading => {
    let ofMetric = known.get(metric)
    if (ofMetric === undefined) known.set(metric, (ofMetric = new Map()))
    const key = Object.values(labels).join('|')
    let series = ofMetric.get(key)
    if (series === undefined) ofMetric.set(key, (series = makeSeries(metric, labels)))
    return { series, value }
  }
  let loop = performance.eventLoopUtilization()
  let fds = 0
  let fdsAt = 0
  const startedAt = Math.round(performance.timeOrigin) / 1000
  const residentText = keepOpen('/proc/self/statm')

  const ownProcess = (t: number, readings: Reading[]): void => {
    const usage = process.cpuUsage()
    readings.push(reading(processCpuSecondsTotal, {}, (usage.user + usage.system) / 1e6), reading(processStartTimeSeconds, {}, startedAt))
    for (const mode of ['user', 'system'] as const) readings.push(reading(agentCpuModeSecondsTotal, { mode }, usage[mode] / 1e6))
    try {
      // Second field of statm: resident pages (proc(5)).
      const pages = Number(residentText().split(' ')[1])
      if (Math.abs(t - fdsAt) >= FDS_EVERY_MS) {
        fds = readdirSync('/proc/self/fd').length
        fdsAt = t
      }
      readings.push(reading(processResidentMemoryBytes, {}, pages * pageSize()), reading(processOpenFds, {}, fds))
    } catch {
      readings.push(reading(processResidentMemoryBytes, {}, process.memoryUsage.rss())) // no /proc: not Linux
    }
    const now = performance.eventLoopUtilization()
    readings.push(reading(agentEventLoopUtilizationRatio, {}, performance.eventLoopUtilization(now, loop).utilization))
    loop = now
  }
  const books = (t: number, readings: Reading[]): void => {
    for (const state of statistics.sources()) {
      const labels = { source: state.source }
      const up = state.lastReadingAt !== undefined && t - state.lastReadingAt < UP_WITHIN_MS
      if (!off.includes(state.source))
        readings.push(reading(agentSourceUp, labels, up ? 1 : 0), reading(agentSourceDurationSeconds, labels, state.durationMs / 1000))
      for (const [reason, count] of state.gapsByReason) readings.push(reading(agentGapsTotal, { source: state.source, reason }, count))
    }
    for (const [type, count] of statistics.eventCounts()) readings.push(reading(agentEventsTotal, { type }, count))
  }

  return {
    id: 'agent',
    metrics: selfMetrics,
    start({ emit, every }) {
      let [begunAt, saidAt] = [0, 0]
      reloads?.watch(() => (saidAt = 0))
      every(1_000, (t) => {
        if (begunAt === 0) begunAt = t
        // A clock that was set back is no reason to fall silent.
        if (t - begunAt > OFTEN_MS && t - saidAt < EVERY_MS && t > saidAt) return
        saidAt = t
        const begun = performance.now()
        const readings: Reading[] = []
        books(t, readings)
        ownProcess(t, readings)
        readings.push(reading(buildInfo, BUILD, 1))
        if (reloads !== undefined) for (const { metric, labels, value } of reloadFigures(reloads.get())) readings.push(reading(metric, labels, value))
        for (const report of reports) for (const { metric, labels, value } of report()) readings.push(reading(metric, labels, value))
        emit({ type: 'scrape', t, source: 'agent', group: '', ttlMs: 2 * EVERY_MS + 2_000, durationMs: performance.now() - begun, readings, gaps: [] })
      })
    },
    stop: () => {},
  }
}

export const agentSelf = defineSource({
  id: 'agent',
  metrics: selfMetrics,
  needs: ['statistics', 'selfReports', 'reloads', 'config'],
  create: ({ statistics, selfReports, reloads, config }) =>
    createAgentSelfSource({
      statistics,
      reloads,
      reports: selfReports,
      ...(config.gpu.source === 'off' && config.simulate.scenario === 'off' ? { off: ['gpu'] } : {}),
    }),
})
