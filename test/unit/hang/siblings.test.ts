// Ranks of several groups of one kind that leave the program at the same place: all of them are named, and only they.
import { expect, test } from 'vitest'
import { dumpOf, judged, timedOut, WAITS, type Groups, type Step } from './job-folder.ts'

const GROUPS: Groups = { '3': { desc: 'dp', ranks: [0, 2, 4] }, '4': { desc: 'dp', ranks: [1, 3, 5] } }
function job(ranks: readonly (readonly Step[])[]): Record<string, string | Uint8Array> {
  return Object.fromEntries(
    ranks.flatMap((steps, rank): [string, string | Uint8Array][] => [
      [`dumps/nccl_trace_rank_${rank}`, dumpOf(GROUPS, steps)],
      [`stacks/rank_${rank}.txt`, timedOut(WAITS)],
    ]),
  )
}
const last = (rank: number, step: Step): Step[] => {
  const group = rank % 2 === 0 ? '3' : '4'
  return [
    { group, at: 0 },
    { group, at: 1, state: 'scheduled', ...step },
  ]
}
const skipped = { size: 96 }

test('one rank of each of two groups issues another size at the same place', () => {
  const ranks = [0, 1, 2, 3, 4, 5].map((rank) => last(rank, rank === 2 || rank === 5 ? skipped : {}))
  expect(judged(job(ranks))).toMatchObject({ verdict: 'hang', cause: 'mismatch', culprits: [2, 5] })
})

test('one rank of one group: nobody of the other is named', () => {
  const ranks = [0, 1, 2, 3, 4, 5].map((rank) => last(rank, rank === 2 ? skipped : {}))
  expect(judged(job(ranks))).toMatchObject({ verdict: 'hang', cause: 'mismatch', culprits: [2] })
})
