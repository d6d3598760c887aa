// What was found out on several hosts, each about its own ranks, saved and judged together.
import { describe, expect, test } from 'vitest'
import { readFileInto } from '../../../agent/hang/evidence/folder.ts'
import { saveEvidence } from '../../../agent/hang/evidence/saved.ts'
import { judge } from '../../../agent/hang/judge/judge.ts'
import { joinEvidence } from '../../../agent/hang/live/join.ts'
import { createEvidence, type Evidence } from '../../../agent/hang/model.ts'
import { replyOf } from '../../../agent/hang/reply.ts'
import { dumps, evidenceOf, stackOf, standing, steps, waiting, WAITS, WORLD } from './job-folder.ts'

const READS = stackOf(['/job/data.py', 71, 'load'], ['/job/loop.py', 12, 'main'])
/** Rank 2 reads data while the others wait for it. */
const whole = (): Evidence => ({
  ...evidenceOf({ ...dumps(WORLD, [waiting, waiting, steps(8), waiting]), ...standing([WAITS, WAITS, READS, WAITS]) }),
  worldSize: 4,
})
/** What a host knows that has these ranks. */
function host(name: string, ranks: readonly number[]): Evidence {
  const evidence = whole()
  for (const rank of evidence.ranks.keys()) if (!ranks.includes(rank)) evidence.ranks.delete(rank)
  for (const me of evidence.ranks.values()) {
    me.host = name
    me.pid = 100 + me.rank
    me.alive = true
  }
  return evidence
}
const read = (text: string, evidence = createEvidence()): Evidence => {
  readFileInto({ path: 'x', name: 'x.json', bytes: Buffer.from(text) }, evidence)
  return evidence
}

describe('evidence of several hosts', () => {
  test('read back it is what was saved', () => {
    const evidence = host('node-a', [0, 1, 2, 3])
    const { sources: _sources, ...again } = read(saveEvidence(evidence))
    const { sources: _before, ...before } = evidence
    expect(again).toEqual(before)
  })

  test('names the rank of the other host that all wait for, and where it stands', () => {
    const [a, b] = [saveEvidence(host('node-a', [0, 1])), saveEvidence(host('node-b', [2, 3]))]
    expect(replyOf(read(a), judge(read(a)))).toMatchObject({ complete: false, ranks: [{ rank: 0 }, { rank: 1 }] })
    const reply = joinEvidence([a, b])
    expect(reply).toMatchObject({ verdict: 'hang', culprits: [2], complete: true })
    expect(reply.stands_at.join()).toContain('/job/data.py:71 load')
    expect(reply.ranks.map(({ rank, host: where }) => `${rank} ${where ?? ''}`).toSorted()).toEqual(['0 node-a', '1 node-a', '2 node-b', '3 node-b'])
    expect(reply.ranks.flatMap(({ rank, elsewhere }) => (elsewhere === true ? [rank] : [])).toSorted((a, b) => a - b)).toEqual([2, 3])
    const { culprits, cause } = joinEvidence([b, a])
    expect({ culprits, cause }).toEqual({ culprits: reply.culprits, cause: reply.cause })
  })

  test.each([
    [
      'for a lock in a library',
      stackOf(['/job/comm.py', 40, 'wait_all'], ['/job/loop.py', 12, 'main']),
      [],
      'all ranks that are seen are stuck at /job/comm.py:40 in wait_all, and may wait',
    ],
    ['each at a line of its own', '', [0, 1], 'Ranks 0 and 1 wait for a lock'],
  ])('of ranks that may wait for those of other hosts nobody is named: %s', (_, at, culprits, text) => {
    const own = [at || READS, at || stackOf(['/job/loop.py', 99, 'other'])]
    const evidence: Evidence = { ...evidenceOf(standing(own)), worldSize: 4, silence: { seconds: 90, usualSeconds: 1, since: 1_790_000_000, by: 'log' } }
    for (const me of evidence.ranks.values()) {
      me.still = true
      me.alive = true
      me.process = { state: 'S', syscall: 'futex', waitChannel: 'futex_do_wait', cpuShare: 0 }
    }
    const reply = replyOf(evidence, judge(evidence))
    expect(reply).toMatchObject({ verdict: 'hang', culprits })
    expect(reply.text).toContain(text)
    expect(reply.remedies.some((remedy) => remedy.includes('the other hosts'))).toBe(culprits.length === 0)
    // With all ranks in sight they are stuck themselves.
    expect(judge({ ...evidence, worldSize: 2 })).toMatchObject({ verdict: 'hang', cause: 'stuck', culprits: [0, 1] })
  })

  test('a rank that two hosts have is the first one’s, and said', () => {
    const joined = read(saveEvidence(host('node-b', [1, 2])), read(saveEvidence(host('node-a', [0, 1]))))
    expect(joined.ranks.get(1)?.host).toBe('node-a')
    expect(joined.problems).toContainEqual(expect.stringContaining('rank 1 is on two hosts, node-a and node-b'))
  })

  test.each([
    ['no JSON', '{"warpwatch_hang_evidence":1,'],
    ['a later format', '{"warpwatch_hang_evidence":2,"ranks":[]}'],
    ['ranks that are none', '{"warpwatch_hang_evidence":1,"ranks":[{"rank":-1}],"groups":[],"polls":[],"statements":[],"problems":[]}'],
    ['a text without end', `{"warpwatch_hang_evidence":1,"ranks":[],"groups":[],"polls":[],"statements":[],"problems":["${'x'.repeat(10_000)}"]}`],
    ['a prototype', '{"warpwatch_hang_evidence":1,"__proto__":{"ranks":[]}}'],
  ])('what another host sends is refused and said: %s', (_, text) => {
    const own = saveEvidence(host('node-a', [0, 1]))
    const reply = joinEvidence([own, text])
    expect(reply.problems).toContainEqual(expect.stringContaining('what another host sent: no saved evidence'))
    expect(reply.ranks.map(({ rank }) => rank)).toEqual([0, 1])
  })

  test('secrets are left out, and old steps where there are many', () => {
    const evidence = host('node-a', [0])
    const me = evidence.ranks.get(0)
    const [op] = me?.ops ?? []
    if (me === undefined || op === undefined) throw new Error('expected a rank with its steps')
    me.exception = 'RuntimeError: token=hf_abcdefghijklmnopqrstuvwxyz0123456789 was refused'
    evidence.problems.push('y'.repeat(9_000))
    me.ops = Array.from({ length: 5_000 }, (_, seq) => ({ ...op, seq }))
    const text = saveEvidence(evidence)
    expect(text).not.toContain('hf_abcdefghijklmnopqrstuvwxyz')
    expect(text.length).toBeLessThan(400_000)
    expect(read(text).ranks.get(0)).toMatchObject({ lostOldest: true, ops: expect.arrayContaining([expect.objectContaining({ seq: 4_999 })]) })
  })
})
