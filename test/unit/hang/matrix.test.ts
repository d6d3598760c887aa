// The table of ranks by collective.
import { expect, test } from 'vitest'
import { callsByRank } from '../../../agent/hang/judge/matrix.ts'
import { dumps, evidenceOf, standing, steps, waiting, WAITS, WORLD, type Files, type Groups } from './job-folder.ts'

const tableOf = (files: Files): Readonly<Record<number, unknown>> => Object.fromEntries(callsByRank(evidenceOf(files)))

test('over two groups: the chain from those that wait to the rank that did not join', () => {
  const groups: Groups = {
    '0': { desc: 'default_pg', ranks: [0, 1, 2, 3] },
    '1': { desc: 'mesh_tp', ranks: [0, 1] },
    '2': { desc: 'mesh_tp', ranks: [2, 3] },
  }
  const of = (group: string, ...last: readonly { readonly group: string; readonly at: number }[]) => [
    { group, at: 0 },
    ...last.map((step) => ({ ...step, state: 'scheduled' as const })),
  ]
  const world = { group: '0', at: 9 }
  expect(
    tableOf(
      dumps(groups, [
        of('1', { group: '1', at: 2 }),
        of('1'),
        [...of('2'), { group: '2', at: 2 }, { ...world, state: 'scheduled' }],
        of('2', { group: '2', at: 2 }, world),
      ]),
    ),
  ).toEqual({
    0: { 'all_reduce 2 of mesh_tp (1)': 'waits', 'all_reduce 1 of default_pg': 'not joined' },
    1: { 'all_reduce 2 of mesh_tp (1)': 'not joined', 'all_reduce 1 of default_pg': 'not joined' },
    2: { 'all_reduce 2 of mesh_tp (2)': 'done', 'all_reduce 1 of default_pg': 'waits' },
    3: { 'all_reduce 2 of mesh_tp (2)': 'waits', 'all_reduce 1 of default_pg': 'issued' },
  })
})

test('a rank that passes another size is shown with its call', () => {
  const other = steps(8, { state: 'scheduled', size: 128 })
  expect(tableOf(dumps(WORLD, [waiting, waiting, other, waiting]))).toMatchObject({
    1: { 'all_reduce 9 of default_pg': 'waits' },
    2: { 'all_reduce 9 of default_pg': 'in all_reduce [128] Float' },
  })
})

test('of many groups the first six that were waited in', () => {
  const ranks = Array.from({ length: 20 }, (_, rank) => rank)
  const groups: Groups = Object.fromEntries(ranks.map((rank) => [String(rank), { desc: 'pair', ranks: [rank] }]))
  const table = callsByRank(
    evidenceOf(
      dumps(
        groups,
        ranks.map((rank) => [{ group: String(rank), at: 100 - rank, state: 'scheduled' as const }]),
      ),
    ),
  )
  expect([...table.keys()]).toEqual([14, 15, 16, 17, 18, 19])
})

test('without dumps and time-outs nothing says in what ranks wait', () => {
  expect(tableOf(standing([WAITS, WAITS, WAITS, WAITS]))).toEqual({})
})
