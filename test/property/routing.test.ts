// The router over any life of incidents: what it may never do, and what it must.
import * as fc from '../setup/fast-check.ts'
import { expect, test } from 'vitest'
import type { Route } from '../../agent/model/alert-settings.ts'
import { SEVERITIES, type Severity } from '../../agent/model/severity.ts'
import type { IncidentSummary } from '../../agent/model/incident.ts'
import type { LastNotification } from '../../agent/model/notification.ts'
import type { Plan } from '../../alerts/routing/definition.ts'
import { fits } from '../../alerts/routing/match.ts'
import { quietUntil, rankOf } from '../../alerts/routing/quiet.ts'
import { createRouter, defaultRoute } from '../../alerts/routing/router.ts'
import { createBook, incident, MINUTE, T0 } from '../unit/alerts/routing-scene.ts'

const NOTIFIERS = [{ name: 'team' }, { name: 'pager' }, { name: 'state', refreshMs: MINUTE }]
const NAMES = NOTIFIERS.map(({ name }) => name)
const CONTAINERS = ['train-1', 'train-2', 'serve']

const some = <T>(values: readonly T[]): fc.Arbitrary<T[]> => fc.subarray([...values], { minLength: 1 })
const routeOf: fc.Arbitrary<Route> = fc
  .record({
    to: some(NAMES),
    severity: fc.option(some(SEVERITIES), { nil: undefined }),
    container: fc.option(some(['train-*', 'serve']), { nil: undefined }),
    groupBy: fc.subarray(['container', 'kind'] as const),
    waitMs: fc.constantFrom(0, 200, 10 * MINUTE),
    repeatMs: fc.option(fc.constantFrom(MINUTE, 60 * MINUTE), { nil: undefined }),
    quiet: fc.array(
      fc.record({
        from: fc.nat({ max: 1_439 }),
        to: fc.nat({ max: 1_440 }),
        days: fc.subarray([0, 1, 2, 3, 4, 5], { minLength: 1 }),
        zone: fc.constantFrom('UTC', 'Europe/Berlin'),
        except: fc.constantFrom<Severity>('critical', 'warning'),
      }),
      { maxLength: 2 },
    ),
    resolved: fc.boolean(),
  })
  .map(({ severity, container, repeatMs, ...rest }) => ({
    ...rest,
    match: { ...(severity === undefined ? {} : { severity }), ...(container === undefined ? {} : { container }) },
    ...(repeatMs === undefined ? {} : { repeatMs }),
  }))

type Step = { readonly after: number; readonly what: IncidentSummary }
const step: fc.Arbitrary<Step> = fc
  .record({
    after: fc.constantFrom(0, 100, 5_000, 5 * MINUTE, 7 * 60 * MINUTE),
    id: fc.constantFrom('a', 'b', 'c'),
    status: fc.constantFrom<IncidentSummary['status']>('pending', 'firing', 'firing', 'firing', 'resolved'),
    severity: fc.constantFrom(...SEVERITIES),
    container: fc.constantFrom(...CONTAINERS),
    silenced: fc.constantFrom(false, false, false, true),
    acknowledged: fc.constantFrom(false, false, true),
    cause: fc.constantFrom(undefined, 'a', 'b'),
  })
  .map(({ after, id, status, severity, container, silenced, acknowledged, cause }) => ({
    after,
    what: incident({
      id,
      status,
      severity,
      subject: { container: { name: container } },
      ...(silenced ? { silenced: { until: T0, id: 's' } } : {}),
      ...(acknowledged ? { acknowledged: { at: T0 } } : {}),
      ...(cause === undefined || cause === id ? {} : { story: 'a', part_of: { id: cause, kind: 'memory_leak' } }),
    }),
  }))

type LastNotifications = ReadonlyMap<string, LastNotification | undefined>
/** What is wrong with what was planned at a step, and what had been told before; empty when nothing is. */
type Judge = (what: IncidentSummary, t: number, plans: readonly Plan[], before: LastNotifications) => readonly (string | false)[]

