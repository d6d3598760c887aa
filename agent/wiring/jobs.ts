// The jobs of this host: their tracker in the pipeline, and the store that outlives the agent.
import { execKey } from '../jobs/host-processes.ts'
import { heldOf, MOST_WASTE_JOBS, wasteOf } from '../jobs/ledger/waste.ts'
import type { WasteGroup, WasteSummary } from '../model/ledger.ts'
import { createJobTracker } from '../jobs/tracker.ts'
import { rowOf } from '../jobs/live-run.ts'
import type { Config } from '../config/schema.ts'
import type { JobFigures, JobInterest, JobsView, Run } from '../model/job.ts'
import type { TakesEvents, TakesIncidents, TakesTicks } from '../model/sink.ts'
import type { Log } from '../model/source.ts'
import { createJobStore } from '../store/jobs.ts'
import { createLedgerStore } from '../store/ledger.ts'
import { groupsWithUse } from '../store/ledger/groups.ts'

export type Jobs = TakesEvents &
  TakesTicks &
  TakesIncidents & {
    readonly view: JobsView
    /** What was held and not used between two times, Unix ms. */
    readonly waste: (from: number, to: number, by?: WasteGroup) => WasteSummary
    /** Running, and those that ended within the last minute. */
    readonly live: () => readonly Run[]
    /** The run of that `exec`, while it goes on or has just ended. */
    readonly ofExec: (id: string) => Run | undefined
    readonly interest: JobInterest & { readonly figures: () => JobFigures }
    /** Takes up the runs that were open when the agent ended. */
    readonly restore: () => void
    readonly close: () => void
  }

/** A crash loses nothing of it: what was used since is counted from the checkpoint, for those who held a GPU by then. */
const LEDGER_EVERY_MS = 15_000
/** At most this often after a process came or went. */
const URGENT_EVERY_MS = 2_000

/** `ended`: hears of each run that has ended, and again when more is known of how. */
export function createJobs(config: Config, log: Log, ended: (run: Run) => void): Jobs {
  const store = createJobStore({ directory: config.data_dir, log })
  const ledger = createLedgerStore({ directory: config.data_dir, log })
  const tracker = createJobTracker({ nextRun: store.nextRun })
  const save = (moved: boolean): void => {
    const changed = tracker.changed(moved)
    if (changed.length === 0) return
    // First whoever is to hear of it: after a crash in between, the run is still open in the store and ends once more.
    for (const { row } of changed) if (row.outcome !== undefined) ended(row)
    store.save(changed)
  }
  let writtenAt = 0
  /** False: there was nothing to write yet. */
  const writeLedger = (): boolean => {
    const page = tracker.ledger.take()
    if (page.rows.length > 0 && !ledger.write(page.rows, page.checkpoints)) tracker.ledger.giveBack(page)
    return page.rows.length > 0
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
      save(true)
      store.maintain(t)
      ledger.maintain(t)
      if (Math.abs(t - writtenAt) < (tracker.ledger.isUrgent() ? URGENT_EVERY_MS : LEDGER_EVERY_MS)) return
      // An agent that is killed again and again writes as soon as it has looked twice.
      if (writeLedger()) writtenAt = t
    },
    view: {
      ...store,
      groups(by, filter) {
        writeLedger()
        return groupsWithUse(by, store.groups(by, filter), ledger.sums(by, filter.since ?? 0, Number.MAX_SAFE_INTEGER))
      },
    },
    waste(from, to, by) {
      writeLedger()
      const jobs = store.list({ since: from, until: to, limit: MOST_WASTE_JOBS })
      return wasteOf(ledger.held(from, to, by).map(heldOf), jobs, config.costs, { host: config.host_name, from, to }, by)
    },
    live: () => tracker.live().map(rowOf),
    ofExec(id) {
      const run = tracker.live().findLast(({ key }) => key === execKey(id))
      return run === undefined ? undefined : rowOf(run)
    },
    interest: tracker,
    restore() {
      tracker.restore(store.open())
      tracker.ledger.restore(ledger.checkpoints())
    },
    close() {
      save(true)
      writeLedger()
      ledger.close()
      store.close()
    },
  }
}
