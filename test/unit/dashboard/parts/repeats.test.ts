// Which incidents become one row.
import { describe, expect, test } from 'vitest'
import { repeats } from '../../../../dashboard/src/parts/incident/repeats.ts'
import { summaryOf, type IncidentSummary } from '../../../../agent/model/incident.ts'
import { INCIDENT } from '../../http/incident-fixture.ts'

const incident = (more: Partial<IncidentSummary>): IncidentSummary => ({ ...summaryOf(INCIDENT), ...more })

const hung = (id: string, index: number, startedAt: number, status: 'firing' | 'resolved' = 'resolved') =>
  incident({ id, kind: 'driver_hung', status, started_at: startedAt, subject: { gpu: { index, uuid: `GPU-${index}` } } })

describe('incidents that come and go', () => {
  test('of one kind on one GPU are one row with their number and the first beginning', () => {
    const rows = repeats([hung('c', 3, 3_000, 'firing'), hung('b', 3, 2_000), hung('a', 3, 1_000)])
    expect(rows.map(({ incident: { id }, times, since }) => ({ id, times, since }))).toEqual([{ id: 'c', times: 3, since: 1_000 }])
  })
  test('that fire stand apart', () => {
    expect(repeats([hung('c', 3, 3_000, 'firing'), hung('b', 3, 2_000, 'firing'), hung('a', 3, 1_000)]).map(({ times }) => times)).toEqual([2, 1])
  })
  test('of other GPUs and other containers stay apart', () => {
    const other = incident({ id: 'x', kind: 'cuda_oom', subject: { container: { name: 'one' } } })
    const rows = repeats([hung('c', 3, 3_000), hung('b', 4, 2_000), other, { ...other, id: 'y', subject: { container: { name: 'two' } } }])
    expect(rows.map(({ incident: { id }, times }) => [id, times])).toEqual([
      ['c', 1],
      ['b', 1],
      ['x', 1],
      ['y', 1],
    ])
  })
  test('flap once three of them began within half an hour', () => {
    const minute = 60_000
    const begun = (...minutes: readonly number[]) => repeats(minutes.map((at) => hung(`at ${at}`, 3, at * minute))).map(({ flapping }) => flapping)
    expect(begun(70, 60, 45)).toEqual([true])
    expect(begun(70, 60)).toEqual([false])
    expect(begun(100, 60, 20)).toEqual([false])
  })
})
