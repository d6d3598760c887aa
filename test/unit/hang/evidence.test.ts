// The readers of evidence: each library's words, and files that are damaged, hostile or too large.
import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readFolder } from '../../../agent/hang/evidence/folder.ts'
import { threadsOf } from '../../../agent/hang/evidence/stacks.ts'
import { createEvidence } from '../../../agent/hang/model.ts'
import { dumpOf, evidenceOf, folderOf, judged } from './job-folder.ts'

const WORLD = { '0': { desc: 'default_pg', ranks: [0, 1] } }
const line = (rank: number, file: string, text: string): string => `[rank${rank}]:[E1104 09:30:01.250000000 ${file}] ${text}\n`
const WORK = 'WorkNCCL(SeqNum=88, OpType=ALLREDUCE, NumelIn=4096, NumelOut=4096, Timeout(ms)=600000)'

describe('watchdog lines', () => {
  test.each([
    [
      '2.3',
      line(3, 'ProcessGroupNCCL.cpp:563', `[Rank 3] Watchdog caught collective operation timeout: ${WORK} ran for 600031 milliseconds before timing out.`),
      undefined,
    ],
    [
      '2.5',
      line(
        3,
        'ProcessGroupNCCL.cpp:1664',
        '[PG 0 (default_pg) Rank 3] Exception (either an error or timeout) detected by watchdog at work: 88, last enqueued NCCL work: 91, last completed NCCL work: 87.',
      ),
      '0',
    ],
    [
      '2.4, which says the group only as it ends',
      line(
        3,
        'ProcessGroupNCCL.cpp:2100',
        `[PG ID 1 PG GUID 7(mesh_tp) Rank 1] Process group watchdog thread terminated with exception: [Rank 3] Watchdog caught collective operation timeout: ${WORK} ran for 600031 milliseconds before timing out.`,
      ),
      '7',
    ],
    [
      '2.7',
      line(
        3,
        'ProcessGroupNCCL.cpp:2268',
        '[PG ID 1 PG GUID 7(mesh_tp) Rank 1]  failure detected by watchdog at work sequence id: 88 PG status: last enqueued work: 91, last completed work: 87',
      ),
      '7',
    ],
    [
      '2.14',
      line(
        3,
        'ProcessGroupNCCL.cpp:697',
        `[PG GUID 7(mesh_tp) Rank 1] Watchdog caught collective operation timeout: ${WORK} ran for 600031 milliseconds before timing out.`,
      ),
      '7',
    ],
  ])('of torch %s: operation, position and group', (_, text, group) => {
    const [timeout] = evidenceOf({ 'logs/rank_3.log': text }).ranks.get(3)?.timeouts ?? []
    expect(timeout?.seq).toBe(88)
    expect(timeout?.group).toBe(group)
  })

  test('of nccl2 (2.15): the group and how long it waited, no position', () => {
    const text = '[rank5]:[E1104 09:30:01.250000000 WorkNCCL.cpp:297] [TC][rank=1][name=3] Operation timed out after 300015 ms\n'
    expect(evidenceOf({ 'stdout.log': text }).ranks.get(5)?.timeouts).toMatchObject([{ group: '3', groupRank: 1, waitedSeconds: 300.015 }])
  })

  test('the dump signal says how far a rank has come that waits for nothing', () => {
    const text = line(
      2,
      'ProcessGroupNCCL.cpp:1921',
      '[PG ID 0 PG GUID 0(default_pg) Rank 2] Received a dump signal due to a collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: 41, last completed NCCL work: 41.',
    )
    expect(evidenceOf({ 'rank_2.log': text }).ranks.get(2)?.issued).toEqual(new Map([['0', 41]]))
  })
})

