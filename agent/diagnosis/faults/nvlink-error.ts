// CUDA's own error about NVLink: the link failed while a program ran (CUDA error 220). The kernel's Xids and the counters tell more.
// https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html, https://github.com/pytorch/pytorch/issues/58155
import { RESET_TOGETHER } from './remedies/gpu.ts'
import { ruleFamily } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'

const remedies: readonly Piece[] = [
  { text: 'See which links count errors, and which are down: the message names none.', command: 'nvidia-smi nvlink -e; nvidia-smi nvlink -s' },
  {
    text: 'See what the kernel logged in the same second: Xid 74, 144 to 150 and SXids name GPU and link.',
    command: "sudo dmesg -T | grep -E 'NVRM: Xid|SXid' | tail",
  },
  { text: 'If one link keeps failing: reseat its bridge, or have the board checked.' },
  RESET_TOGETHER,
]

export const nvlinkError = ruleFamily({
  id: 'nvlink-error',
  kind: 'nvlink_errors',
  literals: [
    'ncorrectable NVLink error',
    'CUDA_ERROR_NVLINK_UNCORRECTABLE',
    'cudaErrorNvlinkUncorrectable',
    'peer GPU memory over nvlink',
    'CUDA_ERROR_CONTAINED',
    'cudaErrorContained',
  ],
  rules: [
    {
      pattern: /[Uu]ncorrectable NVLink error|CUDA_ERROR_NVLINK_UNCORRECTABLE|cudaErrorNvlinkUncorrectable/,
      severity: 'critical',
      title: 'Uncorrectable NVLink error',
      verdict: 'A link between GPUs failed while the program used it, and CUDA ended its work.',
      remedies,
    },
    {
      // CUDA error 721, from CUDA 12.8 on.
      pattern: /Invalid access of peer GPU memory over nvlink|CUDA_ERROR_CONTAINED|cudaErrorContained/i,
      severity: 'critical',
      title: 'Access to the memory of another GPU failed',
      verdict:
        'A GPU could not reach the memory of another one over NVLink: the other process freed it or died, a kernel used a wrong address, or the link failed.',
      remedies: [{ text: 'Look for the first error of the other ranks: a rank that died takes its memory with it.' }, remedies],
    },
  ],
})
