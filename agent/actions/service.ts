// Does what the user has set for incidents: each action once for an incident, not more often than allowed, and its result is kept with the incident.
import type { Action, ActionResult } from '../model/action.ts'
import type { IncidentSummary } from '../model/incident.ts'
import { messagePagePath } from '../model/message-pages.ts'
import type { Log } from '../model/source.ts'
import type { ActionStore } from '../store/actions.ts'
import { execute, type Executed } from './execute.ts'
import { callsFor, fill, variablesOf } from './plan.ts'

export type ActionsOptions = {
  readonly actions: readonly Action[]
  readonly store: ActionStore
  readonly host: string
  /** The agent's own, of which a command gets what its action names. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Sends a signal to the first process of the job that an incident hit; returns what was done, or why not. */
  readonly signal: (incident: IncidentSummary, signal: NodeJS.Signals) => { readonly done: boolean; readonly text: string }
  readonly log: Log
  readonly now?: () => number
}
export type Actions = {
  readonly incident: (incident: IncidentSummary) => void
  /** After a restart: incidents that still fire may call for an action that was never begun. */
  readonly recover: (incidents: readonly IncidentSummary[]) => void
  /** Resolves when what runs has ended. */
  readonly settled: () => Promise<void>
}

const HOUR_MS = 3_600_000
/** An incident of before is not acted upon when an action is new. */
const FRESH_MS = 10 * 60_000
/** What a program needs to find others, and nothing else of the agent's environment. */
const BASE_ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }
/** More at once would be a storm; those that come later are skipped with that reason. */
const MAX_RUNNING = 4

export function createActions({ actions, store, host, env, signal, log, now = Date.now }: ActionsOptions): Actions {
  const running = new Set<Promise<void>>()
  const whyNot = ({ name, cooldownMs, perHour }: Action, t: number): string | undefined => {
    const times = store.times(name, t - Math.max(HOUR_MS, cooldownMs))
    const last = times.at(-1)
    if (last !== undefined && t - last < cooldownMs) return `it was done ${Math.round((t - last) / 1_000)} s ago, which is within its cooldown`
    if (times.filter((at) => t - at < HOUR_MS).length >= perHour) return `it was done ${perHour} times within the last hour, which is its limit`
    if (running.size >= MAX_RUNNING) return `${MAX_RUNNING} other actions are running`
    return undefined
  }
  const finish = (incident: IncidentSummary, begun: ActionResult, more: Omit<ActionResult, 'action' | 'at'>): void => {
    store.finish(incident.id, { ...begun, ...more })
    const isBad = more.state === 'failed' || more.state === 'timeout'
    log.info(`action ${begun.action} for incident ${incident.id}: ${more.state}: ${more.text}${isBad ? ` (${messagePagePath('action_result')})` : ''}`)
  }
  const resultOf = ({ state, text, tookMs, exitCode, output }: Executed): Omit<ActionResult, 'action' | 'at'> => ({
    state,
    text,
    took_ms: tookMs,
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
    ...(output === undefined ? {} : { output }),
  })
  const run = (action: Action, incident: IncidentSummary): void => {
    const t = now()
    const { name, command } = action
    const filled = fill(command, incident, host)
    const reason = 'missing' in filled ? `the incident names no ${filled.missing}` : whyNot(action, t)
    const says = action.signal === undefined ? ('argv' in filled ? filled.argv.join(' ') : '') : `${action.signal} to the job`
    const base = { action: name, at: t }
    if (reason !== undefined || 'missing' in filled) return void store.claim(incident.id, { ...base, state: 'skipped', text: `not done: ${reason}` })
    if (action.dryRun) {
      if (store.claim(incident.id, { ...base, state: 'dry_run', text: `would do: ${says}` }))
        log.info(`action ${name} for incident ${incident.id}, dry run: ${says}`)
      return
    }
    const begun: ActionResult = { ...base, state: 'started', text: says }
    // Claimed on disk before it runs: after a crash it is known to have begun.
    if (!store.claim(incident.id, begun)) return
    if (action.signal !== undefined) {
      const { done, text } = signal(incident, action.signal)
      return finish(incident, begun, { state: done ? 'done' : 'failed', text })
    }
    const named = Object.fromEntries(action.env.flatMap((variable) => (env[variable] === undefined ? [] : [[variable, env[variable]]])))
    const work = execute({ argv: filled.argv, env: { ...BASE_ENV, ...variablesOf(incident, host), ...named }, timeoutMs: action.timeoutMs })
      .then((executed) => finish(incident, begun, resultOf(executed)))
      .finally(() => running.delete(work))
    running.add(work)
  }
  const incident = (of: IncidentSummary): void => {
    for (const action of actions) if (callsFor(action, of) && !store.of(of.id).some((result) => result.action === action.name)) run(action, of)
  }
  return {
    incident,
    recover(incidents) {
      store.interrupt()
      for (const of of incidents) if (Math.abs(now() - (of.fired_at ?? of.started_at)) < FRESH_MS) incident(of)
    },
    async settled() {
      await Promise.all(running)
    },
  }
}
