// The jobs of this host: their tracker in the pipeline, and the store that outlives the agent.
import { execKey } from '../jobs/host-processes.ts'
import { groupsWithCost } from '../jobs/ledger/costs.ts'
import { heldOf, MOST_WASTE_JOBS, wasteOf } from '../jobs/ledger/waste.ts'
import type { WasteGroup, WasteSummary } from '../model/ledger.ts'
import { createJobTracker } from '../jobs/tracker.ts'
import { rowOf } from '../jobs/live-run.ts'
import type { Config } from '../config/schema.ts'
import type { JobFigures, JobInterest, JobsView, Run, StoredRun } from '../model/job.ts'
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

/**
 * Sums and figures are written so often. Between that, when the holders of a GPU change, a tail is written with what an agent that is killed would lose: the next
 * agent could only guess which runs held it. Of those who stay it counts the time without looks as well.
 */
const WRITE_EVERY_MS = 15_000
/** More sums are written at once: as a tail they would cost more than that. */
const MAX_TAIL_ROWS = 2_000

/** `ended`: hears of each run that has ended, and again when more is known of how. */
export function createJobs(config: Config, log: Log, ended: (run: Run) => void, makeTracker = createJobTracker): Jobs {
  const store = createJobStore({ directory: config.data_dir, log })
  const ledger = createLedgerStore({ directory: config.data_dir, log })
  const tracker = makeTracker({ nextRun: store.nextRun })
  const save = (moved: boolean): void => {
    const changed = tracker.changed(moved)
    if (changed.length === 0) return
    // First whoever is to hear of it: after a crash in between, the run is still open in the store and ends once more.
    for (const { row } of changed) if (row.outcome !== undefined) ended(row)
    store.save(changed)
  }
  let writtenAt = 0
  let hasTail = false
  let isWritten = false
  const write = (): void => {
    save(true)
    const page = tracker.ledger.take()
    if (page.rows.length === 0 && !hasTail) return
    if (ledger.write(page.rows, page.checkpoints)) hasTail = false
    else tracker.ledger.giveBack(page)
  }
  /** Before a read: it must show what was counted until now. */
  const refresh = (): void => {
    if (!isWritten) write()
    isWritten = true
  }
  const keepTail = (): void => {
    const page = tracker.ledger.page()
    // The energy of GPUs without a process is counted from the last write as well.
    if (page.rows.every(({ owner }) => owner.unheld === true)) return
    if (page.rows.length > MAX_TAIL_ROWS) return write()
    hasTail = ledger.keepTail({ ...page, runs: tracker.moved() }) || hasTail
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
      isWritten = false
      if (Math.abs(t - writtenAt) >= WRITE_EVERY_MS) {
        // Before the write, so that sums do not go to a file that was removed.
        ledger.maintain(t)
        write()
        writtenAt = t
      } else {
        save(false)
        if (tracker.ledger.hasMoved()) keepTail()
      }
      store.maintain(t)
    },
    view: {
      list(filter) {
        refresh()
        return store.list(filter)
      },
      runs(job, limit) {
        refresh()
        return store.runs(job, limit)
      },
      groups(by, filter) {
        refresh()
        return groupsWithCost(groupsWithUse(by, store.groups(by, filter), ledger.sums(by, filter.since ?? 0, Number.MAX_SAFE_INTEGER)), config.costs)
      },
    },
    waste(from, to, by) {
      refresh()
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
      const nameOf = ({ row }: StoredRun): string => `${row.job_id} ${row.run}`
      const kept = ledger.tail()?.runs ?? []
      const newest = new Map(kept.map((run) => [nameOf(run), run]))
      // One that has ended since then has; of one that had, the last part may have come after its end was stored.
      const open = store
        .open()
        .map((run) => newest.get(nameOf(run)) ?? run)
        .filter(({ row }) => row.outcome === undefined)
      store.save([...open, ...kept.filter(({ row }) => row.outcome !== undefined)])
      ledger.recover()
      tracker.restore(open, ledger.checkpoints())
    },
    close() {
      write()
      ledger.close()
      store.close()
    },
  }
}
