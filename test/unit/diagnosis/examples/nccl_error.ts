// NCCL's failures; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['nccl_error']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a time-out',
    text: '[rank5]:[E101 10:00:00.000000000 ProcessGroupNCCL.cpp:616] [Rank 5] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=_ALLGATHER_BASE, NumelIn=1024, NumelOut=8192, Timeout(ms)=1800000) ran for 1800031 milliseconds before timing out.',
    kinds: one,
    facts: { rank: 5, timeout_ms: 1_800_000 },
  },
  {
    name: 'the heartbeat',
    text: "[rank0]:[F ProcessGroupNCCL.cpp:1366] [PG 0 Rank 0] [PG 0 Rank 0] ProcessGroupNCCL's watchdog got stuck for 480 seconds without making progress. Heartbeat monitor timed out!",
    kinds: one,
    facts: { rank: 0 },
  },
  {
    name: 'a system error with its version',
    text: 'torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.21.5\nncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.',
    kinds: one,
    facts: { nccl_version: '2.21.5' },
  },
  { name: 'a peer that is gone', text: 'ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.', kinds: one },
  {
    name: 'a connection refused',
    text: 'node3:41:77 [1] misc/socket.cc:484 NCCL WARN socketStartConnect: Connect to 10.0.0.7<40213> failed : Software caused connection abort',
    kinds: one,
  },
  {
    name: 'InfiniBand',
    text: 'node3:41:77 [1] transport/net_ib.cc:1294 NCCL WARN NET/IB : Got completion from peer 10.0.0.9<1234> with status=12 opcode=0 len=0 vendor err 129 (Recv), error',
    kinds: one,
  },
  {
    name: 'two ranks on one GPU',
    text: 'ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\nDuplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000',
    kinds: one,
  },
  { name: 'a launch failure inside NCCL', text: "n1:9:9 [0] misc/strongstream.cc:395 NCCL WARN Cuda failure 'unspecified launch failure'", kinds: one },
  {
    name: 'quiet: its start',
    text: 'node1:1:1 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>\nnode1:1:1 [0] NCCL INFO cudaDriverVersion 12080\nNCCL version 2.26.2+cuda12.8',
    kinds: [],
  },
  {
    name: 'quiet: advice',
    text: '[rank0]:[W ProcessGroupNCCL.cpp:4115] [PG ID 0 Rank 0]  using GPU 0 to perform barrier as devices used by this process are currently unknown.',
    kinds: [],
  },
  {
    name: 'the store of another rank is gone',
    text: "RuntimeError: [3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer",
    kinds: one,
  },
  { name: 'XLA', text: 'INTERNAL: NCCL operation ncclGroupEnd() failed: unhandled cuda error (run with NCCL_DEBUG=INFO for details).', kinds: one },
  {
    name: 'a completion with an error',
    text: 'w0:11:42 [1] ib_plugin.c:1615 NCCL WARN NET/IB : Got completion from peer 10.0.0.7<4100> with status=12 opcode=0 len=0 vendor err 129 (Recv)',
    kinds: ['nccl_error'],
  },
  {
    name: 'XLA ends at a rendezvous',
    text: 'F xla/service/rendezvous.cc:140] [id=2] Termination timeout for `first call to collective operation 7; run_id=9` of 60 seconds exceeded. Exiting to ensure a consistent program state. Expected 4 threads to join the rendezvous, but only 3 of them arrived on time.',
    kinds: one,
    facts: { timeout_ms: 60_000 },
  },
  {
    name: 'XLA warns of a rendezvous, and it goes on',
    text: 'E xla/service/rendezvous.cc:70] [id=2] This thread has been waiting for `thunk initialization completion for device ordinal 1; run_id=9` for 10 seconds and may be stuck. Expected 4 threads to join the rendezvous, but not all of them arrived on time.\nE xla/service/rendezvous.cc:84] Thread is unstuck! Warning above was a false-positive. Perhaps the timeout is too short.',
    kinds: [],
  },
]
