// The router: who is notified of an incident, when, and together with what.
import { describe, expect, test } from 'vitest'
import type { Route } from '../../../agent/model/alert-settings.ts'
import type { IncidentSummary } from '../../../agent/model/incident.ts'
import { fits, fitsPattern } from '../../../alerts/routing/match.ts'
import { createRouter } from '../../../alerts/routing/router.ts'
import { createBook, HOUR, incident, MINUTE, route, SECOND, T0 } from './routing-scene.ts'

const TEAM = [{ name: 'team' }]
const silenced = { until: T0 + HOUR, id: 's' }
const resolved = (given: Partial<IncidentSummary> = {}): IncidentSummary => incident({ status: 'resolved', resolved_at: T0, ...given })

/** Tells one incident after the other, each after the given time; what was planned of each as `event reason +ms`. */
function reported(
  routes: readonly Route[],
  steps: readonly (readonly [afterMs: number, what: IncidentSummary])[],
  notifiers: readonly { name: string; refreshMs?: number }[] = TEAM,
) {
  const router = createRouter(routes, notifiers)
  const book = createBook()
  let t = T0
  return steps.map(([after, what]) => {
    t += after
    return book.tell(router, what, t).map(({ notifier, event, reason, dueAt }) => `${notifier} ${event} ${reason} +${dueAt - t}`)
  })
}

describe('what a route asks for', () => {
  test.each<[Route['match'], boolean]>([
    [{}, true],
    [{ kind: ['cuda_oom'] }, false],
    [{ kind: ['cuda_oom', 'memory_*'] }, true],
    [{ severity: ['warning'], container: ['train-*'] }, true],
    [{ severity: ['critical'], container: ['train-*'] }, false],
    [{ gpu: ['3'] }, true],
    [{ gpu: ['GPU-3'] }, true],
    [{ gpu: ['4'] }, false],
    [{ uuid: ['GPU-*'], gpu_name: ['*H100*'], container_id: ['0123*'], image: ['*/trainer:*'], namespace: ['ml'], pod: ['*-0'], process: ['python?'] }, false],
    [{ uuid: ['GPU-*'], gpu_name: ['*H100*'], container_id: ['0123*'], image: ['*/trainer:*'], namespace: ['ml'], pod: ['*-0'], process: ['python3'] }, true],
    // What an incident does not know fits nothing, not even any text.
    [{ target: ['*'] }, false],
    [{ name: ['*'] }, false],
  ])('%j', (match, expected) => expect(fits(route({ match }), incident())).toBe(expected))

  test('targets and thresholds of the user by their names', () => {
    expect(fits(route({ match: { target: ['ui'] } }), incident({ facts: { target: 'ui' } }))).toBe(true)
    expect(fits(route({ match: { name: ['hot*'] } }), incident({ facts: { name: 'hot fans' } }))).toBe(true)
  })

  test('a number that only the program gave its GPU is not the host’s', () => {
    expect(fits(route({ match: { gpu: ['0'] } }), incident({ subject: { gpu: { index: 0 } } }))).toBe(false)
  })

  test.each([
    ['abc', 'abc', true],
    ['abc', 'abcd', false],
    ['*', '', true],
    ['a*a', 'a', false],
    ['a*b*c', 'aXbYc', true],
    ['a*b*c', 'acb', false],
    ['*ab*ab*', 'abXab', true],
    ['*ab*ab*', 'aXbab', false],
    ['a.c', 'abc', false],
    ['**', 'x', true],
    ['a*bc*c', 'abc', false],
  ])('pattern %s and %s', (pattern, text, expected) => expect(fitsPattern(pattern, text)).toBe(expected))
})

