// Who is told of an incident, when, and together with what. Pure: it knows what was told before, and what time it is.
import type { Route } from '../../agent/model/alert-settings.ts'
import type { IncidentSummary } from '../../agent/model/incident.ts'
import type { NotificationReason, ToldState } from '../../agent/model/notification.ts'
import { routeDefaults } from '../../agent/config/sections/routes.ts'
import type { Known, Plan, Router } from './definition.ts'
import { fits, labelOf } from './match.ts'
import { quietUntil, rankOf } from './quiet.ts'

/** What followed from an incident comes for this long as one further message, as most of it comes within seconds. */
const FOLLOW_UP_MS = 30_000
/** How long after its cause was told. */
const FOLLOWS_WITHIN_MS = 60_000

export type RoutedNotifier = {
  readonly name: string
  /** The receiver keeps a state: it is told everything at once, and whoever sends tells it again. */
  readonly refreshMs?: number
}

/** Where no route is configured: every notifier, all but mere information. */
export const defaultRoute = (notifiers: readonly RoutedNotifier[]): Route => ({
  ...routeDefaults,
  to: notifiers.map(({ name }) => name),
  match: { severity: ['warning', 'critical'] },
})

/** Why it is to be told now; undefined: it is not. */
function reasonFor(incident: IncidentSummary, told: ToldState | undefined): Exclude<NotificationReason, 'held' | 'test' | 'repeat'> | undefined {
  if (incident.status === 'pending' || incident.silenced !== undefined) return undefined
  // Whoever was never told that it fires need not hear that it is over.
  if (incident.status === 'resolved') return told?.event === 'firing' ? 'resolved' : undefined
  if (told?.event !== 'firing') return 'new'
  return rankOf(incident.severity) > rankOf(told.severity) ? 'worse' : undefined
}

export function createRouter(configured: readonly Route[], notifiers: readonly RoutedNotifier[]): Router {
  const routes = configured.length > 0 ? configured : [defaultRoute(notifiers)]

  const routeOf = (incident: IncidentSummary, notifier: string, told: ToldState | undefined): number => {
    const first = (as: IncidentSummary): number => routes.findIndex((route) => route.to.includes(notifier) && fits(route, as))
    const found = first(incident)
    // One whose severity has fallen since is over for whoever was told of it while it was higher.
    return found >= 0 || told?.event !== 'firing' || incident.status !== 'resolved' ? found : first({ ...incident, severity: told.severity })
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
    const cause = part_of === undefined ? undefined : known.told(part_of.id, notifier)
    if (cause?.event !== 'firing' || t - cause.at >= FOLLOWS_WITHIN_MS) return 0
    // What is worse than all that they were told so far does not wait.
    return rankOf(severity) > rankOf(cause.severity) ? 0 : FOLLOW_UP_MS
  }

  const planFor = ({ name, refreshMs }: RoutedNotifier, incident: IncidentSummary, known: Known, t: number): Plan | undefined => {
    const told = known.told(incident.id, name)
    const number = routeOf(incident, name, told)
    const route = routes[number]
    if (route === undefined) return undefined
    const reason = reasonFor(incident, told)
    if (refreshMs !== undefined)
      return reason === undefined ? undefined : { notifier: name, group: groupOf(number, incident), event: eventOf(reason), reason, dueAt: t }
    if (reason === 'resolved' && !route.resolved) return undefined
    if (reason === undefined && !isRepeatDue(route, incident, told, t)) return undefined
    const wait = reason === 'worse' ? 0 : route.waitMs
    const due = t + (reason === 'new' ? Math.max(wait, followUpMs(incident, name, known, t)) : wait)
    // They were called for it when it was at its worst, so they hear when it is over.
    const severity = reason === 'resolved' && told !== undefined && rankOf(told.severity) > rankOf(incident.severity) ? told.severity : incident.severity
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

/** What quiet hours kept back counts as told when they were over. */
function isRepeatDue({ repeatMs, quiet }: Route, incident: IncidentSummary, told: ToldState | undefined, t: number): boolean {
  if (repeatMs === undefined || incident.status !== 'firing' || incident.silenced !== undefined || incident.acknowledged !== undefined) return false
  return told?.event === 'firing' && told.at + repeatMs <= t && quietUntil(quiet, told.severity, told.at) + repeatMs <= t
}
