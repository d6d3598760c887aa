// What the page understands of silences, and what a silence of an incident covers.
import { expect, test } from 'vitest'
import { scopeOf } from '../../../../dashboard/src/parts/incident/operator.ts'
import { parseSilences } from '../../../../dashboard/src/parts/connection/messages.ts'
import { INCIDENT, SILENCE } from '../../http/incident-fixture.ts'

test('silences are looked at before they are believed', () => {
  expect(parseSilences([SILENCE])).toEqual([SILENCE])
  for (const wrong of [undefined, {}, [{}], [{ ...SILENCE, until: 'soon' }]]) expect(() => parseSilences(wrong)).toThrow(/must be a list of silences, not/)
})

test('a silence covers kind, GPU and container as far as the incident has them', () => {
  expect(scopeOf(INCIDENT)).toEqual({ kind: 'cuda_oom', gpu: INCIDENT.subject.gpu?.uuid, container: 'trainer' })
  // A number without a UUID is the program's own.
  expect(scopeOf({ kind: 'xid', subject: { gpu: { index: 3 } } })).toEqual({ kind: 'xid' })
})
