// Reads the log of one container from its cursor on, again and again: while it runs as a stream, after its end what it said last.
import type { LogOrigin } from '../../model/event.ts'
import type { LogLine, LogTail } from '../../model/event.ts'
import type { CursorStore } from '../../store/cursors.ts'
import type { EngineClient } from '../containers/engine.ts'
import type { LogEnd } from '../containers/engine-log.ts'
import type { LineBatch } from '../logs/batch.ts'
import type { Budget } from '../logs/budget.ts'
import { createLogFlow } from '../logs/flow.ts'
import type { LineFacts } from '../logs/flow.ts'
import { createLogTail } from '../logs/log-tail.ts'
import type { LogCounters } from '../logs/metrics.ts'
import type { Prefilter } from '../logs/prefilter.ts'
import type { ProgressBook } from '../logs/progress-book.ts'
import { createFrameReader } from './frames.ts'
import { createRepeats } from './repeats.ts'
import { createResume } from './resume.ts'
import { stampMs, stampSince } from './stamp.ts'

export type FollowerOptions = {
  readonly engine: Pick<EngineClient, 'log'>
  readonly id: string
  readonly origin: () => LogOrigin
  /** Where to begin a log that was never read, Unix ms. */
  readonly sinceMs: number
  readonly cursors: CursorStore
  readonly interesting: Prefilter
  readonly progress?: ProgressBook
  readonly emit: (event: LogLine | LogTail) => void
  /** Takes each line, for who looks at the log now. */
  readonly show?: (id: string, t: number, text: string) => void
  readonly counters: LogCounters
  readonly budget: Budget
  /** Whether a stream may be looked at again now: each look costs the engine a pass over the whole log, and an overloaded one must not drown in them. */
  readonly mayLookAgain: () => boolean
}
export type Follower = {
  /** `hasEnded`: the run is over, so what is read now is its last. Resolves at the end of the log as it is now (`follow: false`), or of the container's run. */
  readonly read: (follow: boolean, signal: AbortSignal, hasEnded?: boolean) => Promise<LogEnd>
  /** Asks for the newest line when the stream has been silent for a while; one that the stream left out ends it. Resolves with whether it did. */
  readonly check: (signal: AbortSignal) => Promise<boolean>
}

/** A cursor so far ahead of the clock means that the clock was set back: lines since then bear earlier times. */
const CLOCK_SET_BACK_MS = 60_000
/**
 * A follower of Docker (20.10.24) that is behind when a log is turned over twice goes on with the newest file and leaves out what is between.
 * So where a stream that had kept up is read late and then leaps in time, it is looked at again: a new stream reads the files in their order.
 */
const LEAP_MS = 1_500
const LATE_MS = 1_500
const KEPT_UP_MS = 500
/** Each new stream costs the engine a look through all of the log: a log with many pauses of its own is not looked at for ever. */
const MAX_LEAPS = 5
const DOUBT_MS = 10_000
/**
 * The same engine may never say anything more on a stream after it turned the log over (seen once in 20 minutes of 5 MB/s). So a stream that falls
 * silent is compared with the end of the log: at most once a minute while lines come between, and each ten minutes while none do.
 */
const SILENT_MS = 5_000
const CHECK_MS = 60_000
const RARE_CHECK_MS = 600_000
/** A younger line may still be on its way. */
const DELIVERED_MS = 2_000

export const cursorKey = (id: string): string => `container:${id}`

