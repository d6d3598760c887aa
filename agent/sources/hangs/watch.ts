// How one job is followed: by its own rhythm, and while that is not known by what its processes do.
import { createQuietWatch, type QuietWatch } from '../../hang/notice/quiet.ts'
import { createStandstill, type Standstill } from '../../hang/notice/standstill.ts'
import type { HangEvent } from '../../model/event.ts'
import type { WatchedJob } from './jobs.ts'

export type Entry = {
  readonly still: Standstill
  readonly quiet: QuietWatch
  readonly workedBefore: number
  job: WatchedJob
  seenAt: number
  looking: boolean
  reported: HangEvent | undefined
  /** Looks in a row to which no agent of the job's other hosts had anything to add. */
  unanswered: number
  complained: string
}

/** By which of its two watches a job is to be looked at. */
export type Due = { readonly by: 'still' | 'quiet'; readonly silentMs: number }

/** A job whose GPUs have computed for less is in its first steps, in which some ranks wait long for others. */
const WARM_MS = 60_000

export function createEntry(job: WatchedJob, t: number, afterMs: number): Entry {
  const quiet = createQuietWatch(afterMs)
  if (job.by === 'gpu') quiet.active(t, 0)
  return {
    still: createStandstill(afterMs),
    quiet,
    workedBefore: job.worked ?? 0,
    job,
    seenAt: t,
    looking: false,
    reported: undefined,
    unanswered: 0,
    complained: '',
  }
}

/** Passes on what the job has done now. */
export function follow({ job, still, quiet }: Entry, t: number): void {
  if (job.progressedAt > 0) still.progressed(job.progressedAt)
  // Steps that follow each other fast are one sign of life; what a long phase counts is no step.
  if (job.by === 'log') quiet.active(job.progressedAt, 1 + Math.max(still.pauses(), job.busyWith === undefined ? (job.rises ?? 0) : 0))
  else if (job.computes === true) quiet.active(t, 0)
}

/** By its rhythm where that is known; else, and where its GPUs idle or are in their first steps, by what its processes do. */
export function dueOf({ job, still, quiet, workedBefore }: Entry, t: number): Due | undefined {
  const rhythm = job.by === 'log' || (job.worked ?? 0) - workedBefore >= WARM_MS
  const byRhythm = rhythm && !quiet.hangs() ? still.due(t) : undefined
  if (byRhythm !== undefined) return { by: 'still', silentMs: byRhythm }
  const quietMs = (job.by === 'gpu' || still.usual() === undefined) && !still.hangs() ? quiet.due(t) : undefined
  return quietMs === undefined ? undefined : { by: 'quiet', silentMs: quietMs }
}
