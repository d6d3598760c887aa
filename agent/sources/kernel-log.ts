// The kernel's log: Xids, OOM kills, faults of buses and disks. Resumes by boot and sequence number.
import { readFileSync } from 'node:fs'
import { uptime } from 'node:os'
import { TICK_PHASE_MS } from '../lib/scheduler.ts'
import type { Gap, GapReason } from '../model/reading.ts'
import type { Source, SourceContext } from '../model/source.ts'
import type { CursorStore } from '../store/cursors.ts'
import { codeOf, errnoOf, messageOf } from '../text/error.ts'
import { defineSource } from './definition.ts'
import { openKernelDevice } from './kernel-log/device.ts'
import type { KernelDevice } from './kernel-log/device.ts'
import { parseRecord } from './kernel-log/record.ts'
import type { KernelRecord } from './kernel-log/record.ts'
import { addLine, createBatch } from './logs/batch.ts'
import { createLogFlow } from './logs/flow.ts'
import { createLogCounters, logMetrics } from './logs/metrics.ts'
import { mayBeKernelCrash } from '../text/kernel-crash.ts'
import type { Prefilter } from './logs/prefilter.ts'

export type KernelLogOptions = {
  readonly path?: string
  readonly procRoot?: string
  readonly cursors: CursorStore
  readonly interesting: Prefilter
}

/** An empty look costs 10 µs, and up to 0.2 ms where it wakes an idle machine: so it comes with the scrapes and once more with the tick, which wake this process in any case. */
const LOOK_MS = 1_000
const REPORT = { everyMs: 10_000, ttlMs: 25_000 } as const
const RETRY_MS = 60_000
/** In one look, so that a flood leaves time for sampling; the rest comes with the next. */
const RECORDS_PER_LOOK = 1_000
/**
 * The first time ever, what is older than this is history: the operator knows of it. With a cursor of an earlier boot all of this boot is new,
 * as the agent was down while the machine came up.
 */
const FIRST_LOOK_MS = 600_000
const CURSOR_KEY = 'kernel'

const REASONS: Readonly<Record<string, GapReason>> = { EPERM: 'no_permission', EACCES: 'no_permission', ENOENT: 'not_supported', ENXIO: 'not_supported' }

