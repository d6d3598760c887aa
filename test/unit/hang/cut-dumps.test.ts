// Dumps that were cut: half written, empty, missing, of other releases. The answer is right, or says of whom nothing is known.
import { describe, expect, test } from 'vitest'
import { judge } from '../../../agent/hang/judge/judge.ts'
import { headline } from '../../../agent/hang/text.ts'
import { dumpOf, evidenceOf, judged, standing, stackOf, steps, waiting, WAITS, WORLD, type Files } from './job-folder.ts'

const whole = dumpOf(WORLD, waiting)
const behind = dumpOf(WORLD, steps(7))
const path = (rank: number): string => `dumps/comm_lib_trace_rank_${rank}`
const others: Files = Object.fromEntries([0, 1, 3].map((rank) => [path(rank), whole]))
const half = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.length >> 1)
const waits = standing([WAITS, WAITS, WAITS, WAITS])

/** Where only the dumps say anything: the timers of three ranks, not that of rank 2. */
const threeTimers: Files = Object.fromEntries(Object.entries(waits).filter(([file]) => !file.includes('rank_2')))

describe('of the rank that did not join', () => {
  test.each<[string, Files, RegExp]>([
    ['half a pickle', { [path(2)]: half(behind) }, /rank_2: not a Flight Recorder dump that can be read: .*truncated/],
    ['an empty file', { [path(2)]: '' }, /rank_2: empty/],
    ['half of the JSON', { 'fr_2.json': '{"comm_lib_version":"2.29.7","entries":[{"collective_seq_id":1,"is_p' }, /fr_2.json: not a Flight Recorder dump/],
    ['nothing', {}, /^$/],
  ])('%s: the hang is reported, no rank is blamed, and the answer names the ranks without evidence', (_, files, problem) => {
    const evidence = evidenceOf({ ...others, ...threeTimers, ...files })
    const answer = judge(evidence)
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [], root: { seq: 9, op: 'all_reduce' } })
    expect(answer.evidence.join('\n')).toContain('nothing shows whether rank 2 joined the operation')
    expect(headline(evidence, answer)).toContain('does not say which of the others did not join')
    expect(evidence.problems.join('\n')).toMatch(problem)
  })

  test('its stack names it all the same', () => {
    const reads = stackOf(['/usr/lib/python3.12/ssl.py', 1103, 'read'], ['/job/fetch.py', 8, 'shard'])
    expect(judged({ ...others, [path(2)]: half(behind), ...standing([WAITS, WAITS, reads, WAITS]) })).toMatchObject({ verdict: 'hang', culprits: [2] })
  })
})

test('half a dump of a rank that waits: the one that is missing is named as with all dumps', () => {
  const files = { [path(0)]: half(whole), [path(1)]: whole, [path(2)]: behind, [path(3)]: whole }
  expect(judged({ ...files, ...waits })).toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [2] })
})

test('cut at any byte, no dump makes an answer that blames another rank', () => {
  for (let length = 1; length < behind.length; length += 37) {
    const { culprits } = judged({ ...others, ...threeTimers, [path(2)]: behind.subarray(0, length) })
    expect(culprits.filter((rank) => rank !== 2)).toEqual([])
  }
})

test('empty output of a rank is no problem', () => {
  expect(evidenceOf({ ...others, 'logs/rank_2.log': '' }).problems).toEqual([])
})

test('of a world of many ranks the newest entries of each are read', () => {
  const many = { '0': { desc: 'default_pg', ranks: Array.from({ length: 512 }, (_, rank) => rank) } }
  const evidence = evidenceOf({ [path(0)]: dumpOf(many, steps(900, { state: 'scheduled' })) })
  const ops = evidence.ranks.get(0)?.ops ?? []
  expect(ops.length).toBe(500)
  expect(ops.at(-1)).toMatchObject({ seq: 901, state: 'waiting' })
  expect(evidence.ranks.get(0)?.lostOldest).toBe(true)
})
