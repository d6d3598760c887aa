// Sends what became of a run to those whose routes ask for it, and to the one whom `warpwatch exec --notify` named: through the outbox, once for each run.
import type { Route } from '../agent/model/alert-settings.ts'
import type { Run } from '../agent/model/job.ts'
import type { Outbox } from '../agent/store/outbox.ts'
import { runKey, type OutboxRunPlan } from '../agent/store/outbox/waiting.ts'
import type { BuiltNotifier } from './build.ts'
import type { Delivery } from './delivery/delivery.ts'
import { outgoingRun } from './messages/run-text.ts'
import { EXPLAINED_WITHIN_MS, planRun } from './routing/runs.ts'

export type FinishedRunsOptions = {
  readonly routes: readonly Route[]
  readonly notifiers: readonly BuiltNotifier[]
  readonly outbox: Pick<Outbox, 'putRun' | 'freshenRun' | 'lastNotification'>
  readonly delivery: Pick<Delivery, 'wake'>
  readonly now?: () => number
}
export type FinishedRuns = {
  /** A run has ended, or more is known of how. The outbox has it on disk when this returns. */
  readonly ended: (run: Run) => void
  /** To that notifier too. Returns why not. */
  readonly send: (run: Run, notifier: string) => string | undefined
}

/** Late lines and incidents explain an end for a minute; more than end within one. */
const MAX_PLANNED = 5_000

export function createFinishedRuns({ routes, notifiers, outbox, delivery, now = Date.now }: FinishedRunsOptions): FinishedRuns {
  const takers = notifiers.filter(({ notifier }) => notifier.finished !== undefined).map(({ name }) => name)
  /** Those that this process put into the outbox: one that was open when the last agent was killed ends once more, with less known of it. */
  const planned = new Set<string>()
  const put = (run: Run, plans: readonly OutboxRunPlan[], t: number): void => {
    const fresh = plans.filter(({ notifier }) => outbox.lastNotification(notifier, runKey(run)) === undefined)
    if (fresh.length === 0) return
    outbox.putRun(outgoingRun(run), fresh, t)
    planned.add(runKey(run))
    const oldest = planned.size > MAX_PLANNED ? planned.values().next().value : undefined
    if (oldest !== undefined) planned.delete(oldest)
    for (const { notifier } of fresh) delivery.wake(notifier)
  }
  return {
    ended(run) {
      if (planned.has(runKey(run))) outbox.freshenRun(outgoingRun(run))
      const t = now()
      put(run, planRun(routes, takers, run, t), t)
    },
    send(run, notifier) {
      if (!takers.includes(notifier)) {
        const found = notifiers.find(({ name }) => name === notifier)
        if (found !== undefined) return `the notifier ${notifier} is of type ${found.type}, which takes incidents only`
        return `no notifier is called ${notifier}; ${takers.length === 0 ? 'there are none' : `there are ${takers.join(', ')}`}`
      }
      const t = now()
      put(run, [{ notifier, group: JSON.stringify(['run']), reason: 'new', dueAt: t + EXPLAINED_WITHIN_MS }], t)
      return undefined
    },
  }
}
