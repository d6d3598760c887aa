// Ends of jobs of the kind aborted; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'C++',
    text: "terminate called after throwing an instance of 'std::runtime_error'\n  what():  graph is empty\nAborted (core dumped)",
    kinds: ['aborted'],
    facts: { signal: 'SIGABRT' },
  },
  { name: 'the heap', text: 'malloc(): corrupted top size\nAborted', kinds: ['aborted'], facts: { signal: 'SIGABRT' } },
  {
    name: 'a check',
    text: 'F0302 10:00:00.000000  4242 graph.cc:88] Check failed: n > 0 (0 vs. 0)\n*** Check failure stack trace: ***\nAborted',
    kinds: ['aborted'],
    facts: { signal: 'SIGABRT' },
  },
  { name: 'an instruction that is missing', text: 'Illegal instruction (core dumped)', kinds: ['aborted'], facts: { signal: 'SIGILL' } },
  {
    name: 'quiet: a transaction',
    text: '2026-03-02 10:00:00,000 INFO db: transaction 4 aborted, trying again\n2026-03-02 10:00:01,000 INFO db: transaction 5 done',
    kinds: [],
  },
  {
    name: 'a Go program panics',
    text: 'panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:9 +0x1d\nexit status 2',
    kinds: ['aborted'],
  },
  {
    name: 'ggml checks itself',
    text: '/src/ggml/src/ggml-cuda/rope.cu:212: GGML_ASSERT(ne00 % 2 == 0) failed',
    kinds: ['aborted'],
    facts: { signal: 'SIGABRT' },
  },
  {
    name: 'ggml checks a call of CUDA',
    text: 'CUDA error: operation not supported\n  current device: 0, in function ggml_cuda_op at /src/ggml-cuda.cu:2210\n  cudaStreamSynchronize(stream)\n/src/ggml-cuda.cu:95: CUDA error',
    kinds: ['aborted'],
    facts: { signal: 'SIGABRT' },
  },
  {
    name: "vLLM's all-reduce",
    text: "Failed: Cuda error /build/csrc/custom_all_reduce.cuh:440 'invalid argument'",
    kinds: ['aborted'],
  },
  {
    name: 'Go behind a counter',
    text: 'batch 1 / 90 1m30spanic: runtime error: index out of range [2] with length 2\n\ngoroutine 9 [running]:\nmain.cut()\n\t/home/user/tide/cut.go:31 +0x1ac',
    kinds: ['aborted'],
    facts: { frame: 'cut.go:31' },
  },
]
