// What containers print, through their engines: a stream of each that runs, and what each said last before it ended.
import type { ContainerDirectory } from '../attribution/directory.ts'
import type { LogOrigin } from '../model/event.ts'
import type { Gap } from '../model/reading.ts'
import type { Source, SourceContext } from '../model/source.ts'
import type { CursorStore } from '../store/cursors.ts'
import { messageOf } from '../text/error.ts'
import { endedSince } from './container-logs/backfill.ts'
import { createEngineClient, type EngineClient } from './containers/engine.ts'
import { createFollower, cursorKey } from './container-logs/follower.ts'
import { createFollowers } from './container-logs/followers.ts'
import type { Followers } from './container-logs/followers.ts'
import { isOwnContainer } from './container-logs/own-container.ts'
import type { ContainerWatchList } from './containers/watch-list.ts'
import { readFromFile } from './log-files/container-path.ts'
import { createBudget } from './logs/budget.ts'
import type { Budget } from './logs/budget.ts'
import { createLogCounters, logMetrics } from './logs/metrics.ts'
import type { Prefilter } from './logs/prefilter.ts'
import type { ProgressBook } from './logs/progress-book.ts'
import { defineSource } from './definition.ts'

export type ContainerLogsOptions = {
  readonly watchList: ContainerWatchList
  readonly directory: ContainerDirectory
  readonly cursors: CursorStore
  readonly interesting: Prefilter
  readonly progress?: ProgressBook
  /** Takes each line, for who looks at the log of a job now. */
  readonly show?: (id: string, t: number, text: string) => void
  readonly maxStreams: number
  /** Containers whose logs are read at all; further ones wait. */
  readonly maxTracked?: number
  /** Paths and globs of log files that are read directly: their containers are not asked of the engine. */
  readonly containerFiles?: readonly string[]
}

const REPORT = { everyMs: 10_000, ttlMs: 25_000 } as const
/** A container's log that was never read is read from here on when the agent runs for the first time. */
const FIRST_LOOK_MS = 600_000
/** When the agent was last alive: what was written since, in a log without a cursor, nobody has read. */
const ALIVE_KEY = 'alive:container-logs'
const ALIVE_MARGIN_MS = 15_000

/** Streams that are reopened because lines may be missing, over all containers. */
const LOOKS_AGAIN = { burst: 6, everyMs: 5_000 } as const

function createAllowance({ burst, everyMs }: { readonly burst: number; readonly everyMs: number }): () => boolean {
  let left: number = burst
  let gainedAt = performance.now()
  return () => {
    const gained = Math.floor((performance.now() - gainedAt) / everyMs)
    left = Math.min(burst, left + gained)
    gainedAt += gained * everyMs
    if (left === 0) return false
    left--
    return true
  }
}

