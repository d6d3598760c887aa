// The router over any life of incidents: what it may never do, and what it must.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Route } from '../../agent/model/alert-settings.ts'
import { SEVERITIES, type Severity } from '../../agent/model/fault.ts'
import type { IncidentSummary } from '../../agent/model/incident.ts'
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
    status: fc.constantFrom('pending', 'firing', 'firing', 'firing', 'resolved' as const),
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
      status: status as IncidentSummary['status'],
      severity,
      subject: { container: { name: container } },
      ...(silenced ? { silenced: { until: T0, id: 's' } } : {}),
      ...(acknowledged ? { acknowledged: { at: T0 } } : {}),
      ...(cause === undefined || cause === id ? {} : { story: 'a', part_of: { id: cause, kind: 'memory_leak' } }),
    }),
  }))

/** Calls `judge` for each step, with what was planned and what had been told before. */
function live(
  routes: readonly Route[],
  steps: readonly Step[],
  judge: (step: Step, t: number, plans: readonly Plan[], before: ReturnType<typeof snapshot>) => void,
): void {
  const router = createRouter(routes, NOTIFIERS)
  const book = createBook()
  let t = T0
  for (const each of steps) {
    t += each.after
    const before = snapshot(book, each.what.id)
    judge(each, t, book.tell(router, each.what, t), before)
  }
}
const snapshot = ({ known }: ReturnType<typeof createBook>, id: string) => new Map(NAMES.map((name) => [name, known.told(id, name)]))
const routeBy = (routes: readonly Route[], { group }: Plan): Route => {
  const parsed: unknown = JSON.parse(group)
  const found = Array.isArray(parsed) ? (routes.length === 0 ? [defaultRoute(NOTIFIERS)] : routes)[Number(parsed[0])] : undefined
  if (found === undefined) throw new Error(`expected a group that begins with its route, came ${group}`)
  return found
}
const scene = [fc.array(routeOf, { maxLength: 4 }), fc.array(step, { minLength: 1, maxLength: 40 })] as const

test('each notifier is told at most once, by a route that names it, and nothing of what is pending or silenced', () => {
  fc.assert(
    fc.property(...scene, (routes, steps) => {
      live(routes, steps, ({ what }, t, plans) => {
        expect(new Set(plans.map(({ notifier }) => notifier)).size).toBe(plans.length)
        if (what.status === 'pending' || what.silenced !== undefined) expect(plans).toEqual([])
        for (const plan of plans) {
          expect(routeBy(routes, plan).to).toContain(plan.notifier)
          expect(plan.dueAt).toBeGreaterThanOrEqual(t)
        }
      })
    }),
  )
})

test('firing goes before resolved, each once; again only as worse, or after the time of the route and not where somebody has acknowledged it', () => {
  fc.assert(
    fc.property(...scene, (routes, steps) => {
      live(routes, steps, ({ what }, t, plans, before) => {
        for (const plan of plans) {
          const told = before.get(plan.notifier)
          if (plan.event === 'resolved') expect([what.status, told?.event]).toEqual(['resolved', 'firing'])
          else if (told?.event === 'firing' && rankOf(what.severity) <= rankOf(told.severity)) {
            expect([plan.reason, what.acknowledged]).toEqual(['repeat', undefined])
            expect(plan.notifier).not.toBe('state')
            expect(t - told.at).toBeGreaterThanOrEqual(routeBy(routes, plan).repeatMs ?? Infinity)
          }
        }
      })
    }),
  )
})

test('nothing is due in quiet hours; what they keep back is due when they are over', () => {
  fc.assert(
    fc.property(...scene, (routes, steps) => {
      live(routes, steps, ({ what }, t, plans, before) => {
        for (const plan of plans) {
          if (plan.notifier === 'state') {
            expect([plan.dueAt, plan.reason === 'held']).toEqual([t, false])
            continue
          }
          const { quiet } = routeBy(routes, plan)
          // They hear of the end of what they were called for, however bad it is by then.
          const told = plan.event === 'resolved' ? before.get(plan.notifier)?.severity : undefined
          const severity = told !== undefined && rankOf(told) > rankOf(what.severity) ? told : what.severity
          expect(quietUntil(quiet, severity, plan.dueAt)).toBe(plan.dueAt)
          if (plan.reason === 'held') expect(quietUntil(quiet, severity, plan.dueAt - 1)).toBe(plan.dueAt)
          if (plan.reason === 'held') expect(plan.dueAt).toBeGreaterThan(t)
        }
      })
    }),
  )
})

test('whatever fires, is not silenced and fits a route has been told to all whom that names', () => {
  fc.assert(
    fc.property(...scene, (routes, steps) => {
      live(routes, steps, ({ what }, _t, plans, before) => {
        if (what.status !== 'firing' || what.silenced !== undefined) return
        const all = routes.length === 0 ? [defaultRoute(NOTIFIERS)] : routes
        for (const name of new Set(all.filter((route) => fits(route, what)).flatMap(({ to }) => to)))
          if (before.get(name)?.event !== 'firing') expect(plans.find(({ notifier }) => notifier === name)?.event).toBe('firing')
      })
    }),
  )
})
