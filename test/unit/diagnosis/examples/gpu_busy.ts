// A GPU that takes no further process; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['gpu_busy']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'runtime', text: 'RuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable', kinds: one },
  { name: 'driver', text: 'cuCtxCreate failed: CUDA_ERROR_DEVICE_UNAVAILABLE', kinds: one },
  { name: 'with its number', text: 'CUDA error 46: all CUDA-capable devices are busy or unavailable', kinds: one, facts: { cuda_error_code: 46 } },
  { name: 'quiet: a server', text: 'worker 3 is busy or unavailable, retrying on worker 4', kinds: [] },
  {
    name: 'MPS is full',
    text: 'CUDA error: the hardware resources required to create MPS client have been exhausted',
    kinds: ['gpu_busy'],
  },
  {
    name: 'MIG mode while something watches',
    text: 'Unable to enable MIG Mode for GPU 00000000:0A:00.0: In use by another client',
    kinds: ['gpu_busy'],
  },
]