export function createFollower(options: FollowerOptions): Follower {
  const { engine, id, cursors, counters, budget, show } = options
  const key = cursorKey(id)
  const resume = createResume(cursors.get(key))
  const repeats = createRepeats()
  const tail = createLogTail()
  const progress = options.progress?.tap(options.origin, tail.lines)
  const flow = createLogFlow({
    stream: 'container',
    tail,
    origin: options.origin,
    interesting: options.interesting,
    emit: options.emit,
    counters,
    ...(show === undefined ? {} : { show: (t: number, text: string) => show(id, t, text) }),
    ...(progress === undefined ? {} : { progress }),
  })

  const stampAt = (batch: LineBatch, at: number): string => {
    const head = batch.heads[at] ?? 0
    return batch.bytes.toString('latin1', head, Math.max(head, (batch.starts[at] ?? 0) - 1))
  }
  const facts: LineFacts = {
    timeOf: (batch, at) => stampMs(stampAt(batch, at)) ?? Date.now(),
    cursorOf: stampAt,
  }
  /** Of the stream that is open: it has kept up; the newest time that it told and when that was read, Unix ms; it left something out. */
  let keptUp = false
  let newestMs = 0
  let readAt = 0
  let leapt = false
  /** How long a stream has been silent must not depend on a clock that someone sets: ms of one that only rises. */
  let heardAt = Number.NEGATIVE_INFINITY
  let openedAt = Number.NEGATIVE_INFINITY
  let checkedAt = Number.NEGATIVE_INFINITY
  /** Streams since one last kept up that ended with a leap, and where the last of these leapt to: when the next one begins there, nothing was left out. */
  let leaps = 0
  let leaptTo = 0
  /** Ends the open stream. */
  let stream: AbortController | undefined
  /** The engine may leave out a file also between what it reads from the files and what it follows. */
  const inDoubt = (): boolean => leaps > 0 && performance.now() - openedAt < DOUBT_MS
  const watchForLeap = (batch: LineBatch, nowMs: number): void => {
    const first = stampMs(stampAt(batch, 0)) ?? nowMs
    const doubt = inDoubt()
    if (leaps >= MAX_LEAPS || !(doubt || (keptUp && (readAt - newestMs >= LATE_MS || nowMs - first >= LATE_MS)))) return
    let [before, beforeReadAt] = [newestMs, readAt]
    for (let at = 0; at < batch.count; at++) {
      const time = stampMs(stampAt(batch, at)) ?? before
      if ((doubt || beforeReadAt - before >= LATE_MS) && time - before >= LEAP_MS && time !== leaptTo) {
        leaptTo = time
        if (!options.mayLookAgain()) {
          counters.skip('gone')
          continue
        }
        leapt = true
        leaps++
        throw new Error('the engine leapt over a part of the log')
      }
      before = Math.max(before, time)
      beforeReadAt = nowMs
    }
  }
  const commit = (): void => {
    const cursor = resume.cursor()
    if (cursor !== undefined) cursors.set(key, cursor)
  }
  const onBatch = (batch: LineBatch): void => {
    repeats.sift(batch)
    if (batch.count === 0) return
    const nowMs = Date.now()
    watchForLeap(batch, nowMs)
    resume.sift(batch)
    if (batch.count === 0) return
    flow.take(batch, facts)
    const newest = stampMs(stampAt(batch, batch.count - 1))
    if (newest !== undefined) {
      counters.behind(Math.max(0, nowMs - newest))
      newestMs = newest
      readAt = nowMs
      heardAt = performance.now()
      keptUp ||= nowMs - newest < KEPT_UP_MS
      if (keptUp && !inDoubt()) leaps = 0
    }
    flow.settle(commit)
  }
  const since = (): string => {
    const now = Date.now()
    const stamp = resume.stamp()
    const read = stamp === undefined ? undefined : stampMs(stamp)
    if (stamp !== undefined && read !== undefined && read - now < CLOCK_SET_BACK_MS) return stampSince(stamp) ?? '0'
    return (Math.max(0, read === undefined ? options.sinceMs : now - 10_000) / 1000).toFixed(3)
  }

  return {
    async read(follow, signal, hasEnded = false) {
      resume.reopen()
      repeats.reopen()
      keptUp = false
      leapt = false
      openedAt = performance.now()
      const own = new AbortController()
      if (follow) stream = own
      const frames = createFrameReader({ onBatch, onCut: () => counters.skip('cut') })
      let whole = false
      try {
        const end = await engine.log({ id, follow, since: since(), signal: AbortSignal.any([signal, own.signal]), budget, onChunk: frames.push })
        whole = true
        return end
      } catch (error) {
        // Not a failure: the next stream begins where this one leapt.
        if (leapt || (own.signal.aborted && !signal.aborted)) return 'end'
        throw error
      } finally {
        if (stream === own) stream = undefined
        // A stream that broke comes again from the cursor: half a line of it must not be judged twice.
        if (whole) frames.end()
        flow.end()
        commit()
        // The stream of a run that ended is whole; the next run begins a new one.
        if (whole && (follow || hasEnded)) options.emit({ type: 'log_tail', t: Date.now(), origin: options.origin(), lines: tail.finish() })
      }
    },
    async check(signal) {
      const checked = stream
      const now = performance.now()
      const pause = heardAt > checkedAt ? CHECK_MS : RARE_CHECK_MS
      if (checked === undefined || now - heardAt < SILENT_MS || now - openedAt < SILENT_MS || now - checkedAt < pause) return false
      checkedAt = now
      const nowMs = Date.now()
      let last = 0
      const onBatch = (batch: LineBatch): void => void (last = Math.max(last, stampMs(stampAt(batch, batch.count - 1)) ?? 0))
      const frames = createFrameReader({ onBatch, onCut: () => {} })
      await engine.log({ id, follow: false, since: undefined, tail: 1, signal, budget, onChunk: frames.push })
      frames.end()
      // What came meanwhile shows that the stream lives.
      if (last <= newestMs || last > nowMs - DELIVERED_MS || heardAt > now || checked !== stream) return false
      checked.abort()
      return true
    },
  }
}
