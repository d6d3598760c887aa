// Who is notified of a run that has ended: of the routes about runs that name a notifier, the first that fits.
import { severityOfRun, type Run } from '../../agent/model/job.ts'
import type { Route } from '../../agent/model/alert-settings.ts'
import type { OutboxRunPlan } from '../../agent/store/outbox/waiting.ts'
import { fitsRun } from './match.ts'
import { quietUntil } from './quiet.ts'

/** Its last log lines, and the incident that they are, come a moment after the end. */
export const EXPLAINED_WITHIN_MS = 3_000

/** Pure. `notifiers`: those that can be sent runs. */
export function planRun(routes: readonly Route[], notifiers: readonly string[], run: Run, t: number): readonly OutboxRunPlan[] {
  return notifiers.flatMap((notifier): readonly OutboxRunPlan[] => {
    const number = routes.findIndex((route) => route.to.includes(notifier) && fitsRun(route, run))
    const route = routes[number]
    if (route === undefined) return []
    const due = t + Math.max(route.waitMs, EXPLAINED_WITHIN_MS)
    const dueAt = quietUntil(route.quiet, severityOfRun(run), due)
    return [{ notifier, group: JSON.stringify(['run', number]), reason: dueAt > due ? 'held' : 'new', dueAt }]
  })
}
