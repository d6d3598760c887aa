// Which containers' logs are read when: a stream for each that runs, a last look at each that ended, all within bounds.
import type { EngineError } from '../containers/engine-error.ts'
import { toEngineError } from '../containers/engine-error.ts'
import type { Follower } from './follower.ts'

export type FollowersOptions = {
  readonly create: (socketPath: string, id: string) => Follower
  /** Streams open at once; the logs of further containers are read in turns. */
  readonly maxStreams: number
  /** Containers whose logs are followed or read in turns; further ones wait until others are gone. */
  readonly maxTracked?: number
  /** The container has been removed: nothing of it is left to read. */
  readonly onGone: (id: string) => void
  /** It was removed before its log could be read. */
  readonly onLost: (id: string) => void
  readonly onFailure: (id: string, error: EngineError) => void
  /** Its engine had stopped to say anything on its stream, though it was written to; it is followed again. */
  readonly onSilent: (id: string) => void
}
export type Followers = {
  /** It runs (again): follow its log. */
  readonly run: (socketPath: string, id: string) => void
  /** It has ended: look at what it said last. */
  readonly ended: (socketPath: string, id: string) => void
  readonly forget: (id: string) => void
  /** The engine answers again: what failed need not wait any longer. */
  readonly retry: (socketPath: string) => void
  /** Logs that cannot be read now, and why. */
  readonly failures: () => ReadonlyMap<string, EngineError>
  readonly streams: () => number
  /** Containers whose logs are not read because so many others are. */
  readonly waiting: () => number
  readonly maxTracked: number
  /** Compares streams that have fallen silent with their logs. */
  readonly check: () => Promise<void>
  readonly stop: () => Promise<void>
}

type Entry = {
  readonly id: string
  readonly socketPath: string
  readonly follower: Follower
  running: boolean
  /** Something may have been written that was not read. */
  due: boolean
  /** Set while it is being read. */
  reading: boolean
  removed: boolean
  /** It was read at least once. */
  known: boolean
  tokens: number
  refilled: number
  retryMs: number
  notBefore: number
}

/**
 * An engine reads a log from its beginning to find the time to resume from, so each opening costs it: a container that restarts every second
 * is opened six times, then once in two seconds; nothing is lost, as its log goes on in one file.
 */
const BURST = 6
const REFILL_MS = 2_000
const FIRST_RETRY_MS = 1_000
const MAX_RETRY_MS = 60_000
/** Logs that are read in turns, and last looks, at once. */
const MAX_SHORT = 4
const TURN_MS = 5_000
/** Each costs some 10 kB while its log is read. */
const MAX_TRACKED = 2_048