export function createContainerLogsSource(options: ContainerLogsOptions): Source {
  const { watchList, directory, cursors, interesting, progress, show, maxStreams, maxTracked, containerFiles = [] } = options
  const counters = createLogCounters('container')
  const stopping = new AbortController()
  const stops: (() => void)[] = []
  let followers: Followers | undefined
  let budget: Budget | undefined
  let backfills: Promise<void>[] = []

  const originOf = (id: string): (() => LogOrigin) => {
    let version = -1
    let origin: LogOrigin = {}
    // The name may come after the first line; the object stays the same as long as it does.
    return () => {
      if (directory.version() !== version) {
        version = directory.version()
        origin = { container: directory.resolve(id).name, container_id: id.slice(0, 12) }
      }
      return origin
    }
  }

  const start = ({ emit, every, log }: SourceContext): void => {
    const aliveMs = Number(cursors.get(ALIVE_KEY) ?? Number.NaN)
    const sinceMs = (Number.isFinite(aliveMs) ? Math.min(aliveMs, Date.now()) : Date.now() - FIRST_LOOK_MS) - ALIVE_MARGIN_MS
    const isSelf = isOwnContainer()
    const inFile = readFromFile(containerFiles)
    const leftOut = (id: string): boolean => isSelf(id) || inFile(id)
    const warned = new Set<string>()
    const work = (budget = createBudget())
    const mayLookAgain = createAllowance(LOOKS_AGAIN)
    const engines = new Map<string, EngineClient>()
    const engineOf = (socketPath: string): EngineClient => {
      const known = engines.get(socketPath) ?? createEngineClient({ socketPath })
      engines.set(socketPath, known)
      return known
    }
    const reading = (followers = createFollowers({
      maxStreams,
      ...(maxTracked === undefined ? {} : { maxTracked }),
      create: (socketPath, id) =>
        createFollower({
          engine: engineOf(socketPath),
          id,
          origin: originOf(id),
          sinceMs,
          cursors,
          interesting,
          emit,
          counters,
          budget: work,
          mayLookAgain,
          ...(progress === undefined ? {} : { progress }),
          ...(show === undefined ? {} : { show }),
        }),
      onGone: (id) => cursors.delete(cursorKey(id)),
      onLost: () => counters.skip('gone'),
      onSilent: (id) => onSilent(id),
      onFailure(id, error) {
        const kind = `${error.reason} ${error.nativeCode ?? ''}`
        if (!warned.has(kind)) log.warn(`log of container ${directory.resolve(id).name}: ${error.message}; further failures of this kind are not logged`)
        warned.add(kind)
      },
    }))
    const onSilent = (id: string): void => {
      if (!warned.has('silent'))
        log.warn(`log of container ${directory.resolve(id).name}: the engine stopped sending it, so it is opened again; further cases are not logged`)
      warned.add('silent')
    }
    const backfill = async (socketPath: string): Promise<void> => {
      try {
        for (const identity of await endedSince(socketPath, sinceMs, stopping.signal)) {
          if (leftOut(identity.id)) continue
          if (directory.resolve(identity.id).name === identity.id.slice(0, 12)) directory.set(identity)
          reading.ended(socketPath, identity.id)
        }
      } catch (error) {
        if (!stopping.signal.aborted) log.warn(`containers that ended while the agent was down: ${messageOf(error)}`)
      }
    }
    const report = (t: number): void => {
      cursors.set(ALIVE_KEY, String(t))
      void reading.check()
      const began = performance.now()
      const gaps: Gap[] = []
      for (const [id, error] of reading.failures()) {
        const code = error.nativeCode
        gaps.push({
          metric: 'container-logs',
          labels: { container_id: id.slice(0, 12) },
          reason: error.reason,
          detail: error.message,
          ...(code === undefined ? {} : { code }),
        })
        if (gaps.length >= 50) break
      }
      const waiting = reading.waiting()
      if (waiting > 0) {
        const detail = `logs of ${waiting} containers are not read: expected at most ${reading.maxTracked} containers at once; they are read when others have ended`
        gaps.push({ metric: 'container-logs', labels: {}, reason: 'not_supported', detail })
        if (!warned.has('waiting')) log.warn(detail)
        warned.add('waiting')
      } else warned.delete('waiting')
      const readings = counters.readings()
      emit({ type: 'scrape', t, source: 'container-logs', group: 'all', ttlMs: REPORT.ttlMs, durationMs: performance.now() - began, readings, gaps })
    }
    stops.push(
      watchList.watch({
        running(socketPath, id) {
          if (!leftOut(id)) reading.run(socketPath, id)
        },
        ended: (socketPath, id) => (leftOut(id) ? undefined : reading.ended(socketPath, id)),
        life(socketPath, id, event) {
          if (leftOut(id)) return
          if (event.action === 'start') {
            // Before it is inspected: one that crashes at once is gone by then.
            if (directory.resolve(id).name === id.slice(0, 12) && event.container !== id.slice(0, 12))
              directory.set({ id, name: event.container, ...(event.image === undefined ? {} : { image: event.image }) })
            reading.run(socketPath, id)
          } else if (event.action === 'die' || event.action === 'died') reading.ended(socketPath, id)
          else if (event.action === 'destroy' || event.action === 'remove') reading.forget(id)
        },
        answering(socketPath) {
          reading.retry(socketPath)
          const running = backfill(socketPath).finally(() => (backfills = backfills.filter((other) => other !== running)))
          backfills.push(running)
        },
      }),
      every(REPORT.everyMs, report),
    )
    report(Date.now())
  }

  return {
    id: 'container-logs',
    metrics: logMetrics,
    start,
    async stop() {
      for (const stop of stops.splice(0)) stop()
      stopping.abort()
      await Promise.all(backfills)
      await followers?.stop()
      budget?.stop()
      cursors.set(ALIVE_KEY, String(Date.now()))
      cursors.flush()
    },
  }
}

export const containerLogs = defineSource({
  id: 'container-logs',
  metrics: logMetrics,
  needs: ['config', 'directory', 'cursors', 'interesting', 'progress', 'showLine', 'watchList'],
  create({ config, directory, cursors, interesting, progress, showLine, watchList }) {
    if (!config.logs.containers || !config.containers.enabled || config.simulate.scenario !== 'off') return undefined
    return createContainerLogsSource({
      watchList,
      directory,
      cursors,
      interesting,
      progress,
      ...(showLine === undefined ? {} : { show: showLine }),
      maxStreams: config.logs.max_streams,
      containerFiles: config.logs.container_files,
    })
  },
})