export function createKernelLogSource(options: KernelLogOptions): Source {
  const { path = '/dev/kmsg', procRoot = '/proc', cursors, interesting } = options
  // No fault by itself: on most hosts some tool crashes now and then. It is the end of a job where the process was one.
  const isReported: Prefilter = (bytes, start, end) => interesting(bytes, start, end) === true || mayBeKernelCrash(bytes, start, end)
  const counters = createLogCounters('kernel')
  const stops: (() => void)[] = []
  let device: KernelDevice | undefined
  let end: (() => void) | undefined

  const start = ({ emit, every, log }: SourceContext): void => {
    const boot = bootId(procRoot)
    const [savedBoot, savedSequence] = (cursors.get(CURSOR_KEY) ?? '').split(':')
    let last = savedBoot === boot && savedSequence !== undefined ? Number(savedSequence) : undefined
    const notBefore = savedBoot === '' ? Date.now() - FIRST_LOOK_MS : Number.NEGATIVE_INFINITY
    let gap: Gap | undefined
    let retryAt = 0
    /** All that was there at the start has been read: from then on records are new when they are read. */
    let live = false
    let lookedAt = Date.now()
    let warned = false
    let fragment: KernelRecord | undefined
    const batch = createBatch()
    let recordTime = 0
    const facts = { timeOf: () => recordTime, cursorOf: () => `${boot}:${last ?? 0}` }
    const flow = createLogFlow({ stream: 'kernel', origin: () => ORIGIN, interesting: isReported, emit, counters, join: false })
    const commit = (): void => cursors.set(CURSOR_KEY, `${boot}:${last ?? 0}`)
    end = () => {
      flow.end()
      if (last !== undefined) commit()
    }

    const hand = (record: KernelRecord): void => {
      const now = Date.now()
      const computed = Math.round(now - uptime() * 1_000 + record.microseconds / 1_000)
      if (computed < notBefore) return
      // The kernel's clock does not move while the machine sleeps: what is new now was not written before the last look.
      recordTime = Math.min(now, live ? Math.max(computed, lookedAt) : computed)
      counters.behind(Math.max(0, now - recordTime))
      for (const text of record.text.split('\n')) {
        batch.bytes = Buffer.from(text, 'utf8')
        batch.from = 0
        batch.to = batch.bytes.length
        batch.count = 0
        addLine(batch, 0, 0, batch.to, record.level)
        flow.take(batch, facts)
      }
    }
    const take = (raw: string): void => {
      const record = parseRecord(raw)
      if (record === undefined) return counters.skip('malformed')
      if (last !== undefined && record.sequence <= last) return
      if (last !== undefined && record.sequence > last + 1) counters.skip('overwritten', record.sequence - last - 1)
      last = record.sequence
      // Fragments of one line, from callers that print piecemeal.
      if (record.fragment === 'continue' && fragment !== undefined) {
        fragment = { ...fragment, text: (fragment.text + record.text).slice(0, 8_192) }
        return
      }
      if (fragment !== undefined) hand(fragment)
      fragment = record.fragment === 'begin' ? record : undefined
      if (fragment === undefined) hand(record)
    }
    const fail = (error: unknown): void => {
      const name = codeOf(error) ?? ''
      const reason = REASONS[name] ?? 'driver_error'
      const hint = reason === 'no_permission' ? ': run the agent as root or give it CAP_SYSLOG' : ''
      const code = errnoOf(error)
      const detail = `${path}: ${messageOf(error)}${hint}`
      gap = { metric: 'kernel-log', labels: {}, reason, detail, ...(code === undefined ? {} : { code }) }
      if (!warned) log.warn(`the kernel's log cannot be read, so no Xid or OOM kill is seen there: ${detail}`)
      warned = true
      device?.close()
      device = undefined
      retryAt = performance.now() + RETRY_MS
    }
    const drain = (from: KernelDevice): void => {
      for (let count = 0; count < RECORDS_PER_LOOK; count++) {
        const next = from.next()
        if (next !== undefined) {
          take(next)
          continue
        }
        if (fragment !== undefined) hand(fragment)
        fragment = undefined
        live = true
        break
      }
      lookedAt = Date.now()
      if (last !== undefined && cursors.get(CURSOR_KEY) !== `${boot}:${last}`) flow.settle(commit)
    }
    const look = (): void => {
      try {
        if (device === undefined) {
          if (performance.now() < retryAt) return
          device = openKernelDevice(path)
          live = false
          if (warned) log.info("the kernel's log can be read")
          gap = undefined
        }
        drain(device)
      } catch (error) {
        fail(error)
      }
    }
    const report = (t: number): void => {
      const readings = gap === undefined ? counters.readings() : []
      const gaps = gap === undefined ? [] : [gap]
      emit({ type: 'scrape', t, source: 'kernel-log', group: 'all', ttlMs: REPORT.ttlMs, durationMs: 0, readings, gaps })
    }
    look()
    report(Date.now())
    stops.push(every(LOOK_MS, look, LOOK_MS), every(LOOK_MS, look, undefined, TICK_PHASE_MS), every(REPORT.everyMs, report))
  }

  return {
    id: 'kernel-log',
    metrics: logMetrics,
    start,
    stop() {
      for (const stop of stops.splice(0)) stop()
      end?.()
      device?.close()
      device = undefined
      cursors.flush()
    },
  }
}

const ORIGIN = {}

function bootId(procRoot: string): string {
  try {
    return readFileSync(`${procRoot}/sys/kernel/random/boot_id`, 'utf8').trim()
  } catch {
    return 'unknown'
  }
}

export const kernelLog = defineSource({
  id: 'kernel-log',
  metrics: logMetrics,
  needs: ['config', 'cursors', 'interesting'],
  create: ({ config, cursors, interesting }) =>
    config.logs.kernel && config.simulate.scenario === 'off' ? createKernelLogSource({ procRoot: config.host.proc_root, cursors, interesting }) : undefined,
})
