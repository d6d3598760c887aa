// Pipelines: sends, receives and batches of them. Who is missing, who only waits, and where nobody can be known.
import { describe, expect, test } from 'vitest'
import { createEvidence } from '../../../agent/hang/model.ts'
import { judge } from '../../../agent/hang/judge/judge.ts'
import { headline } from '../../../agent/hang/text.ts'
import { evidenceOf, judged, stackOf, standing, WAITS } from './job-folder.ts'
import { pipeline, type Call, type Counting } from './transfer-dumps.ts'

const done = true as const
/** A stage of the middle: it receives from the one before and sends to the next. */
const forward = (rank: number, micro: number, size: number): Call[] =>
  Array.from({ length: micro }, (_, i): Call[] => [
    ...(rank === 0 ? [] : [{ from: rank - 1, done, at: i }]),
    ...(rank === size - 1 ? [] : [{ to: rank + 1, done, at: i }]),
  ]).flat()
const all = standing([WAITS, WAITS, WAITS])
const reads = stackOf(['/job/shards.py', 12, 'load'], ['/job/loop.py', 5, '<module>'])

describe('sends and receives', () => {
  test('the stage that has not sent, over the chain of those that wait for it', () => {
    // Rank 0 reads a file instead of sending; 1 waits for 0, and 2 for 1.
    const ranks = [forward(0, 3, 3), [...forward(1, 3, 3), { from: 0, at: 4 }], [...forward(2, 3, 3), { from: 1, at: 4 }]]
    expect(judged({ ...pipeline(ranks), ...standing([reads, WAITS, WAITS]) })).toMatchObject({
      verdict: 'hang',
      cause: 'missing',
      culprits: [0],
      root: { desc: 'pp', op: 'recv' },
    })
  })

  test('a stage of which there is neither a dump nor a stack is not blamed', () => {
    const evidence = evidenceOf({ ...pipeline([undefined, [...forward(1, 3, 3), { from: 0, at: 4 }], [...forward(2, 3, 3), { from: 1, at: 4 }]]), ...all })
    for (const rank of [0]) evidence.ranks.get(rank)?.threads.splice(0)
    const answer = judge(evidence)
    expect(answer).toMatchObject({ verdict: 'hang', culprits: [] })
    expect(answer.evidence.join(' ')).toMatch(/nothing shows whether rank 0 joined/)
    expect(headline(evidence, answer)).toMatch(/does not say which of the others did not join/)
  })

  test('two ranks that both send before they receive wait for each other: nobody is named, both calls are', () => {
    const both = (other: number, line: number): Call[] => [
      { to: other, at: 4, line },
      { from: other, at: 4, line: line + 1 },
    ]
    const answer = judged({ ...pipeline([both(1, 31), both(0, 51)]), ...standing([WAITS, WAITS]) })
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'order', culprits: [] })
    expect(answer.callSites.map(({ ranks, what, at }) => [ranks, what, at?.line])).toEqual([
      [[0], 'send 0 to 1 of [64]', 31],
      [[1], 'send 1 to 0 of [64]', 51],
    ])
    expect(answer.evidence).toContain('each of ranks 0 and 1 waits for the next, and the last for the first')
  })

  test('a receive of another size than the send: both calls, nobody named', () => {
    const answer = judged({ ...pipeline([[{ to: 1, at: 4 }], [{ from: 0, size: 96, at: 4, line: 44 }]]), ...standing([WAITS, WAITS]) })
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'mismatch', culprits: [] })
    expect(answer.callSites.map(({ what }) => what).toSorted()).toEqual(['recv 0 to 1 of [96]', 'send 0 to 1 of [64]'])
  })

  test('both ends have issued it and it does not end: the connection', () => {
    const answer = judged({ ...pipeline([[{ to: 1, at: 4 }], [{ from: 0, at: 4 }]]), ...standing([WAITS, WAITS]) })
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'transport', culprits: [] })
    expect(answer.evidence).toContain('both ends of the transfer have issued it and it does not end')
  })

  test('a receive from anybody says nothing about who should send', () => {
    const any = pipeline([[{ from: 1, at: 4 }], []])
    const files = Object.fromEntries(
      Object.entries(any).map(([path, bytes]) => [path, Buffer.from(Buffer.from(bytes).toString('latin1').replace('0<-1', '0<-?'), 'latin1')]),
    )
    expect(judged({ ...files, ...standing([WAITS, WAITS]) })).toMatchObject({ verdict: 'hang', culprits: [] })
  })
})

