// Actions as an output: what the user has set for incidents, and the processes that a signal reaches.
import { createActions } from '../actions/service.ts'
import { parseStat } from '../attribution/proc-files.ts'
import { readSmallFile } from '../attribution/small-file.ts'
import type { Config } from '../config/schema.ts'
import type { ActionResult } from '../model/action.ts'
import type { IncidentSummary } from '../model/incident.ts'
import type { JobInterest } from '../model/job.ts'
import type { TakesIncidents, TakesTicks } from '../model/sink.ts'
import type { Log } from '../model/source.ts'
import { createActionStore } from '../store/actions.ts'
import { messageOf } from '../text/error.ts'
import { counted } from '../text/grammar.ts'
import type { Present } from './present.ts'

export type ActionsOutputOptions = { readonly config: Config; readonly present: Pick<Present, 'latest'>; readonly log: Log }
export type ActionsOutput = TakesIncidents &
  TakesTicks & {
    readonly of: (incident: string) => readonly ActionResult[]
    /** `jobs`: by whose first process a job is reached. */
    readonly start: (firing: readonly IncidentSummary[], jobs: Pick<JobInterest, 'roots'>) => void
    readonly stop: () => Promise<void>
  }

const NONE: ActionsOutput = { name: 'actions', incident() {}, tick() {}, of: () => [], start() {}, stop: () => Promise.resolve() }

/** Without a configured action nothing of this runs, and nothing is written. */
export function createActionsOutput({ config, present, log }: ActionsOutputOptions): ActionsOutput {
  if (config.actions.length === 0) return NONE
  const store = createActionStore({ directory: config.data_dir, log })
  let jobs: Pick<JobInterest, 'roots'> = { roots: () => [] }
  const startTicks = (pid: number): number | undefined => {
    try {
      return parseStat(readSmallFile(`${config.host.proc_root}/${pid}/stat`))?.startTicks
    } catch {
      return undefined
    }
  }
  /** The first process of a container; else that with which the job began, which must still be the same one; else the process itself. */
  const targetOf = ({ subject: { container, process } }: IncidentSummary): number | undefined => {
    if (container?.id !== undefined) {
      const pid = Number(present.latest.inventory.container(container.id)?.pid)
      return Number.isSafeInteger(pid) && pid > 1 ? pid : undefined
    }
    if (process === undefined) return undefined
    const roots = jobs.roots().filter((root) => startTicks(root.pid) === root.startTicks)
    const own = roots.find(({ pid }) => pid === process.pid)
    const held = present.latest.inventory.holdings(process.pid).length > 0
    return own?.pid ?? (held && startTicks(process.pid) !== undefined ? process.pid : undefined)
  }
  const actions = createActions({
    // What is simulated must touch nothing of the real host.
    actions: config.simulate.scenario === 'off' ? config.actions : config.actions.map((action) => ({ ...action, dryRun: true })),
    store,
    host: config.host_name,
    env: process.env,
    signal(incident, signal) {
      const pid = targetOf(incident)
      if (pid === undefined) return { done: false, text: `${signal} was not sent: the process of the job is not known, or has ended` }
      try {
        process.kill(pid, signal)
        return { done: true, text: `${signal} sent to process ${pid}` }
      } catch (error) {
        return { done: false, text: `${signal} to process ${pid}: ${messageOf(error)}` }
      }
    },
    log,
  })
  log.warn(
    `${counted(config.actions.length, 'action')} configured: ${config.actions.map(({ name, dryRun }) => `${name}${dryRun ? ' (dry run)' : ''}`).join(', ')}`,
  )
  let isStarted = false
  return {
    name: 'actions',
    incident: (incident) => (isStarted ? actions.incident(incident) : undefined),
    tick: store.maintain,
    of: store.of,
    start(firing, given) {
      jobs = given
      isStarted = true
      actions.recover(firing)
    },
    async stop() {
      isStarted = false
      await actions.settled()
      store.close()
    },
  }
}
