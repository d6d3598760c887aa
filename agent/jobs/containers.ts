// Runs of containers: by the events of their engine, and where no engine says anything by the list of those that run.
import type { ContainerEvent } from '../model/event.ts'
import type { JobIdentity } from '../model/job.ts'
import type { Series } from '../model/series.ts'
import { containerJob } from './identity.ts'
import { endRun, signalSent, type LiveRun } from './live-run.ts'
import type { Runs } from './runs.ts'

export type ContainerRuns = {
  readonly event: (event: ContainerEvent) => void
  /** It is listed as running. */
  readonly listed: (series: Series, key: string, t: number) => void
  /** All that run were listed at `t`. */
  readonly allListed: (t: number) => void
  /** Of a process in it; its engine has not said anything of it yet, or there is none. */
  readonly byProcess: (series: Series, key: string, t: number) => LiveRun | undefined
  /** It started some time ago, and no list has named it: its end may have been missed. */
  readonly isMissing: (run: LiveRun) => boolean
  readonly tick: (t: number) => void
}

/** Not listed for so long: it has gone, and no engine said how. */
const ABSENT_MS = 3_000
const SAME_END_MS = 1_000
/** A container can be seen at work before its engine stamps the start: on a busy machine seconds before. */
const TOLD_WITHIN_MS = 10_000
/** An engine is asked for its list each 30 s. */
const UNLISTED_MS = 20_000
const NEVER_LISTED_MS = 90_000

export const containerKey = (id: string): string => `c:${id.slice(0, 12)}`
const isContainer = ({ key }: LiveRun): boolean => key.startsWith('c:')
/** When it was last there, of one that ended while no agent ran. */
const lastSeen = (run: LiveRun, t: number): number => (run.isRestored ? run.seenAt : t)
/** It was not there any more, and nobody has said how it ended. */
const isUnexplained = ({ end }: LiveRun): boolean => end !== undefined && end.exitCode === undefined && end.reported === undefined && end.signal === undefined
/** It is known by more than the id that replaces its name. */
const isNamed = ({ container, container_id: id }: JobIdentity): boolean => container !== id

