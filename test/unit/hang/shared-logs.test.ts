// What several ranks wrote into one log, behind whatever others put before their lines: whose each line is, and who is missing.
import { describe, expect, test } from 'vitest'
import { judged } from './job-folder.ts'

const work = (seq: number, ms: number): string =>
  `Watchdog caught collective operation timeout: WorkNCCL(SeqNum=${seq}, OpType=ALLREDUCE, NumelIn=12, NumelOut=12, Timeout(ms)=${ms}) ran for ${ms + 44} milliseconds before timing out.`
const of = (rank: number): string => `[rank${rank}]:[E1103 06:20:0${rank}.512345678 ProcessGroupNCCL.cpp:632] `
const timedOut = (rank: number, seq: number, before = ''): readonly string[] => [
  `${before}${of(rank)}[Rank ${rank}] ${work(seq, 600_000)}`,
  `${before}${of(rank)}[PG ID 0 PG GUID 0(default_pg) Rank ${rank}]  failure detected by watchdog at work sequence id: ${seq} PG status: last enqueued work: ${seq + 2}, last completed work: ${seq - 1}`,
]
const behind = (rank: number, seq: number, before = ''): string =>
  `${before}${of(rank)}[PG ID 0 PG GUID 0(default_pg) Rank ${rank}] Received a dump signal due to a collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: ${seq}, last completed NCCL work: ${seq}.`
const log = (lines: readonly string[]) => judged({ 'job.log': `${lines.join('\n')}\n` })

describe('one log of several ranks', () => {
  test.each([
    ['an engine with its time', '2026-11-03T06:20:01.123456789Z '],
    ['pdsh with its host', 'node-7: '],
    ['Ray with its process', '\u001b[36m(RayTrainWorker pid=4711, ip=10.1.0.7)\u001b[0m '],
    ['a progress bar without an end of line', 'epoch 2:  41%|####      | 204/500 [00:31<00:44,  6.58it/s]'],
  ])('behind the prefix of %s', (_, before) => {
    expect(log([...[0, 2, 3].flatMap((rank) => timedOut(rank, 9, before)), behind(1, 8, before)])).toMatchObject({
      verdict: 'hang',
      cause: 'missing',
      culprits: [1],
    })
  })
  test('before torch 2.3 only the message names the rank; one between the others that says nothing did not wait', () => {
    const old = (rank: number): string => `[E ProcessGroupNCCL.cpp:475] [Rank ${rank}] ${work(31, 1_800_000)}`
    expect(log([0, 1, 3].map(old))).toMatchObject({ verdict: 'hang', culprits: [2] })
    // Too many for a gap: these are ranks of another host.
    expect(log([0, 1, 6, 7].map(old)).culprits).toEqual([])
  })
  test('mpirun with its tags', () => {
    const gloo = 'RuntimeError: [../gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 900000ms for recv operation to complete'
    expect(log([...[0, 1, 3].map((rank) => `[1,${rank}]<stderr>:${gloo}`), '[1,2]<stdout>:reading shard 12'])).toMatchObject({ verdict: 'hang', culprits: [2] })
  })
  test('Horovod, which lists ranks below its warning', () => {
    const warning = 'W horovod/common/stall_inspector.cc:105] One or more tensors were submitted by subset of ranks.'
    expect(log([warning, 'Stalled ranks:', '1: [grad.1, grad.2 ...]', '5: [grad.1]', 'step 12: [done]'])).toMatchObject({ verdict: 'hang', culprits: [1, 5] })
  })
  test('ranks that get no id of a communicator wait for its first', () => {
    const line = (rank: number, keys: string): string =>
      `[rank${rank}]: torch.distributed.DistBackendError: [${rank}] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: wait timeout after 600000ms, keys: ${keys}`
    expect(log([1, 2].map((rank) => line(rank, '/default_pg/0//cuda//0')))).toMatchObject({ verdict: 'hang', culprits: [0] })
    // In another group its rank 0 may be any rank.
    expect(log([1, 2].map((rank) => line(rank, '/3/0//cuda//0'))).culprits).toEqual([])
  })
})
