// CUDA in forked children; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['cuda_fork']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'PyTorch',
    text: "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method",
    kinds: one,
  },
  {
    name: 'a worker of vLLM',
    text: '(VllmWorkerProcess pid=12) ERROR multiproc_worker_utils.py:233] Exception: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing',
    kinds: one,
  },
  {
    name: 'a data loader',
    text: '  File "/opt/torch/utils/data/_utils/worker.py", line 308\nRuntimeError: Cannot re-initialize CUDA in forked subprocess.',
    kinds: one,
  },
  { name: 'quiet: a start method', text: 'INFO: using the spawn start method for CUDA workers', kinds: [] },
]