export function createFollowers(options: FollowersOptions): Followers {
  const { maxTracked = MAX_TRACKED } = options
  const entries = new Map<string, Entry>()
  const failures = new Map<string, EngineError>()
  const waiting = new Map<string, { readonly socketPath: string; readonly running: boolean }>()
  const stopping = new AbortController()
  const reads = new Set<Promise<void>>()
  let streams = 0
  let short = 0
  let timer: NodeJS.Timeout | undefined
  let timerDue = Infinity
  let checking = false

  const entryOf = (socketPath: string, id: string): Entry | undefined => {
    const known = entries.get(id)
    if (known !== undefined) return known
    if (entries.size >= maxTracked) return undefined
    const follower = options.create(socketPath, id)
    const now = performance.now()
    const entry: Entry = {
      id,
      socketPath,
      follower,
      running: false,
      due: false,
      reading: false,
      removed: false,
      known: false,
      tokens: BURST,
      refilled: now,
      retryMs: FIRST_RETRY_MS,
      notBefore: 0,
    }
    entries.set(id, entry)
    return entry
  }
  const drop = (entry: Entry): void => {
    entries.delete(entry.id)
    failures.delete(entry.id)
    if (entry.removed) options.onGone(entry.id)
    admit()
  }
  /** There is room for one that waits. */
  const admit = (): void => {
    const [next] = waiting
    if (next === undefined || stopping.signal.aborted) return
    const [id, { socketPath, running }] = next
    waiting.delete(id)
    if (running) run(socketPath, id)
    else ended(socketPath, id)
  }
  const wake = (at: number): void => {
    if (stopping.signal.aborted || at >= timerDue) return
    clearTimeout(timer)
    timerDue = at
    timer = setTimeout(pump, Math.max(0, at - performance.now()))
  }
  /** The time from which the entry may be opened; takes the token when that is now. */
  const allowedAt = (entry: Entry, now: number): number => {
    if (entry.notBefore > now) return entry.notBefore
    const gained = Math.floor((now - entry.refilled) / REFILL_MS)
    if (gained > 0) {
      entry.tokens = Math.min(BURST, entry.tokens + gained)
      entry.refilled = entry.tokens === BURST ? now : entry.refilled + gained * REFILL_MS
    }
    return entry.tokens > 0 ? now : entry.refilled + REFILL_MS
  }
  const failed = (entry: Entry, error: unknown): void => {
    const reason = toEngineError(error, `log of ${entry.id.slice(0, 12)}`)
    failures.set(entry.id, reason)
    options.onFailure(entry.id, reason)
    // A log driver that cannot be read will not learn it; anything else may pass.
    entry.due = reason.reason !== 'not_supported'
    entry.notBefore = performance.now() + entry.retryMs
    entry.retryMs = Math.min(entry.retryMs * 2, MAX_RETRY_MS)
  }
  const read = async (entry: Entry, follow: boolean): Promise<void> => {
    entry.reading = true
    entry.due = false
    entry.tokens--
    const wasRunning = entry.running
    try {
      const end = await entry.follower.read(follow, stopping.signal, !entry.running)
      failures.delete(entry.id)
      entry.retryMs = FIRST_RETRY_MS
      if (end === 'missing') {
        if (!entry.known) options.onLost(entry.id)
        entry.removed = true
        entry.running = false
        entry.due = false
      } else entry.known = true
      if (entry.running) {
        entry.due = true
        // A stream that ended while its container runs (the log was turned over, the engine restarts): not in a tight loop.
        if (follow && wasRunning) entry.notBefore = performance.now() + 200
        if (!follow) entry.notBefore = performance.now() + TURN_MS
      }
    } catch (error) {
      if (!stopping.signal.aborted) failed(entry, error)
    } finally {
      entry.reading = false
      if (follow) streams--
      else short--
    }
    if (!entry.running && !entry.due) drop(entry)
    wake(performance.now())
  }
  const pump = (): void => {
    timer = undefined
    timerDue = Infinity
    if (stopping.signal.aborted) return
    const now = performance.now()
    for (const entry of entries.values()) {
      if (!entry.due || entry.reading) continue
      const at = allowedAt(entry, now)
      if (at > now) {
        wake(at)
        continue
      }
      const follow = entry.running && streams < options.maxStreams
      if (!follow && short >= MAX_SHORT) continue // the end of one that is being read wakes it
      if (follow) streams++
      else short++
      const running = read(entry, follow).finally(() => reads.delete(running))
      reads.add(running)
    }
  }

  const run = (socketPath: string, id: string): void => {
    const entry = entryOf(socketPath, id)
    if (entry === undefined) waiting.set(id, { socketPath, running: true })
    if (entry === undefined || (entry.running && (entry.reading || entry.due))) return
    entry.running = true
    entry.due = true
    wake(performance.now())
  }
  const ended = (socketPath: string, id: string): void => {
    const entry = entryOf(socketPath, id)
    if (entry === undefined) {
      waiting.set(id, { socketPath, running: false })
      return
    }
    entry.running = false
    // The stream ends by itself at the end of the log; one more look finds what it may have missed.
    entry.due = true
    wake(performance.now())
  }

  return {
    run,
    ended,
    forget(id) {
      const entry = entries.get(id)
      if (waiting.delete(id)) options.onLost(id)
      if (entry === undefined) return options.onGone(id)
      entry.removed = true
      entry.running = false
      if (!entry.reading) entry.due = false
      if (!entry.reading) drop(entry)
    },
    retry(socketPath) {
      for (const entry of entries.values()) {
        if (entry.socketPath !== socketPath || !failures.has(entry.id)) continue
        entry.notBefore = 0
        entry.retryMs = FIRST_RETRY_MS
      }
      wake(performance.now())
    },
    failures: () => failures,
    streams: () => streams,
    waiting: () => waiting.size,
    maxTracked,
    async check() {
      if (checking) return
      checking = true
      // One after the other: it is not urgent.
      for (const entry of entries.values()) {
        if (!entry.running || !entry.reading || stopping.signal.aborted) continue
        try {
          if (await entry.follower.check(stopping.signal)) options.onSilent(entry.id)
        } catch {
          // An engine that fails shows on the stream itself.
        }
      }
      checking = false
    },
    async stop() {
      stopping.abort()
      clearTimeout(timer)
      await Promise.all(reads)
      entries.clear()
      waiting.clear()
    },
  }
}
