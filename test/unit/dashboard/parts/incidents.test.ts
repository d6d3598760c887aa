// The page's list of incidents: newer words win, firing ones are first, what is long over is gone.
import { describe, expect, test } from 'vitest'
import { summaryOf, type IncidentSummary } from '../../../../agent/model/incident.ts'
import { flapping, incidents, listed, takeIncidents } from '../../../../dashboard/src/parts/incident/known.ts'
import { parseIncidents, parseLiveMessage } from '../../../../dashboard/src/parts/connection/messages.ts'
import { INCIDENT } from '../../http/incident-fixture.ts'

const NOW = INCIDENT.started_at + 1_000_000
const one = (id: string, more: Partial<IncidentSummary> = {}): IncidentSummary => {
  const { resolved_at: _resolved, ...open } = summaryOf(INCIDENT)
  return { ...open, id, status: 'firing', ...more }
}

describe('what is told', () => {
  test('replaces older words, and an answer that comes late does not undo newer ones', () => {
    let known = takeIncidents(new Map(), [one('a', { last_seen_at: 5, count: 5 })])
    known = takeIncidents(known, [one('a', { last_seen_at: 9, count: 9 }), one('b')])
    known = takeIncidents(known, [one('a', { last_seen_at: 5, count: 5 })])
    expect(known.get('a')?.count).toBe(9)
    known = takeIncidents(known, [one('a', { status: 'resolved', last_seen_at: 9 })])
    known = takeIncidents(known, [one('a', { last_seen_at: 9 })])
    expect(known.get('a')?.status).toBe('resolved')
    expect(known.has('b')).toBe(true)
  })

  test('stays bounded', () => {
    const known = takeIncidents(
      new Map(),
      Array.from({ length: 500 }, (_, n) => one(String(n), { last_seen_at: n })),
    )
    expect(known.size).toBe(100)
    expect(known.has('499')).toBe(true)
  })

  test('is listed firing first, the worst on top, then the newest, for an hour; who is seen again keeps its place', () => {
    const over = one('over', { status: 'resolved', resolved_at: NOW - 10_000 })
    const all = [
      over,
      one('long over', { status: 'resolved', resolved_at: NOW - 4_000_000 }),
      one('warning', { severity: 'warning', started_at: NOW - 5_000 }),
      one('old', { started_at: NOW - 9_000_000, last_seen_at: NOW - 1_000 }),
      one('new', { started_at: NOW - 10_000, last_seen_at: NOW - 9_000 }),
    ]
    expect(listed(all, NOW).map(({ id }) => id)).toEqual(['new', 'old', 'warning', 'over'])
  })
})

test('what came back three times within half an hour flaps while none of it fires: the head does not call that healthy', () => {
  const { silenced: _silenced, ...loud } = one('hung')
  const over = (n: number): IncidentSummary => {
    const started_at = Date.now() - n * 60_000
    return { ...loud, id: `hung ${n}`, status: 'resolved', started_at, last_seen_at: started_at, resolved_at: started_at + 9_000 }
  }
  const shows = (...all: readonly IncidentSummary[]) => {
    incidents.value = takeIncidents(new Map(), all)
    return flapping.value.map(({ times }) => times)
  }
  expect(shows(over(1), over(2))).toEqual([])
  expect(shows(over(1), over(2), over(3))).toEqual([3])
  expect(shows(over(2), over(3), over(4), { ...loud, id: 'now', started_at: Date.now() })).toEqual([])
  expect(shows(one('silenced', { status: 'resolved' }), over(1))).toEqual([])
})

test('comes through the border only in its form', () => {
  const message = { type: 'incident', incident: summaryOf(INCIDENT) }
  expect(parseLiveMessage(JSON.stringify(message))).toEqual(message)
  expect(parseLiveMessage('{"type":"incident","incident":{"id":"x"}}')).toBeUndefined()
  expect(parseIncidents([summaryOf(INCIDENT)])).toHaveLength(1)
  expect(() => parseIncidents({ error: 'x' })).toThrow(/must be a list of incidents, not/)
})
