// The router: what goes into one message, what waits for its story, and quiet hours.
import { describe, expect, test } from 'vitest'
import type { QuietHours } from '../../../agent/model/alert-settings.ts'
import type { IncidentSummary } from '../../../agent/model/incident.ts'
import { createRouter } from '../../../alerts/routing/router.ts'
import { createBook, HOUR, incident, MINUTE, route, SECOND, T0 } from './routing-scene.ts'

const TEAM = [{ name: 'team' }]
const inContainer = (name: string, given: Partial<IncidentSummary> = {}): IncidentSummary => incident({ id: name, subject: { container: { name } }, ...given })

describe('groups', () => {
  test('without labels the whole host is one', () => {
    const router = createRouter([route()], TEAM)
    const { known } = createBook()
    const groups = [incident(), inContainer('other'), incident({ subject: {} })].map((each) => router.plan(each, known, T0)[0]?.group)
    expect(new Set(groups).size).toBe(1)
  })

  test('with labels each of their values, and each route, is one of its own', () => {
    const router = createRouter([route({ match: { severity: ['critical'] }, groupBy: ['container', 'kind'] }), route({ groupBy: ['container'] })], TEAM)
    const { known } = createBook()
    const group = (what: IncidentSummary): string => router.plan(what, known, T0)[0]?.group ?? ''
    expect(group(inContainer('one'))).toBe(group(inContainer('one', { kind: 'cuda_oom' })))
    expect(group(inContainer('one'))).not.toBe(group(inContainer('two')))
    expect(group(inContainer('one'))).not.toBe(group(incident({ subject: {} })))
    expect(group(inContainer('one'))).not.toBe(group(inContainer('one', { severity: 'critical' })))
    // Values cannot be made to look like others.
    expect(group(inContainer('a","memory_leak', { severity: 'critical' }))).not.toBe(group(inContainer('a', { severity: 'critical' })))
  })

  test('a story stays together, whomever else it hits', () => {
    const router = createRouter([route({ groupBy: ['container'] })], TEAM)
    const book = createBook()
    const root = book.tell(router, inContainer('root'), T0)
    const effect = inContainer('effect', { story: 'root', part_of: { id: 'root', kind: 'memory_leak' } })
    const further = inContainer('further', { story: 'root', part_of: { id: 'effect', kind: 'memory_leak' } })
    for (const each of [effect, further]) expect(book.tell(router, each, T0)[0]?.group).toBe(root[0]?.group)
    // Of a story whose beginning nobody knows any more each goes by itself.
    expect(book.tell(router, inContainer('late', { story: 'gone' }), T0)[0]?.group).not.toBe(root[0]?.group)
  })
})

describe('what followed from another incident', () => {
  const effect = (given: Partial<IncidentSummary> = {}): IncidentSummary =>
    incident({ id: 'b', story: 'a', part_of: { id: 'a', kind: 'memory_leak' }, ...given })
  /** When it is reported, so long after its cause was. */
  const dueAfter = (after: number, what: IncidentSummary, cause: IncidentSummary | null = incident()): number | undefined => {
    const router = createRouter([route()], TEAM)
    const book = createBook()
    if (cause !== null) book.tell(router, cause, T0)
    return book.tell(router, what, T0 + after).map(({ dueAt }) => dueAt - T0 - after)[0]
  }

  test('comes as one further message, soon after its cause', () => {
    expect(dueAfter(0, effect())).toBe(30_000)
    expect(dueAfter(MINUTE - 1, effect())).toBe(30_000)
    expect(dueAfter(MINUTE, effect())).toBe(200)
  })

  test('but at once where it is worse, or where nobody was told of the cause', () => {
    expect(dueAfter(SECOND, effect({ severity: 'critical' }))).toBe(200)
    expect(dueAfter(SECOND, effect({ severity: 'critical' }), incident({ severity: 'critical' }))).toBe(30_000)
    expect(dueAfter(SECOND, effect(), null)).toBe(200)
    expect(dueAfter(SECOND, effect(), incident({ silenced: { until: T0 + HOUR, id: 's' } }))).toBe(200)
  })
})

