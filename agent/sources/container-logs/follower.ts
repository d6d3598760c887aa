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
  const commit = (): void => {
    const cursor = resume.cursor()
    if (cursor !== undefined) cursors.set(key, cursor)
  }
  const onBatch = (batch: LineBatch): void => {
    repeats.sift(batch)
    if (batch.count === 0) return
    resume.sift(batch)
    if (batch.count === 0) return
    flow.take(batch, facts)
    const newest = stampMs(stampAt(batch, batch.count - 1))
    if (newest !== undefined) counters.behind(Math.max(0, Date.now() - newest))
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
      const frames = createFrameReader({ onBatch, onCut: () => counters.skip('cut') })
      let whole = false
      try {
        const end = await readEngineLog({ socketPath, id, follow, since: since(), signal, budget, onChunk: frames.push })
        whole = true
        return end
      } finally {
        // A stream that broke comes again from the cursor: half a line of it must not be judged twice.
        if (whole) frames.end()
        flow.end()
        commit()
      }
    },
  }
}
