// The journal, through journalctl: units that log nowhere else. Only where it is configured.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { Gap } from '../model/reading.ts'
import type { Source, SourceContext } from '../model/source.ts'
import type { CursorStore } from '../store/cursors.ts'
import { createLineSplitter } from '../text/line-splitter.ts'
import { defineSource } from './definition.ts'
import { parseEntry } from './journald/entry.ts'
import type { JournalEntry } from './journald/entry.ts'
import { addLine, createBatch } from './logs/batch.ts'
import { createBudget } from './logs/budget.ts'
import { createLogFlow } from './logs/flow.ts'
import type { LogFlow } from './logs/flow.ts'
import { createLogCounters, logMetrics } from './logs/metrics.ts'
import type { Prefilter } from './logs/prefilter.ts'

export type JournaldOptions = {
  readonly command?: string
  readonly units: readonly string[]
  readonly cursors: CursorStore
  readonly interesting: Prefilter
}

const REPORT = { everyMs: 10_000, ttlMs: 25_000 } as const
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000
const CURSOR_KEY = 'journald'
const FIELDS = 'MESSAGE,_SYSTEMD_UNIT,SYSLOG_IDENTIFIER,_TRANSPORT,CONTAINER_ID_FULL'
const MAX_ENTRY_CHARS = 1 << 20
const MAX_UNITS = 256

export function createJournaldSource(options: JournaldOptions): Source {
  const { command = 'journalctl', units, cursors, interesting } = options
  const counters = createLogCounters('journal')
  const flows = new Map<string, LogFlow>()
  const stops: (() => void)[] = []
  const budget = createBudget()
  let child: ChildProcess | undefined
  let retry: NodeJS.Timeout | undefined
  let stopped = false

  const start = ({ emit, every, log }: SourceContext): void => {
    let gap: Gap | undefined
    let retryMs = FIRST_RETRY_MS
    let warned = false
    const batch = createBatch()
    let current: JournalEntry | undefined
    const facts = { timeOf: () => current?.t ?? 0, cursorOf: () => current?.cursor ?? '' }
    const flowOf = (unit: string): LogFlow => {
      const known = flows.get(unit)
      if (known !== undefined) return known
      const oldest = flows.size >= MAX_UNITS ? flows.entries().next().value : undefined
      oldest?.[1].end()
      if (oldest !== undefined) flows.delete(oldest[0])
      const origin = { path: `journal:${unit}` }
      const flow = createLogFlow({ stream: 'file', origin: () => origin, interesting, emit, counters })
      flows.set(unit, flow)
      return flow
    }
    const take = (line: string): void => {
      if (line === '') return
      const entry = parseEntry(line)
      if (entry === undefined) return counters.skip('malformed')
      if (entry === 'elsewhere') return
      current = entry
      const flow = flowOf(entry.unit)
      for (const text of entry.text.split('\n')) {
        batch.bytes = Buffer.from(text, 'utf8')
        batch.from = 0
        batch.to = batch.bytes.length
        batch.count = 0
        addLine(batch, 0, 0, batch.to, 0)
        flow.take(batch, facts)
      }
      counters.behind(Math.max(0, Date.now() - entry.t))
      flow.settle(() => cursors.set(CURSOR_KEY, entry.cursor))
    }
    const failed = (detail: string, missing: boolean): void => {
      gap = { metric: 'journald', labels: {}, reason: missing ? 'not_supported' : 'driver_error', detail }
      if (!warned) log.warn(`the journal cannot be read: ${detail}`)
      warned = true
      child = undefined
      if (stopped || missing) return
      retry = setTimeout(run, retryMs)
      retryMs = Math.min(retryMs * 2, MAX_RETRY_MS)
    }
    const run = (): void => {
      const cursor = cursors.get(CURSOR_KEY)
      const from = cursor === undefined ? ['--since=-10min'] : [`--after-cursor=${cursor}`]
      const args = ['--output=json', '--follow', '--no-pager', `--output-fields=${FIELDS}`, ...from, ...units.map((unit) => `--unit=${unit}`)]
      const started = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
      child = started
      const entries = createLineSplitter({ maxChars: MAX_ENTRY_CHARS, overlong: 'drop', onOverlong: () => counters.skip('cut') })
      let said = ''
      started.stdout.setEncoding('utf8')
      started.stdout.on('data', (text: string) => {
        gap = undefined
        retryMs = FIRST_RETRY_MS
        budget.spend(() => {
          for (const line of entries.push(text)) take(line)
        })
        if (!budget.exhausted()) return
        started.stdout.pause()
        budget.free(() => started.stdout.resume())
      })
      started.stderr.setEncoding('utf8')
      started.stderr.on('data', (text: string) => (said = (said + text).slice(-500)))
      let over = false
      started.on('error', (error) => {
        over = true
        failed(`${command}: ${error.message}`, 'code' in error && error.code === 'ENOENT')
      })
      started.on('close', (code, signal) => {
        if (!over && !stopped) failed(`${command} ended with ${signal ?? code ?? 'nothing'}: ${said.trim()}`, false)
      })
    }
    const report = (t: number): void => {
      const gaps = gap === undefined ? [] : [gap]
      emit({
        type: 'scrape',
        t,
        source: 'journald',
        group: 'all',
        ttlMs: REPORT.ttlMs,
        durationMs: 0,
        readings: gap === undefined ? counters.readings() : [],
        gaps,
      })
    }
    run()
    report(Date.now())
    stops.push(every(REPORT.everyMs, report))
  }

  return {
    id: 'journald',
    metrics: logMetrics,
    start,
    stop() {
      stopped = true
      for (const stop of stops.splice(0)) stop()
      clearTimeout(retry)
      budget.stop()
      child?.kill('SIGKILL')
      for (const flow of flows.values()) flow.end()
      cursors.flush()
    },
  }
}

export const journald = defineSource({
  id: 'journald',
  metrics: logMetrics,
  needs: ['config', 'cursors', 'interesting'],
  create: ({ config, cursors, interesting }) =>
    config.logs.journald && config.simulate.scenario === 'off' ? createJournaldSource({ units: config.logs.journald_units, cursors, interesting }) : undefined,
})