export function createContainerRuns(runs: Runs): ContainerRuns {
  const { running } = runs
  let now = Number.NEGATIVE_INFINITY
  const unlistedFor = (run: LiveRun): number => (isContainer(run) && !run.wasListed && !run.isRestored ? now - run.seenAt : 0)
  const identityOf = ({ container, container_id, image = '', compose_project = '', compose_service = '', namespace = '', pod = '' }: ContainerEvent) =>
    containerJob({ container, container_id, image, compose_project, compose_service, namespace, pod })
  const started = (event: ContainerEvent, key: string): LiveRun | undefined => {
    // Not every engine tells the labels with the event; until the first list it goes by its name.
    const last = runs.endedLately(key)?.identity
    const identity = last !== undefined && isNamed(last) ? last : identityOf(event)
    return identity === undefined ? undefined : runs.open(key, identity, { at: event.t, before: false }, event.t)
  }
  /** Seen before its start was reported: a slow engine reports it late, perhaps after the container is gone. */
  const isStartOf = (run: LiveRun | undefined, { t }: ContainerEvent): run is LiveRun =>
    run?.sightedAt !== undefined && t <= run.sightedAt + TOLD_WITHIN_MS && (run.end === undefined || t <= run.end.t)
  /** An engine that did not answer in time still names it with its events. */
  const name = (run: LiveRun | undefined, event: ContainerEvent): void => {
    const identity = run === undefined || isNamed(run.identity) ? undefined : identityOf(event)
    if (run !== undefined && identity !== undefined && isNamed(identity)) runs.identify(run, { ...run.identity, ...identity })
  }
  return {
    event(event) {
      const { t, action, exit_code: exitCode, signal } = event
      const key = containerKey(event.container_id)
      const run = running.get(key)
      switch (action) {
        case 'start': {
          const sighted = run ?? runs.endedLately(key)
          if (isStartOf(sighted, event)) {
            sighted.sightedAt = undefined
            name(sighted, event)
            return
          }
          if (run !== undefined) runs.close(run, { t: lastSeen(run, t) })
          started(event, key)
          return
        }
        case 'kill': {
          // The engine reports a signal after sending it: perhaps after the end, and even later after a broken stream.
          const hit = runs.at(key, t) ?? [run, runs.endedLately(key)].find((one) => one?.startedBefore === true)
          if (hit !== undefined && signal !== undefined) signalSent(hit, { t, signal })
          return
        }
        case 'oom': {
          const hit = run ?? runs.endedLately(key)
          if (hit === undefined) return
          // The engine's state holds from the kill to the next start; when it was, the counter may have told.
          if (hit.end === undefined || hit.oomKilledAt === undefined) hit.oomKilledAt = t
          if (hit.end !== undefined) endRun(hit, hit.end)
          return
        }
        case 'die':
        case 'died': {
          // The same end may be told twice; one that could not be started dies without a start.
          const ended = runs.endedLately(key)
          name(run ?? ended, event)
          // An engine that was too busy to answer tells the end only after the container was missed.
          if (run === undefined && ended !== undefined && isUnexplained(ended) && t >= ended.startedAt)
            return endRun(ended, { t, exitCode, startError: event.error })
          if (run === undefined && Math.abs((ended?.end?.t ?? Number.NEGATIVE_INFINITY) - t) < SAME_END_MS) return
          const dead = run ?? started(event, key)
          if (dead !== undefined) runs.close(dead, { t, exitCode, startError: event.error })
          return
        }
        case 'destroy':
        case 'remove':
          if (run !== undefined) runs.close(run, { t: lastSeen(run, t) })
          return
        default:
      }
    },
    listed({ labels }, key, t) {
      const identity = containerJob(labels)
      if (identity === undefined) return
      const startedAt = labels['started'] === undefined ? undefined : Number(labels['started']) * 1_000
      let run = running.get(key)
      if (run?.isRestored === true && startedAt !== undefined && startedAt > run.seenAt) {
        // It ended and was started again while no agent ran.
        runs.close(run, { t: run.seenAt })
        run = undefined
      }
      if (run === undefined) {
        const last = runs.endedLately(key)
        // A list that was made before its end came.
        if (last?.end !== undefined && (startedAt ?? 0) <= last.end.t) return
        run = runs.open(key, identity, { at: startedAt ?? t, before: startedAt === undefined }, t)
        if (run === undefined) return
        run.sightedAt = t
      }
      // Its processes say who runs them, its engine does not. A list that was made before its name was known knows less than the run.
      const { user, uid } = run.identity
      const known = isNamed(run.identity) && !isNamed(identity) ? run.identity : identity
      runs.identify(run, user === undefined || known.user !== undefined ? known : { ...known, user, ...(uid === undefined ? {} : { uid }) })
      run.isRestored = false
      run.wasListed = true
      run.seenAt = t
      run.absentSince = undefined
    },
    allListed(t) {
      for (const run of running.values()) if (isContainer(run) && run.wasListed && run.seenAt < t) run.absentSince ??= t
    },
    byProcess({ labels }, key, t) {
      const identity = containerJob(labels)
      if (identity === undefined || runs.endedLately(key) !== undefined) return undefined
      const run = runs.open(key, identity, { at: t, before: true }, t)
      if (run !== undefined) run.sightedAt = t
      return run
    },
    isMissing: (run) => unlistedFor(run) > UNLISTED_MS,
    tick(t) {
      now = t
      for (const run of running.values())
        if (unlistedFor(run) > NEVER_LISTED_MS) runs.close(run, { t: run.seenAt })
        else if (run.absentSince !== undefined && Math.abs(t - run.absentSince) > ABSENT_MS) runs.close(run, { t: run.absentSince })
    },
  }
}
