// Hands a log to the progress book as it was written: each chunk at its own time. Deterministic, nothing waits.
import { createLineBuffer } from '../../agent/sources/logs/line-buffer.ts'
import { createProgressBook } from '../../agent/sources/logs/progress-book.ts'
import { readingsOf } from '../../agent/sources/job-progress.ts'

/** Seconds after the start, and what was written then. */
export type Chunk = readonly [seconds: number, bytes: Buffer]
export type Replay = {
  /** Hands on what was written until then, and says what the metrics of the job are at that time, by their short names. */
  readonly at: (seconds: number) => Readonly<Record<string, number>>
}

/** The agent looks at a log file that often while it is written to. */
const LOOK_SECONDS = 0.2
const START_MS = 1_700_000_000_000

export function replayLog(chunks: readonly Chunk[]): Replay {
  let ms = START_MS
  const clock = (): number => ms
  const book = createProgressBook(clock, clock)
  const tap = book.tap(() => ({ container: 'train' }))
  const lines = createLineBuffer({ onBatch: (batch) => tap.take(batch, clock), onCut: () => {} })
  let next = 0
  const look = (seconds: number): void => {
    const from = next
    while (next < chunks.length && (chunks[next]?.[0] ?? Infinity) <= seconds) next += 1
    ms = START_MS + seconds * 1_000
    if (next > from) lines.push(Buffer.concat(chunks.slice(from, next).map(([, bytes]) => bytes)))
    if (lines.held() > 0 && next > from) tap.open(lines.newest())
  }
  let looked = 0
  return {
    at(seconds) {
      for (; looked + LOOK_SECONDS <= seconds; looked += LOOK_SECONDS) look(looked + LOOK_SECONDS)
      look(seconds)
      ms = START_MS + seconds * 1_000
      return Object.fromEntries(
        book.jobs().flatMap((each) => readingsOf(each, ms).map(({ series, value }) => [series.metric.name.replace('warpwatch_job_', ''), value] as const)),
      )
    },
  }
}
