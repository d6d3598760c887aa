// How far the jobs are whose logs are read: one tap a log, asked once in a while for what its job says.
import type { LogOrigin } from '../../model/event.ts'
import type { Progress } from '../../progress/reader.ts'
import { createProgressTap, type ProgressTap } from './progress-tap.ts'

export type JobProgress = {
  readonly job: string
  /** Where several ranks say their own. */
  readonly rank?: number
  readonly progress: Progress
  /** When the step, or a rate without steps, was last reported with a new value; Unix ms. */
  readonly progressedAt: number
  /** How often the step of the job rose, also between two looks. */
  readonly rises: number
}
export type LogTap = Pick<ProgressTap, 'take' | 'open'> & { readonly end: () => void }
export type ProgressBook = {
  /** For the lines of one log. */
  readonly tap: (origin: () => LogOrigin, lines?: () => readonly string[]) => LogTap
  /** What the log of a job ended with so far; empty where nobody keeps it. */
  readonly lastLines: (job: string) => readonly string[]
  readonly jobs: () => readonly JobProgress[]
}

/** Logs whose job has said nothing of its progress for a day say nothing of a job any more. */
const FORGOTTEN_MS = 24 * 3_600_000
const MAX_LOGS = 1_024
const MAX_RANKS = 16

type Entry = {
  readonly origin: () => LogOrigin
  readonly tap: ProgressTap
  readonly lines: () => readonly string[]
  newest: number
  said: number
  at: number
  readonly steps: Map<number, { step: number | undefined; at: number }>
}
/** The whole job among the ranks. */
const WHOLE = -1

/** `wall` and `now`: other clocks, for a log that is replayed. */
export function createProgressBook(wall: () => number = Date.now, now: () => number = () => performance.now()): ProgressBook {
  const entries = new Set<Entry>()

  const sayings = (entry: Entry, job: string): readonly JobProgress[] => {
    const { reader } = entry.tap
    const whole = reader.progress(false)
    if (whole === undefined || wall() - entry.at > FORGOTTEN_MS) return []
    const ranks = [...reader.ranks(false)].slice(0, MAX_RANKS)
    const reported: readonly (readonly [number, Progress])[] = ranks.length > 1 ? ranks : [[WHOLE, whole]]
    return reported.map(([rank, progress]) => {
      const before = entry.steps.get(rank)
      const moved = before === undefined || progress.step === undefined ? reader.said() !== entry.said : progress.step !== before.step
      const at = moved || before === undefined ? entry.newest : before.at
      entry.steps.set(rank, { step: progress.step, at })
      return { job, progress, progressedAt: at, rises: reader.rises(), ...(rank === WHOLE ? {} : { rank }) }
    })
  }
  return {
    tap(origin, lines = () => []) {
      const tap = createProgressTap(() => Math.max(1, entries.size), now, wall)
      const entry: Entry = { origin, tap, lines, newest: wall(), said: 0, at: wall(), steps: new Map() }
      if (entries.size < MAX_LOGS) entries.add(entry)
      return {
        take(batch, timeOf) {
          // A log that went silent speaks again.
          if (entries.size < MAX_LOGS) entries.add(entry)
          tap.take(batch, timeOf)
          if (batch.count > 0) entry.newest = timeOf(batch.count - 1)
        },
        open(bytes) {
          tap.open(bytes)
          entry.newest = wall()
        },
        end: () => entries.delete(entry),
      }
    },
    lastLines(job) {
      return [...entries].flatMap(({ origin, lines }) => ((({ container, path }) => container ?? path)(origin()) === job ? lines() : []))
    },
    jobs() {
      const found = new Map<string, readonly JobProgress[]>()
      for (const entry of entries) {
        const { container, path } = entry.origin()
        const job = container ?? path
        if (job === undefined) continue
        entry.tap.settle()
        const said = sayings(entry, job)
        const count = entry.tap.reader.said()
        if (count !== entry.said) [entry.said, entry.at] = [count, wall()]
        // Of several logs of one job (a container's earlier run) the newest speaks.
        const other = found.get(job)?.[0]
        if (said.length > 0 && (other === undefined || (said[0]?.progressedAt ?? 0) > other.progressedAt)) found.set(job, said)
      }
      return [...found.values()].flat()
    },
  }
}