describe('quiet hours', () => {
  // From ten at night to seven in the morning in Berlin, in summer two hours ahead.
  const night: QuietHours = { from: 22 * 60, to: 7 * 60, days: [0, 1, 2, 3, 4, 5, 6], zone: 'Europe/Berlin' }
  const EVENING = Date.UTC(2026, 5, 3, 20)
  const MORNING = Date.UTC(2026, 5, 4, 5)
  const tellAll = (steps: readonly (readonly [t: number, what: IncidentSummary])[], quiet: readonly QuietHours[] = [night]) => {
    const router = createRouter([route({ quiet, repeatMs: 4 * HOUR })], TEAM)
    const book = createBook()
    return steps.map(([t, what]) => book.tell(router, what, t).map(({ event, reason, dueAt }) => [event, reason, new Date(dueAt).toISOString().slice(11, 23)]))
  }

  test('keep back until they are over what fires and what ends in them', () => {
    expect(
      tellAll([
        [EVENING + HOUR, incident()],
        [EVENING + 2 * HOUR, incident({ status: 'resolved' })],
      ]),
    ).toEqual([[['firing', 'held', '05:00:00.000']], [['resolved', 'held', '05:00:00.000']]])
  })

  test('begin and end on the minute; who waits for others is not told in them', () => {
    const due = (t: number) => tellAll([[t, incident()]])[0]?.[0]
    expect(due(EVENING - 201)).toEqual(['firing', 'new', '19:59:59.999'])
    expect(due(EVENING - 200)).toEqual(['firing', 'held', '05:00:00.000'])
    expect(due(MORNING - 201)).toEqual(['firing', 'held', '05:00:00.000'])
    expect(due(MORNING - 200)).toEqual(['firing', 'new', '05:00:00.000'])
  })

  test('let through what is bad enough, and its end', () => {
    const quiet = [{ ...night, except: 'critical' as const }]
    expect(
      tellAll(
        [
          [EVENING + HOUR, incident()],
          [EVENING + 2 * HOUR, incident({ severity: 'critical' })],
          [EVENING + 3 * HOUR, incident({ status: 'resolved', severity: 'warning' })],
        ],
        quiet,
      ),
    ).toEqual([[['firing', 'held', '05:00:00.000']], [['firing', 'worse', '22:00:00.000']], [['resolved', 'resolved', '23:00:00.200']]])
  })

  test('have no repeats in them, and what they kept back is told again only its time after that', () => {
    const firing = incident()
    const at = [EVENING - HOUR, EVENING + 3 * HOUR, EVENING + 8 * HOUR, MORNING, MORNING + 4 * HOUR]
    expect(tellAll(at.map((t) => [t, firing] as const)).map((plans) => plans[0]?.[1])).toEqual(['new', undefined, undefined, 'repeat', 'repeat'])
    const late = [EVENING, EVENING + 5 * HOUR, MORNING, MORNING + 4 * HOUR - 1, MORNING + 4 * HOUR]
    expect(tellAll(late.map((t) => [t, firing] as const)).map((plans) => plans[0]?.[1])).toEqual(['held', undefined, undefined, undefined, 'repeat'])
  })

  test('that follow each other are one', () => {
    const weekend: QuietHours = { from: 0, to: 24 * 60, days: [0, 6], zone: 'Europe/Berlin' }
    // Friday evening to Monday morning.
    const friday = Date.UTC(2026, 5, 5, 21)
    const [plan] = createRouter([route({ quiet: [weekend, night] })], TEAM).plan(incident(), createBook().known, friday)
    expect(new Date(plan?.dueAt ?? 0).toISOString()).toBe('2026-06-08T05:00:00.000Z')
  })
})
