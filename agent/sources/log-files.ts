// Plain log files and log files of containers, by path or glob.
import { globSync } from 'node:fs'
import type { ContainerDirectory } from '../attribution/directory.ts'
import type { Gap, GapReason } from '../model/reading.ts'
import type { Source, SourceContext } from '../model/source.ts'
import type { CursorStore } from '../store/cursors.ts'
import { codeOf, errnoOf, messageOf } from '../text/error.ts'
import { defineSource } from './definition.ts'
import { createFileLog } from './log-files/file-log.ts'
import type { FileLog } from './log-files/file-log.ts'
import { createBudget } from './logs/budget.ts'
import { createLogCounters, logMetrics } from './logs/metrics.ts'
import type { Prefilter } from './logs/prefilter.ts'
import type { ProgressBook } from './logs/progress-book.ts'

export type LogFilesOptions = {
  readonly files: readonly string[]
  readonly containerFiles: readonly string[]
  readonly directory: ContainerDirectory
  readonly cursors: CursorStore
  readonly interesting: Prefilter
  readonly progress?: ProgressBook
}

/** A look at a file that did not change is one system call. */
const LOOK_MS = 200
/** Files without news for so long are looked at once a second. */
const IDLE_MS = 60_000
const IDLE_LOOKS = 5
const DISCOVER_MS = 5_000
const REPORT = { everyMs: 10_000, ttlMs: 25_000 } as const
const MAX_FILES = 1_024

type Watched = { readonly path: string; readonly log: FileLog; newsAt: number; failure: unknown }

const REASONS: Readonly<Record<string, GapReason>> = { EPERM: 'no_permission', EACCES: 'no_permission' }

export function createLogFilesSource(options: LogFilesOptions): Source {
  const { files, containerFiles, directory, cursors, interesting, progress } = options
  const counters = createLogCounters('file')
  const budget = createBudget()
  const watched = new Map<string, Watched>()
  const stops: (() => void)[] = []

  const start = ({ emit, every, log }: SourceContext): void => {
    let first = true
    let tooMany = false
    const discover = (): void => {
      for (const [patterns, ofContainer] of [[containerFiles, true] as const, [files, false] as const]) {
        for (const pattern of patterns) {
          // A plain path is watched before the file exists.
          const paths = /[*?[{]/.test(pattern) ? globSync(pattern) : [pattern]
          for (const path of paths) add(path, ofContainer)
        }
      }
      first = false
    }
    const add = (path: string, ofContainer: boolean): void => {
      if (watched.has(path)) return
      if (watched.size >= MAX_FILES) {
        if (!tooMany) log.warn(`logs.files names more than ${MAX_FILES} files: ${path} and others are not read. Narrow the patterns`)
        tooMany = true
        return
      }
      // What was in a file before the agent ever ran is history; a file that comes later is new from its first line.
      const from = first && !ofContainer ? 'end' : 'begin'
      const made = createFileLog({ path, ofContainer, from, directory, cursors, interesting, emit, counters, ...(progress === undefined ? {} : { progress }) })
      watched.set(path, { path, log: made, newsAt: performance.now(), failure: undefined })
    }
    const readOne = (entry: Watched): boolean => {
      let more = false
      budget.spend(() => {
        try {
          more = entry.log.read()
          if (entry.failure !== undefined) log.info(`${entry.path} can be read`)
          entry.failure = undefined
        } catch (error) {
          if (entry.failure === undefined) log.warn(`${entry.path} cannot be read: ${messageOf(error)}`)
          entry.failure = error
        }
      })
      if (more) entry.newsAt = performance.now()
      return more
    }
    let busy = false
    let looks = 0
    /** Files in turn, one piece each, until none has more. */
    const round = (queue: Watched[]): void => {
      while (queue.length > 0) {
        if (budget.exhausted()) return budget.free(() => round(queue))
        const entry = queue.shift()
        if (entry !== undefined && readOne(entry)) queue.push(entry)
      }
      busy = false
    }
    const look = (): void => {
      looks++
      if (busy) return
      busy = true
      const now = performance.now()
      round([...watched.values()].filter(({ newsAt }) => looks % IDLE_LOOKS === 0 || now - newsAt < IDLE_MS))
    }
    const report = (t: number): void => {
      const gaps: Gap[] = []
      for (const { path, failure } of watched.values()) {
        if (failure === undefined) continue
        const code = errnoOf(failure)
        const reason = REASONS[codeOf(failure) ?? ''] ?? 'driver_error'
        const detail = messageOf(failure)
        gaps.push({ metric: 'log-files', labels: { path }, reason, detail, ...(code === undefined ? {} : { code }) })
      }
      emit({ type: 'scrape', t, source: 'log-files', group: 'all', ttlMs: REPORT.ttlMs, durationMs: 0, readings: counters.readings(), gaps })
    }
    discover()
    // The first look may not come to all files at once: what is written meanwhile is not history.
    for (const { log: found } of watched.values()) {
      try {
        found.place()
      } catch {
        // The look says why it cannot be read.
      }
    }
    look()
    report(Date.now())
    stops.push(every(LOOK_MS, look, LOOK_MS), every(DISCOVER_MS, discover, DISCOVER_MS), every(REPORT.everyMs, report))
  }

  return {
    id: 'log-files',
    metrics: logMetrics,
    start,
    stop() {
      for (const stop of stops.splice(0)) stop()
      budget.stop()
      for (const { log } of watched.values()) log.close()
      watched.clear()
      cursors.flush()
    },
  }
}

export const logFiles = defineSource({
  id: 'log-files',
  metrics: logMetrics,
  needs: ['config', 'directory', 'cursors', 'interesting', 'progress'],
  create({ config, directory, cursors, interesting, progress }) {
    const { files, container_files: containerFiles } = config.logs
    if ((files.length === 0 && containerFiles.length === 0) || config.simulate.scenario !== 'off') return undefined
    return createLogFilesSource({ files, containerFiles, directory, cursors, interesting, progress })
  },
})
