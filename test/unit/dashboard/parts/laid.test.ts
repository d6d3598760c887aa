// What is open above the cards stays as it was laid out, whatever arrives or is over.
import { describe, expect, test } from 'vitest'
import { fresh, groups } from '../../../../dashboard/src/parts/incident/groups.ts'
import { layOut, standing, type Laid } from '../../../../dashboard/src/parts/incident/laid.ts'
import { repeats } from '../../../../dashboard/src/parts/incident/repeats.ts'
import { ordered } from '../../../../dashboard/src/parts/incident/subject.ts'
import { summaryOf, type IncidentSummary } from '../../../../agent/model/incident.ts'
import { INCIDENT } from '../../http/incident-fixture.ts'

const ROOM = 2
const incident = (id: string, more: Partial<IncidentSummary> = {}): IncidentSummary => ({
  ...summaryOf(INCIDENT),
  id,
  story: id,
  severity: 'warning',
  status: 'firing',
  subject: { container: { name: id } },
  ...more,
})
const over = (id: string, more: Partial<IncidentSummary> = {}): IncidentSummary => incident(id, { ...more, status: 'resolved' })
const grouped = (...all: readonly IncidentSummary[]) => groups(repeats(ordered(all)))
/** By their heads. */
const seen = (laid: Laid | undefined, ...all: readonly IncidentSummary[]) => {
  const { rows, hidden, arrived, over: past } = laid === undefined ? fresh(grouped(...all), ROOM) : standing(grouped(...all), laid)
  const heads = (list: readonly { readonly incident: IncidentSummary }[]): readonly string[] => list.map((group) => group.incident.id)
  return { rows: heads(rows.map(({ group }) => group)), hidden: heads(hidden), arrived: heads(arrived), over: heads(past) }
}

describe('rows of incidents', () => {
  const [a, b, c] = [incident('a'), incident('b'), incident('c')]
  const laid = layOut(grouped(a, b), ROOM)

  test('are what is current, as far as there is room, until they are laid out', () => {
    expect(seen(undefined, a, b, c, over('d'))).toEqual({ rows: ['a', 'b'], hidden: ['c'], arrived: [], over: ['d'] })
  })

  test('stay when a worse one arrives, which is counted and not among what had no room', () => {
    const worse = incident('worse', { severity: 'critical' })
    expect(seen(laid, a, b, worse)).toEqual({ rows: ['a', 'b'], hidden: [], arrived: ['worse'], over: [] })
    expect(seen(layOut(grouped(a, b, c), ROOM), a, b, c, worse)).toEqual({ rows: ['a', 'b'], hidden: ['c'], arrived: ['worse'], over: [] })
  })

  test('keep their place when they are over', () => {
    expect(seen(laid, over('a'), b)).toEqual({ rows: ['a', 'b'], hidden: [], arrived: [], over: [] })
  })

  test('take in what turns out to have the same cause, under the seat that they had', () => {
    const effect = incident('b', { story: 'cause' })
    const cause = incident('cause', { story: 'cause' })
    expect(seen(laid, a, effect, cause)).toEqual({ rows: ['a', 'cause'], hidden: [], arrived: [], over: [] })
    expect(standing(grouped(a, effect, cause), laid).rows.map(({ seat }) => seat)).toEqual(['a', 'b'])
  })

  test('become one when two of them turn out to have one cause', () => {
    expect(seen(laid, incident('a', { story: 'a' }), incident('b', { story: 'a' }))).toEqual({ rows: ['a'], hidden: [], arrived: [], over: [] })
  })

  test('are none where nothing was wrong: the first that comes is counted too, and once over it is what is over', () => {
    const calm = layOut([], ROOM)
    expect(seen(calm, a)).toEqual({ rows: [], hidden: [], arrived: ['a'], over: [] })
    expect(seen(calm, over('a'))).toEqual({ rows: [], hidden: [], arrived: [], over: ['a'] })
  })
})