describe('libraries that name the ranks', () => {
  test.each([
    ['a monitored barrier', '[Rank 0]: Ranks 5, 6 failed to pass monitoredBarrier in 9000 ms', [5, 6]],
    ['a desync report', "  - [4] finished collective #12, but didn't join collective #13 (count from 1)", [4]],
    ['Horovod', 'allreduce.grad.3 [missing ranks: 2, 7]', [2, 7]],
    ['JAX', 'DEADLINE_EXCEEDED: Barrier timed out. Id: b Timed out task names: /job:jax_worker/replica:0/task:3', [3]],
  ])('%s', (_, text, ranks) => {
    expect(judged({ 'rank_0.log': `${text}\n` })).toMatchObject({ verdict: 'hang', culprits: ranks, confidence: 'read' })
  })

  test('Gloo: those that timed out are victims of the one whose connection was closed', () => {
    const timed = 'RuntimeError: [./gloo/transport/tcp/unbound_buffer.cc:78] Timed out waiting 8000ms for recv operation to complete\n'
    const closed = 'RuntimeError: [./gloo/transport/tcp/pair.cc:547] Connection closed by peer [10.0.0.1]:1942\n'
    expect(judged({ 'rank_0.log': timed, 'rank_1.log': timed, 'rank_2.log': closed, 'rank_3.log': timed })).toMatchObject({ verdict: 'hang', culprits: [2] })
  })
})

describe('stacks', () => {
  test('of faulthandler and py-spy', () => {
    const expected = [{ file: '/job/a.py', line: 7, function: 'step' }]
    expect(threadsOf('Current thread 0x00007f01 (most recent call first):\n  File "/job/a.py", line 7 in step\n')[0]?.frames).toEqual(expected)
    const [spy] = threadsOf('Process 12: python a.py\nThread 12 (active+gil): "MainThread"\n    step (/job/a.py:7)\n')
    expect(spy).toMatchObject({ name: 'MainThread', holdsGil: true, frames: expected })
  })
})

describe('RAS', () => {
  test('the answer of 2.28.9 lacks a comma where a rank is missing', () => {
    const status = '"status": {"unresponsive": true, "considered_dead": true}'
    const text = `{"nccl_version": "2.28.9", "timestamp": "2026-01-02 03:04:05", "communicators": [{"hash": "0x1", "size": 2, "ranks": [{"rank": 0, "host": "h", "pid": 1, "collective_counts": {"AllReduce": 4}}], "missing_ranks": [{"rank": 1, "host": "h", "pid": 2, "nvml_dev": 1\n ${status}}]}]}`
    expect(evidenceOf({ 'ras/poll_0.json': text }).polls[0]?.comms[0]?.dead).toEqual([{ rank: 1, place: 'h:2' }])
  })
})

describe('files that cannot be read', () => {
  const dump = dumpOf(WORLD, [{}, { state: 'scheduled' }])

  test('a truncated dump is named, and the others count', () => {
    const evidence = evidenceOf({ nccl_trace_rank_0: dump.subarray(0, dump.length - 30), nccl_trace_rank_1: dump })
    expect(evidence.problems).toEqual([expect.stringMatching(/^nccl_trace_rank_0: not a Flight Recorder dump that can be read: .*truncated/)])
    expect(evidence.ranks.get(1)?.ops?.length).toBe(2)
  })

  test('a pickle that would run code is refused', () => {
    expect(evidenceOf({ nccl_trace_rank_0: Buffer.from('\u0080\u0002cos\nsystem\n(U\u0004exitR.', 'latin1') }).problems[0]).toMatch(
      /^nccl_trace_rank_0: not a Flight Recorder dump/,
    )
  })

  test('a bomb of containers ends at the limit, a huge file is not read at all', () => {
    const bomb = Buffer.concat([Buffer.from([0x80, 2, 0x28]), Buffer.alloc(3 * 2 ** 20, 0x5d), Buffer.from('e.')])
    const folder = folderOf({ nccl_trace_rank_0: bomb, nccl_trace_rank_1: dump })
    // A hole: the disk holds one page of it.
    truncateSync(join(folder, 'nccl_trace_rank_1'), 200 * 2 ** 20)
    const evidence = createEvidence()
    readFolder(folder, evidence)
    expect(evidence.problems).toEqual([
      expect.stringMatching(/^nccl_trace_rank_0: .*too large to read/),
      expect.stringMatching(/^nccl_trace_rank_1: 200.* MiB, more than the 64.* MiB/),
    ])
  })
})
