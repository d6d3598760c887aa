// Which incidents share a row: those of one cause.
import { describe, expect, test } from 'vitest'
import { groups, isCurrent } from '../../../../dashboard/src/parts/incident/groups.ts'
import { repeats } from '../../../../dashboard/src/parts/incident/repeats.ts'
import { summaryOf, type IncidentSummary } from '../../../../agent/model/incident.ts'
import { INCIDENT } from '../../http/incident-fixture.ts'

const incident = (id: string, more: Partial<IncidentSummary>): IncidentSummary => ({
  ...summaryOf(INCIDENT),
  id,
  status: 'firing',
  subject: { container: { name: id } },
  ...more,
})
const shown = (...incidents: readonly IncidentSummary[]) =>
  groups(repeats(incidents)).map(({ incident: { id }, members, severity }) => [id, members.map((member) => member.incident.id), severity])

describe('correlated incidents', () => {
  const cause = incident('cause', { severity: 'warning', story: 'cause' })
  const effect = incident('effect', { severity: 'critical', story: 'cause', part_of: { id: 'cause', kind: 'gpu_lost' } })

  test('are one row under their cause, as grave as the worst that fires', () => {
    expect(shown(effect, cause)).toEqual([['cause', ['effect'], 'critical']])
  })

  test('are headed by what fires once the cause is over', () => {
    expect(shown(effect, { ...cause, status: 'resolved' })).toEqual([['effect', ['cause'], 'critical']])
  })

  test('are headed by the cause when all of it is over, and by the first where the cause is not known', () => {
    expect(shown({ ...effect, status: 'resolved' }, { ...cause, status: 'resolved' })).toEqual([['cause', ['effect'], 'warning']])
    expect(shown(effect, incident('second', { severity: 'warning', story: 'cause' }))).toEqual([['effect', ['second'], 'critical']])
  })

  test('do not draw in others', () => {
    expect(shown(cause, incident('other', { severity: 'info' }))).toEqual([
      ['cause', [], 'warning'],
      ['other', [], 'info'],
    ])
  })
})

test('a row is current while it or a part of it fires, or while it flaps', () => {
  const over = incident('over', { status: 'resolved', story: 'over' })
  const part = incident('part', { story: 'over' })
  const current = (...all: readonly IncidentSummary[]) => groups(repeats(all)).map(isCurrent)
  expect(current(over)).toEqual([false])
  expect(current(part)).toEqual([true])
  expect(current(part, over)).toEqual([true])
  const { story: _none, ...lone } = over
  expect(current(lone, { ...lone, id: 'b' }, { ...lone, id: 'c' })).toEqual([true])
})
