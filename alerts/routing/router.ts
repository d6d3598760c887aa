// Who is notified of an incident, when, and together with what. Pure: it is given what was sent before, and the time.
import { isIncidentRoute, type Route } from '../../agent/model/alert-settings.ts'
import type { IncidentSummary } from '../../agent/model/incident.ts'
import type { NotificationReason, LastNotification } from '../../agent/model/notification.ts'
import { routeDefaults } from '../../agent/config/sections/routes.ts'
import type { Known, Plan, Router } from './definition.ts'
import { fits, labelOf } from './match.ts'
import { quietUntil, rankOf } from './quiet.ts'

/** What followed from an incident comes for this long as one further message, as most of it comes within seconds. */
const FOLLOW_UP_MS = 30_000
/** How long after the notification of its cause. */
const FOLLOWS_WITHIN_MS = 60_000

export type RoutedNotifier = {
  readonly name: string
  /** The receiver keeps a state: it gets everything at once, and the sender repeats it. */
  readonly refreshMs?: number
}

/** Where no route about incidents is configured: every notifier, all but mere information. */
export const defaultRoute = (notifiers: readonly RoutedNotifier[]): Route => ({
  ...routeDefaults,
  to: notifiers.map(({ name }) => name),
  match: { severity: ['warning', 'critical'] },
})

/** Why to notify now; undefined: not now. */
function reasonFor(incident: IncidentSummary, last: LastNotification | undefined): Exclude<NotificationReason, 'held' | 'test' | 'repeat'> | undefined {
  if (incident.status === 'pending' || incident.silenced !== undefined) return undefined
  // No resolved message to a notifier that never got the firing one.
  if (incident.status === 'resolved') return last?.event === 'firing' ? 'resolved' : undefined
  if (last?.event !== 'firing') return 'new'
  return rankOf(incident.severity) > rankOf(last.severity) ? 'worse' : undefined
}

export function createRouter(configured: readonly Route[], notifiers: readonly RoutedNotifier[]): Router {
  const routes = !configured.some(isIncidentRoute) ? [...configured, defaultRoute(notifiers)] : configured

  const routeOf = (incident: IncidentSummary, notifier: string, last: LastNotification | undefined): number => {
    const first = (as: IncidentSummary): number => routes.findIndex((route) => route.to.includes(notifier) && fits(route, as))
    const found = first(incident)
    // Its severity may have fallen since: notifiers that got it at the higher severity get the resolved message.
    return found >= 0 || last?.event !== 'firing' || incident.status !== 'resolved' ? found : first({ ...incident, severity: last.severity })
  }
  const groupOf = (number: number, incident: IncidentSummary): string =>
    JSON.stringify([number, ...(routes[number]?.groupBy ?? []).map((label) => labelOf(incident, label) ?? '')])

  /** That of the incident with which its story began, where that goes the same way. */
  const groupIn = (number: number, incident: IncidentSummary, notifier: string, known: Known): string => {
    const { id, story = id } = incident
    const grouped = (routes[number]?.groupBy.length ?? 0) > 0
    const root = story === id || !grouped ? undefined : known.incident(story)
    return groupOf(number, root !== undefined && routeOf(root, notifier, undefined) === number ? root : incident)
  }

  /** How long what followed from another incident waits for more of its kind. */
  const followUpMs = ({ part_of, severity }: IncidentSummary, notifier: string, known: Known, t: number): number => {
    const cause = part_of === undefined ? undefined : known.lastNotification(part_of.id, notifier)
    if (cause?.event !== 'firing' || t - cause.at >= FOLLOWS_WITHIN_MS) return 0
    // What is worse than all that they were sent so far does not wait.
    return rankOf(severity) > rankOf(cause.severity) ? 0 : FOLLOW_UP_MS
  }

  const planFor = ({ name, refreshMs }: RoutedNotifier, incident: IncidentSummary, known: Known, t: number): Plan | undefined => {
    const last = known.lastNotification(incident.id, name)
    const number = routeOf(incident, name, last)
    const route = routes[number]
    if (route === undefined) return undefined
    const reason = reasonFor(incident, last)
    if (refreshMs !== undefined)
      return reason === undefined ? undefined : { notifier: name, group: groupOf(number, incident), event: eventOf(reason), reason, dueAt: t }
    if (reason === 'resolved' && !route.resolved) return undefined
    if (reason === undefined && !isRepeatDue(route, incident, last, t)) return undefined
    const wait = reason === 'worse' ? 0 : route.waitMs
    const due = t + (reason === 'new' ? Math.max(wait, followUpMs(incident, name, known, t)) : wait)
    // They were called for it when it was at its worst, so they hear when it is over.
    const severity = reason === 'resolved' && last !== undefined && rankOf(last.severity) > rankOf(incident.severity) ? last.severity : incident.severity
    const dueAt = quietUntil(route.quiet, severity, due)
    if (reason === undefined && dueAt > due) return undefined
    const group = groupIn(number, incident, name, known)
    return { notifier: name, group, event: eventOf(reason), reason: dueAt > due ? 'held' : (reason ?? 'repeat'), dueAt }
  }

  return {
    plan: (incident, known, t) => notifiers.flatMap((notifier) => planFor(notifier, incident, known, t) ?? []),
  }
}

const eventOf = (reason: NotificationReason | undefined) => (reason === 'resolved' ? ('resolved' as const) : ('firing' as const))

/** What quiet hours held back counts as sent when they were over. */
function isRepeatDue({ repeatMs, quiet }: Route, incident: IncidentSummary, last: LastNotification | undefined, t: number): boolean {
  if (repeatMs === undefined || incident.status !== 'firing' || incident.silenced !== undefined || incident.acknowledged !== undefined) return false
  return last?.event === 'firing' && last.at + repeatMs <= t && quietUntil(quiet, last.severity, last.at) + repeatMs <= t
}
