// Which incidents the list shows, in which order, and that it does not move while someone points at it.
import { describe, expect, test } from 'vitest'
import { summaryOf, type IncidentSummary } from '../../../../agent/model/incident.ts'
import { fits, holdStill, lastedSeconds } from '../../../../dashboard/src/parts/incident/filter.ts'
import { besideTitle, ordered, whom } from '../../../../dashboard/src/parts/incident/subject.ts'
import { INCIDENT } from '../../http/incident-fixture.ts'

const { resolved_at: _over, resolution: _why, ...standing } = summaryOf(INCIDENT)
const NOW = INCIDENT.started_at + 3 * 3_600_000
const one = (id: string, more: Partial<IncidentSummary> = {}): IncidentSummary => ({ ...standing, id, status: 'firing', ...more })
const ids = (list: readonly IncidentSummary[]): readonly string[] => list.map(({ id }) => id)

describe('filters', () => {
  test('each of them leaves out what does not fit, and together all must fit', () => {
    const firing = one('a')
    expect(fits(firing, {}, NOW)).toBe(true)
    expect(fits(firing, { state: 'firing', severity: 'critical', kind: 'cuda_oom' }, NOW)).toBe(true)
    for (const wrong of [{ state: 'resolved' }, { severity: 'info' }, { kind: 'xid' }, { state: 'firing', kind: 'xid' }])
      expect(fits(firing, wrong, NOW)).toBe(false)
  })

  test('a time keeps what was seen in it and what still fires; a time that nobody knows keeps all', () => {
    const over = one('a', { status: 'resolved', resolved_at: NOW - 2 * 3_600_000 })
    expect(fits(over, { since: '1h' }, NOW)).toBe(false)
    expect(fits(over, { since: '24h' }, NOW)).toBe(true)
    expect(fits(over, { since: 'yesterday' }, NOW)).toBe(true)
    expect(fits(one('a'), { since: '1h' }, NOW)).toBe(true)
  })

  test('words are looked for in title, whom, kind and log lines, all of them, in any case', () => {
    expect(fits(one('a'), { text: 'TRAINER  gpu' }, NOW)).toBe(true)
    expect(fits(one('a'), { text: 'cuda out of memory' }, NOW)).toBe(true)
    expect(fits(one('a'), { text: 'trainer nccl' }, NOW)).toBe(false)
    expect(fits(one('a'), { text: '   ' }, NOW)).toBe(true)
  })
})

test('whom it hit: pod or container and GPU, a process only where no container is known, a card by its address where that is all', () => {
  expect(whom(INCIDENT)).toBe('ml/trainer-0 · GPU 0')
  expect(whom({ subject: { process: { pid: 7 }, gpu: { pci_bus_id: '0000:1b:00' } }, facts: {} })).toBe('0000:1b:00 · pid 7')
  expect(whom({ subject: { host: { name: 'node-1' } }, facts: {} })).toBe('node-1')
  expect(whom({ subject: { process: { pid: 7 } }, facts: { job_id: 4711 } })).toBe('Slurm job 4711')
  const subject = { gpu: { uuid: 'GPU-1', index: 1 } }
  expect(
    ['GPU 1: held back by heat', 'GPU 12: held back by heat', 'Out of memory on GPU 1'].map((title) => besideTitle({ title, subject, facts: {} })),
  ).toEqual(['', '', ''])
  const both = { ...subject, container: { name: 'trainer' } }
  expect(
    ['Xid 31: GPU page fault', 'trainer ran out of memory on GPU 1', 'trainer-2 took GPU 12'].map((title) => besideTitle({ title, subject: both, facts: {} })),
  ).toEqual(['trainer', '', 'trainer'])
  const pod = { subject: { ...subject, container: { name: 'main', namespace: 'training', pod: 'lora-7h2qd' } }, facts: {} }
  expect(whom(pod)).toBe('training/lora-7h2qd · GPU 1')
  expect(['Pod lora-7h2qd was killed on GPU 1', 'Xid 31: GPU page fault'].map((title) => besideTitle({ title, ...pod }))).toEqual([
    'namespace training',
    'training/lora-7h2qd',
  ])
})

test('what fires stands first, the worst on top, then the newest', () => {
  const t = INCIDENT.started_at
  const list = [
    one('old', { status: 'resolved', started_at: t }),
    one('new', { status: 'resolved', started_at: t + 9 }),
    one('warning', { severity: 'warning', started_at: t + 8 }),
    one('critical', { started_at: t }),
    one('later', { started_at: t + 1 }),
  ]
  expect(ids(ordered(list))).toEqual(['later', 'critical', 'warning', 'new', 'old'])
})

describe('a list that somebody points at', () => {
  const [a, b, c] = [one('a'), one('b'), one('c')]
  const know =
    (...list: readonly IncidentSummary[]) =>
    (id: string): IncidentSummary | undefined =>
      list.find((each) => each.id === id)

  test('follows when nobody does', () => {
    expect(holdStill([b, a], undefined, know(a, b))).toEqual({ rows: [b, a], waiting: 0 })
  })
  test('keeps its rows in their places, with their newest words, and counts what waits', () => {
    const over = one('a', { status: 'resolved' })
    const held = holdStill([c, b, over], ['a', 'b'], know(over, b, c))
    expect(ids(held.rows)).toEqual(['a', 'b'])
    expect(held.rows[0]?.status).toBe('resolved')
    // c comes in, a and b change places
    expect(held.waiting).toBe(3)
  })
  test('says nothing waits while nothing does; what no longer fits waits to go', () => {
    expect(holdStill([a, b], ['a', 'b'], know(a, b)).waiting).toBe(0)
    expect(holdStill([b], ['a', 'b'], know(a, b))).toEqual({ rows: [a, b], waiting: 1 })
  })
})

test('how long it lasted ends with it; what fires goes on', () => {
  expect(lastedSeconds(INCIDENT, NOW)).toBe(900)
  expect(lastedSeconds(one('a'), NOW)).toBe(3 * 3_600)
})
