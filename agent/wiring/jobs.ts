// The jobs of this host: their tracker in the pipeline, and the store that outlives the agent.
import { execKey } from '../jobs/host-processes.ts'
import { createJobTracker } from '../jobs/tracker.ts'
import { rowOf } from '../jobs/live-run.ts'
import type { Config } from '../config/schema.ts'
import type { JobFigures, JobInterest, JobsView, Run } from '../model/job.ts'
import type { TakesEvents, TakesIncidents, TakesTicks } from '../model/sink.ts'
import type { Log } from '../model/source.ts'
import { createJobStore } from '../store/jobs.ts'

export type Jobs = TakesEvents &
  TakesTicks &
  TakesIncidents & {
    readonly view: JobsView
    /** Running, and those that ended within the last minute. */
    readonly live: () => readonly Run[]
    /** The run of that `exec`, while it goes on or has just ended. */
    readonly ofExec: (id: string) => Run | undefined
    readonly interest: JobInterest & { readonly figures: () => JobFigures }
    /** Takes up the runs that were open when the agent ended. */
    readonly restore: () => void
    readonly close: () => void
  }

/** Figures of runs that go on move each second; a crash of the agent costs them this much. Whoever asks for them is answered with those of now. */
const FIGURES_EVERY_MS = 10_000

/** `ended`: hears of each run that has ended, and again when more is known of how. */
export function createJobs(config: Config, log: Log, ended: (run: Run) => void): Jobs {
  const store = createJobStore({ directory: config.data_dir, log })
  const tracker = createJobTracker({ nextRun: store.nextRun })
  let figuresAt = 0
  const save = (moved: boolean): void => {
    const changed = tracker.changed(moved)
    if (changed.length === 0) return
    // First whoever is to hear of it: after a crash in between, the run is still open in the store and ends once more.
    for (const { row } of changed) if (row.outcome !== undefined) ended(row)
    store.save(changed)
  }
  return {
    name: 'jobs',
    ingest(event) {
      tracker.ingest(event)
      // Readings change a run each second, which the ticks write; a start or an end is written at once.
      if (event.type !== 'scrape' && event.type !== 'log') save(false)
    },
    incident: tracker.incident,
    tick(t) {
      tracker.tick(t)
      const moved = Math.abs(t - figuresAt) >= FIGURES_EVERY_MS
      if (moved) figuresAt = t
      save(moved)
      store.maintain(t)
    },
    view: {
      list(filter) {
        save(true)
        return store.list(filter)
      },
      groups(by, filter) {
        save(true)
        return store.groups(by, filter)
      },
      runs(job, limit) {
        save(true)
        return store.runs(job, limit)
      },
    },
    live: () => tracker.live().map(rowOf),
    ofExec(id) {
      const run = tracker.live().findLast(({ key }) => key === execKey(id))
      return run === undefined ? undefined : rowOf(run)
    },
    interest: tracker,
    restore: () => tracker.restore(store.open()),
    close() {
      save(true)
      store.close()
    },
  }
}
