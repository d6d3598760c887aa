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
  {
    name: 'CUDA itself, in a worker',
    text: 'RuntimeError: Caught RuntimeError in DataLoader worker process 2.\nOriginal Traceback (most recent call last):\n  File "/opt/torch/utils/data/_utils/worker.py", line 300, in _worker_loop\n    data = fetcher.fetch(index)\n  File "/srv/set.py", line 8, in __getitem__\n    return self.x[i].cuda()\nRuntimeError: CUDA error: initialization error',
    kinds: ['cuda_fork'],
  },
  {
    name: 'Lightning looks first',
    text: "RuntimeError: Lightning can't create new processes if CUDA is already initialized. Did you manually call `torch.cuda.*` functions?",
    kinds: ['cuda_fork'],
  },
]