describe.each<Counting>(['transfers', 'collectives', 'one'])('batches of sends and receives that count as %s', (counting) => {
  /** Each stage exchanges with its neighbours; the entries of a batch never end by themselves. */
  const exchange = (rank: number, size: number, extra: Partial<Call> = { done }): Call => ({
    batch: [...(rank > 0 ? [{ from: rank - 1 }, { to: rank - 1 }] : []), ...(rank < size - 1 ? [{ to: rank + 1 }, { from: rank + 1 }] : [])],
    at: 3,
    ...extra,
  })

  test('those that have ended are not waited for', () => {
    const evidence = evidenceOf(
      pipeline(
        [0, 1, 2].map((rank) => [exchange(rank, 3), { all: 'all_reduce', done, at: 4 }]),
        counting,
      ),
    )
    expect([...evidence.ranks.values()].map(({ ops }) => ops?.map(({ name, state, seq }) => [name, state, name === 'coalesced' ? 0 : seq]))).toEqual(
      [0, 1, 2].map(() => [
        ['coalesced', 'done', 0],
        ['all_reduce', 'done', 1],
      ]),
    )
  })

  test('the rank that did not come to its batch is named', () => {
    const ranks = [0, 1, 2].map((rank) => [exchange(rank, 3), ...(rank === 1 ? [] : [exchange(rank, 3, { at: 6 })])])
    expect(judged({ ...pipeline(ranks, counting), ...standing([WAITS, reads, WAITS]) })).toMatchObject({
      verdict: 'hang',
      cause: 'missing',
      culprits: [1],
      root: { op: 'coalesced' },
    })
  })

  test('a stage with fewer batches has as many collectives as the others', () => {
    // Ranks 0 and 1 exchange twice, 2 does not; then all reduce, and 2 does not come.
    const pair = (rank: number): Call => ({ batch: [{ to: 1 - rank }, { from: 1 - rank }], done, at: 3 })
    const reduce: Call = { all: 'all_reduce', at: 6 }
    const answer = judged({ ...pipeline([[pair(0), pair(0), reduce], [pair(1), pair(1), reduce], []], counting), ...standing([WAITS, WAITS, reads]) })
    expect(answer).toMatchObject({ verdict: 'hang', culprits: [2], root: { seq: 1, op: 'all_reduce' } })
    // With it, nobody is missing.
    const whole = judged({ ...pipeline([[pair(0), pair(0), reduce], [pair(1), pair(1), reduce], [reduce]], counting), ...all })
    expect(whole).toMatchObject({ verdict: 'hang', cause: 'transport', culprits: [] })
  })

  test('a part of a batch whose peer has gone on blames nobody', () => {
    // 0 has ended its batch with 1; 1 waits for 2 in the same batch, and 2 reads a file.
    const ranks: Call[][] = [[{ batch: [{ to: 1 }], done, at: 3 }], [{ batch: [{ from: 0 }, { to: 2 }], at: 3 }], []]
    const answer = judged({ ...pipeline(ranks, counting), ...standing([WAITS, WAITS, reads]) })
    expect(answer).toMatchObject({ verdict: 'hang', cause: 'missing', culprits: [2] })
  })
})

describe('where the recorder has lost its oldest entries', () => {
  test('the collectives of a group with batches are not compared by their count', () => {
    const pair = (rank: number): Call => ({ batch: [{ to: 1 - rank }, { from: 1 - rank }], done, at: 3 })
    const reduce: Call = { all: 'all_reduce', at: 6 }
    const two = [0, 1].map((rank) => [pair(rank), pair(rank), pair(rank), reduce])
    const evidence = evidenceOf({ ...pipeline([...two, [reduce]], 'collectives', 0), ...all })
    const lost = { ...createEvidence(), ...evidenceOf({ ...pipeline([...two, undefined], 'collectives', 3), ...all }) }
    expect(evidence.ranks.get(0)?.ops?.at(-1)).toMatchObject({ seq: 1 })
    expect(lost.ranks.get(0)?.ops?.at(-1)).toMatchObject({ name: 'all_reduce', uncounted: true })
    expect(judge(lost)).toMatchObject({ verdict: 'hang', culprits: [] })
  })
})

test('a batch that is not closed yet is one operation', () => {
  const evidence = evidenceOf(pipeline([[{ batch: [{ to: 1 }, { from: 1 }], open: true, at: 3 }], []]))
  expect(evidence.ranks.get(0)?.ops).toMatchObject([{ name: 'coalesced', p2p: true, state: 'waiting', batch: [{ name: 'send' }, { name: 'recv' }] }])
})
