// Reads the log of one container from its cursor on, again and again: while it runs as a stream, after its end what it said last.
import type { LogOrigin } from '../../model/event.ts'
import type { LogLine } from '../../model/event.ts'
import type { CursorStore } from '../../store/cursors.ts'
import type { LineBatch } from '../logs/batch.ts'
import type { Budget } from '../logs/budget.ts'
import { createLogFlow } from '../logs/flow.ts'
import type { LineFacts } from '../logs/flow.ts'
import type { LogCounters } from '../logs/metrics.ts'
import type { Prefilter } from '../logs/prefilter.ts'
import { readEngineLog, type LogEnd } from './engine-logs.ts'
import { createFrameReader } from './frames.ts'
import { createRepeats } from './repeats.ts'
import { createResume } from './resume.ts'
import { stampMs, stampSince } from './stamp.ts'

export type FollowerOptions = {
  readonly socketPath: string
  readonly id: string
  readonly origin: () => LogOrigin
  /** Where to begin a log that was never read, Unix ms. */
  readonly sinceMs: number
  readonly cursors: CursorStore
  readonly interesting: Prefilter
  readonly emit: (line: LogLine) => void
  readonly counters: LogCounters
  readonly budget: Budget
}
export type Follower = {
  /** Resolves at the end of the log as it is now (`follow: false`), or of the container's run. */
  readonly read: (follow: boolean, signal: AbortSignal) => Promise<LogEnd>
}

/** A cursor so far ahead of the clock means that the clock was set back: lines since then bear earlier times. */
const CLOCK_SET_BACK_MS = 60_000
/**
 * A follower of Docker (20.10.24) that is behind when a log is turned over twice goes on with the newest file and leaves out what lies between.
 * So where a stream that had kept up is read late and then leaps in time, it is looked at again: a new stream reads the files in their order.
 */
const LEAP_MS = 500
const LATE_MS = 1_000
const KEPT_UP_MS = 500
/** Each new stream costs the engine a look through all of the log: a log with many pauses of its own is not looked at for ever. */
const MAX_LEAPS = 5
const DOUBT_MS = 10_000

export const cursorKey = (id: string): string => `container:${id}`

export function createFollower(options: FollowerOptions): Follower {
  const { socketPath, id, cursors, counters, budget } = options
  const key = cursorKey(id)
  const resume = createResume(cursors.get(key))
  const repeats = createRepeats()
  const flow = createLogFlow({ stream: 'container', origin: options.origin, interesting: options.interesting, emit: options.emit, counters })

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
  /** Streams since one last kept up that ended with a leap, and where the last of these leapt to: when the next one begins there, nothing was left out. */
  let leaps = 0
  let leaptTo = 0
  let openedAt = 0
  /** The engine may leave out a file also between what it reads from the files and what it follows. */
  const inDoubt = (nowMs: number): boolean => leaps > 0 && nowMs - openedAt < DOUBT_MS
  const watchForLeap = (batch: LineBatch, nowMs: number): void => {
    const first = stampMs(stampAt(batch, 0)) ?? nowMs
    const doubt = inDoubt(nowMs)
    if (leaps >= MAX_LEAPS || !(doubt || (keptUp && (readAt - newestMs >= LATE_MS || nowMs - first >= LATE_MS)))) return
    let [before, beforeReadAt] = [newestMs, readAt]
    for (let at = 0; at < batch.count; at++) {
      const time = stampMs(stampAt(batch, at)) ?? before
      if ((doubt || beforeReadAt - before >= LATE_MS) && time - before >= LEAP_MS && time !== leaptTo) {
        leapt = true
        leaps++
        leaptTo = time
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
      keptUp ||= nowMs - newest < KEPT_UP_MS
      if (keptUp && !inDoubt(nowMs)) leaps = 0
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
    async read(follow, signal) {
      resume.reopen()
      repeats.reopen()
      keptUp = false
      leapt = false
      openedAt = Date.now()
      const frames = createFrameReader({ onBatch, onCut: () => counters.skip('cut') })
      let whole = false
      try {
        const end = await readEngineLog({ socketPath, id, follow, since: since(), signal, budget, onChunk: frames.push })
        whole = true
        return end
      } catch (error) {
        // Not a failure: the next stream begins where this one leapt.
        if (leapt) return 'end'
        throw error
      } finally {
        // A stream that broke comes again from the cursor: half a line of it must not be judged twice.
        if (whole) frames.end()
        flow.end()
        commit()
      }
    },
  }
}