describe('when it is told', () => {
  test('new, once, worse, and over, once', () => {
    expect(
      reported(
        [route()],
        [
          [0, incident({ status: 'pending' })],
          [SECOND, incident()],
          [SECOND, incident({ count: 2 })],
          [SECOND, incident({ severity: 'critical' })],
          [SECOND, incident({ severity: 'warning' })],
          [SECOND, resolved()],
          [SECOND, resolved()],
          [SECOND, incident()],
        ],
      ),
    ).toEqual([[], ['team firing new +200'], [], ['team firing worse +0'], [], ['team resolved resolved +200'], [], ['team firing new +200']])
  })

  test('nothing while it is silenced; afterwards what fires then', () => {
    const steps: readonly (readonly [number, IncidentSummary])[] = [
      [0, incident({ silenced })],
      [SECOND, resolved({ silenced })],
      [SECOND, resolved()],
      [SECOND, incident({ silenced })],
      [SECOND, incident()],
      [SECOND, incident({ severity: 'critical', silenced })],
      [SECOND, incident({ severity: 'critical' })],
    ]
    expect(reported([route()], steps)).toEqual([[], [], [], [], ['team firing new +200'], [], ['team firing worse +0']])
  })

  test('again after the time of the route, but not what somebody has acknowledged', () => {
    const acknowledged = { at: T0 }
    const steps: readonly (readonly [number, IncidentSummary])[] = [
      [0, incident()],
      [HOUR - 1, incident()],
      [1, incident()],
      [HOUR - 1, incident()],
      [1, incident({ acknowledged })],
      [0, incident({ silenced })],
      [SECOND, incident()],
      [SECOND, incident({ acknowledged, severity: 'critical' })],
      [SECOND, resolved({ acknowledged })],
    ]
    expect(reported([route({ repeatMs: HOUR })], steps)).toEqual([
      ['team firing new +200'],
      [],
      ['team firing repeat +200'],
      [],
      [],
      [],
      ['team firing repeat +200'],
      ['team firing worse +0'],
      ['team resolved resolved +200'],
    ])
    const { repeatMs: _, ...never } = route()
    expect(
      reported(
        [never],
        [
          [0, incident()],
          [999 * HOUR, incident()],
        ],
      ),
    ).toEqual([['team firing new +200'], []])
  })

  test('that it is over only where the route says so', () => {
    expect(
      reported(
        [route({ resolved: false })],
        [
          [0, incident()],
          [SECOND, resolved()],
        ],
      ),
    ).toEqual([['team firing new +200'], []])
  })

  test('what was told as critical is over for those who only hear of critical ones, whatever it is by then', () => {
    const critical = route({ match: { severity: ['critical'] } })
    expect(
      reported(
        [critical],
        [
          [0, incident()],
          [SECOND, incident({ severity: 'critical' })],
          [SECOND, incident()],
          [SECOND, resolved()],
        ],
      ),
    ).toEqual([[], ['team firing new +200'], [], ['team resolved resolved +200']])
  })

  test('receivers with a state are told at once, at any time, and never again by the router', () => {
    const day = { from: 0, to: 23 * 60, days: [0, 1, 2, 3, 4, 5, 6], zone: 'UTC' }
    const steps: readonly (readonly [number, IncidentSummary])[] = [
      [0, incident()],
      [HOUR, incident()],
      [0, resolved()],
      [0, incident({ id: 'b', part_of: { id: 'a', kind: 'memory_leak' } })],
    ]
    expect(reported([route({ quiet: [day], repeatMs: MINUTE, resolved: false })], steps, [{ name: 'team', refreshMs: MINUTE }])).toEqual([
      ['team firing new +0'],
      [],
      ['team resolved resolved +0'],
      ['team firing new +0'],
    ])
  })
})

describe('who is told', () => {
  const notifiers = [{ name: 'team' }, { name: 'pager' }, { name: 'log' }]
  const who = (routes: readonly Route[], what: IncidentSummary) => createRouter(routes, notifiers).plan(what, createBook().known, T0)

  test('without any route everybody, of warnings and worse', () => {
    expect(who([], incident()).map(({ notifier, dueAt }) => [notifier, dueAt - T0])).toEqual([
      ['team', 200],
      ['pager', 200],
      ['log', 200],
    ])
    expect(who([], incident({ severity: 'info' }))).toEqual([])
  })

  test('for each notifier the first route that names it and fits', () => {
    const routes = [
      route({ to: ['pager'], match: { severity: ['critical'] } }),
      route({ to: ['team', 'team'], match: { container: ['other'] } }),
      route({ to: ['team', 'pager'], waitMs: 5_000 }),
      route({ to: ['team'], waitMs: 9_000 }),
    ]
    const seen = (severity: 'warning' | 'critical') => who(routes, incident({ severity })).map(({ notifier, dueAt }) => [notifier, dueAt - T0])
    expect(seen('warning')).toEqual([
      ['team', 5_000],
      ['pager', 5_000],
    ])
    expect(seen('critical')).toEqual([
      ['team', 5_000],
      ['pager', 200],
    ])
  })
})

test('routes about runs leave the default route for incidents as it is', () => {
  const about = route({ to: ['runs'], match: { outcome: ['*'] } })
  expect(reported([about], [[0, incident()]], [{ name: 'team' }, { name: 'runs' }])).toEqual([['team firing new +200', 'runs firing new +200']])
  expect(reported([about, route()], [[0, incident()]], [{ name: 'team' }, { name: 'runs' }])).toEqual([['team firing new +200']])
})
