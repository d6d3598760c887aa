// Columns of the ranks' table: the collectives of all groups in one order.
import { expect, test } from 'vitest'
import { collectivesOf } from '../../../../dashboard/src/features/incidents/page/collectives.ts'

const waits = (...names: readonly string[]) => ({ calls: Object.fromEntries(names.map((name) => [name, 'waits'])) })

test('each rank has those of its own groups: one that comes before another in any row stands before it', () => {
  const rows = [
    waits('all_reduce 4 of tp (1)', 'barrier 2 of default_pg'),
    waits('all_reduce 4 of tp (2)', 'barrier 2 of default_pg'),
    waits('barrier 3 of dp (5)'),
  ]
  expect(collectivesOf(rows)).toEqual(['all_reduce 4 of tp (1)', 'all_reduce 4 of tp (2)', 'barrier 2 of default_pg', 'barrier 3 of dp (5)'])
})

test('without dumps there are none', () => {
  expect(collectivesOf([{}, {}])).toEqual([])
})
