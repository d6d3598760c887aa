// The agent about itself: what each source did, what was dropped, what it all costs. Once per second, from /proc and its own books.
import { readFileSync, readdirSync } from 'node:fs'
import { defineMetric } from '../model/metric.ts'
import type { Reading } from '../model/reading.ts'
import { makeSeries, type Labels } from '../model/series.ts'
import type { MetricDef } from '../model/metric.ts'
import type { Ledger } from '../store/ledger.ts'
import type { Source } from '../model/source.ts'
import type { SourceDefinition } from './definition.ts'

const sourceUp = defineMetric({
  name: 'warpwatch_agent_source_up',
  kind: 'gauge',
  unit: '1',
  help: '1 while the source has brought a reading within the last three of its periods, else 0.',
  labels: ['source'],
})
const sourceDuration = defineMetric({
  name: 'warpwatch_agent_source_duration_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'How long the newest scrape of the source took.',
  labels: ['source'],
})
const gapsTotal = defineMetric({
  name: 'warpwatch_agent_gaps_total',
  kind: 'counter',
  unit: '{gap}',
  help: 'Readings that could not be had, counted when each gap appears.',
  labels: ['source', 'reason'],
})
const eventsTotal = defineMetric({
  name: 'warpwatch_agent_events_total',
  kind: 'counter',
  unit: '{event}',
  help: 'Events that passed through the pipeline.',
  labels: ['type'],
})
const eventLoopBusy = defineMetric({
  name: 'warpwatch_agent_event_loop_utilization_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Share of the last second in which the main event loop was busy.',
  labels: [],
})
const cpuSeconds = defineMetric({ name: 'process_cpu_seconds_total', kind: 'counter', unit: 's', help: 'CPU time of the main process.', labels: [] })
const residentBytes = defineMetric({ name: 'process_resident_memory_bytes', kind: 'gauge', unit: 'By', help: 'Resident memory of the main process.', labels: [] })
const startTime = defineMetric({
  name: 'process_start_time_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Start of the main process, Unix time.',
  labels: [],
  history: false,
})
const openFds = defineMetric({ name: 'process_open_fds', kind: 'gauge', unit: '{descriptor}', help: 'Open file descriptors of the main process.', labels: [] })

const metrics = [sourceUp, sourceDuration, gapsTotal, eventsTotal, eventLoopBusy, cpuSeconds, residentBytes, startTime, openFds]

type Options = { readonly ledger: Ledger; readonly reports: readonly (() => readonly Reading[])[] }

/** A source is up while its newest reading is younger than this; the slowest (nvidia-smi) renews each 5 s. */
const UP_WITHIN_MS = 15_000

export function createAgentSelfSource({ ledger, reports }: Options): Source {
  const series = new Map<string, Reading['series']>()
  const reading = (metric: MetricDef, labels: Labels, value: number): Reading => {
    const cacheKey = `${metric.name}|${labels['source'] ?? ''}|${labels['reason'] ?? ''}|${labels['type'] ?? ''}`
    let known = series.get(cacheKey)
    if (known === undefined) {
      known = makeSeries(metric, labels)
      series.set(cacheKey, known)
    }
    return { series: known, value }
  }
  let loop = performance.eventLoopUtilization()
  const startedAt = Math.round(performance.timeOrigin) / 1000

  const ownProcess = (): Reading[] => {
    const usage = process.cpuUsage()
    const readings = [reading(cpuSeconds, {}, (usage.user + usage.system) / 1e6), reading(startTime, {}, startedAt)]
    try {
      // Second field of statm: resident pages (proc(5)); 4 KiB on every platform that NVIDIA's driver supports but 64 KiB arm64 kernels.
      const pages = Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1])
      readings.push(reading(residentBytes, {}, pages * 4096), reading(openFds, {}, readdirSync('/proc/self/fd').length))
    } catch {
      readings.push(reading(residentBytes, {}, process.memoryUsage.rss())) // not Linux: no /proc
    }
    return readings
  }

  const books = (t: number): Reading[] => {
    const readings: Reading[] = []
    for (const state of ledger.sources()) {
      const labels = { source: state.source }
      const up = state.lastReadingAt !== undefined && t - state.lastReadingAt < UP_WITHIN_MS
      readings.push(reading(sourceUp, labels, up ? 1 : 0), reading(sourceDuration, labels, state.durationMs / 1000))
      for (const [reason, count] of state.gapsByReason) readings.push(reading(gapsTotal, { source: state.source, reason }, count))
    }
    for (const [type, count] of ledger.eventCounts()) readings.push(reading(eventsTotal, { type }, count))
    return readings
  }

  return {
    id: 'agent',
    metrics,
    start({ emit, every }) {
      const scrape = (t: number): void => {
        const begun = performance.now()
        const readings = [...books(t), ...ownProcess(), ...reports.flatMap((report) => report())]
        const now = performance.eventLoopUtilization()
        readings.push(reading(eventLoopBusy, {}, performance.eventLoopUtilization(now, loop).utilization))
        loop = now
        emit({ type: 'scrape', t, source: 'agent', group: '', ttlMs: 3_000, durationMs: performance.now() - begun, readings, gaps: [] })
      }
      every(1_000, scrape)
    },
    stop: () => {},
  }
}

export const agentSelf: SourceDefinition = {
  id: 'agent',
  metrics,
  create: ({ ledger, selfReports }) => createAgentSelfSource({ ledger, reports: selfReports }),
}