const routeBy = (routes: readonly Route[], { group }: Plan): Route => {
  const parsed: unknown = JSON.parse(group)
  const found = Array.isArray(parsed) ? routes[Number(parsed[0])] : undefined
  if (found === undefined) throw new Error(`expected a group that begins with its route, came ${group}`)
  return found
}
/** Lets incidents live through any steps under any routes. */
function holds(judgeUnder: (routes: readonly Route[]) => Judge): void {
  const property = fc.property(fc.array(routeOf, { maxLength: 4 }), fc.array(step, { minLength: 1, maxLength: 40 }), (configured, steps) => {
    const router = createRouter(configured, NOTIFIERS)
    const judge = judgeUnder(configured.length === 0 ? [defaultRoute(NOTIFIERS)] : configured)
    const book = createBook()
    let t = T0
    const wrong = steps.flatMap(({ after, what }) => {
      t += after
      const before: LastNotifications = new Map(NAMES.map((name) => [name, book.known.lastNotification(what.id, name)]))
      return judge(what, t, book.tell(router, what, t), before).filter((fault) => fault !== false)
    })
    expect(wrong).toEqual([])
  })
  fc.assert(property, { numRuns: 200 })
}

test('each notifier is told at most once, by a route that names it, and nothing of what is pending or silenced', () => {
  expect.hasAssertions()
  holds((routes) => (what, t, plans) => [
    new Set(plans.map(({ notifier }) => notifier)).size < plans.length && 'somebody is told twice',
    (what.status === 'pending' || what.silenced !== undefined) && plans.length > 0 && `told while ${what.status}`,
    ...plans.map((plan) => !routeBy(routes, plan).to.includes(plan.notifier) && `${plan.notifier} is not named`),
    ...plans.map(({ dueAt }) => dueAt < t && 'due before it was planned'),
  ])
})

test('firing goes before resolved, each once; again only as worse, or after the time of the route and not where somebody has acknowledged it', () => {
  expect.hasAssertions()
  holds(
    (routes) => (what, t, plans, before) =>
      plans.flatMap((plan) => {
        const reported = before.get(plan.notifier)
        if (plan.event === 'resolved') return [(what.status !== 'resolved' || reported?.event !== 'firing') && 'resolved without firing before']
        if (reported?.event !== 'firing' || rankOf(what.severity) > rankOf(reported.severity)) return []
        return [
          (plan.reason !== 'repeat' || what.acknowledged !== undefined || plan.notifier === 'state') && `told again as ${plan.reason}`,
          t - reported.at < (routeBy(routes, plan).repeatMs ?? Infinity) && 'told again too soon',
        ]
      }),
  )
})

test('nothing is due in quiet hours; what they keep back is due when they are over', () => {
  expect.hasAssertions()
  holds(
    (routes) => (what, t, plans, before) =>
      plans.flatMap((plan) => {
        const isHeld = plan.reason === 'held'
        if (plan.notifier === 'state') return [(plan.dueAt !== t || isHeld) && 'a receiver with a state waits']
        const { quiet } = routeBy(routes, plan)
        // They hear of the end of what they were called for, however bad it is by then.
        const reported = plan.event === 'resolved' ? before.get(plan.notifier)?.severity : undefined
        const severity = reported !== undefined && rankOf(reported) > rankOf(what.severity) ? reported : what.severity
        return [
          quietUntil(quiet, severity, plan.dueAt) !== plan.dueAt && 'due in quiet hours',
          isHeld && (plan.dueAt <= t || quietUntil(quiet, severity, plan.dueAt - 1) !== plan.dueAt) && 'held for longer than they last',
        ]
      }),
  )
})

test('whatever fires, is not silenced and fits a route has been told to all whom that names', () => {
  expect.hasAssertions()
  holds((routes) => (what, _t, plans, before) => {
    if (what.status !== 'firing' || what.silenced !== undefined) return []
    const named = new Set(routes.filter((route) => fits(route, what)).flatMap(({ to }) => to))
    const has = (name: string): boolean => before.get(name)?.event === 'firing' || plans.some(({ notifier, event }) => notifier === name && event === 'firing')
    return [...named].map((name) => !has(name) && `${name} was not told`)
  })
})
