// NVLink as CUDA reports it; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['nvlink_errors']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'PyTorch', text: 'RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution', kinds: one },
  { name: 'driver API', text: 'cuStreamSynchronize: CUDA_ERROR_NVLINK_UNCORRECTABLE', kinds: one },
  { name: 'runtime API', text: 'cudaStreamSynchronize returned cudaErrorNvlinkUncorrectable', kinds: one },
  { name: 'quiet: loaded', text: '[    6.8] nvidia-nvlink: Nvlink Core is being initialized, major device number 236', kinds: [] },
  {
    name: 'memory of another GPU',
    text: 'torch.AcceleratorError: CUDA error: Invalid access of peer GPU memory over nvlink or a hardware error',
    kinds: ['nvlink_errors'],
  },
]
