// TensorFlow, JAX and XLA without GPU memory: BFC allocator, stream executor, RESOURCE_EXHAUSTED.
import type { Remedy } from '../../../model/fault.ts'
import { bytesOf, integerIn, SIZE } from '../quantity.ts'
import { memoryFamily } from './rules.ts'
import { known } from '../parts/window.ts'

const REMEDIES: readonly Remedy[] = [
  {
    text: 'See who holds memory on the GPU: TensorFlow and JAX take nearly all of it at their start.',
    command: 'nvidia-smi --query-compute-apps=gpu_uuid,pid,process_name,used_memory --format=csv',
  },
  { text: 'Let TensorFlow take memory as it needs it.', command: 'export TF_FORCE_GPU_ALLOW_GROWTH=true' },
  { text: 'Let JAX do the same.', command: 'export XLA_PYTHON_CLIENT_PREALLOCATE=false' },
  { text: 'Need less: a smaller batch, bf16, rematerialisation (jax.checkpoint).' },
]
const GPU_OF_ALLOCATOR = /\bGPU_(\d{1,4})_bfc\b|device:GPU:(\d{1,4})\b|device ordinal:? (\d{1,4})\b/i
function gpuOf(message: string): number | undefined {
  const match = GPU_OF_ALLOCATOR.exec(message)
  const digits = match?.[1] ?? match?.[2] ?? match?.[3]
  return digits === undefined ? undefined : Number(digits)
}
/** Exact bytes where they are given beside the rounded amount. */
const requested = (amount: string | undefined, unit: string | undefined, exact: string | undefined): number | undefined =>
  bytesOf(exact, '') ?? bytesOf(amount, unit)
const HARMLESS = /this is not a failure|by allocator cpu|device:CPU:\d|host allocator|NPU|\bTPU\b/

export const cudaOomXla = memoryFamily(
  'cuda-oom-xla',
  [
    'ran out of memory trying to allocate',
    'failed to allocate ',
    'OOM when allocating tensor',
    'Out of memory while trying to allocate',
    'Out of memory allocating ',
    'Failed to allocate request for ',
    'bytes for new constant',
    'failed initializing StreamExecutor',
    'RESOURCE_EXHAUSTED: Out of memory',
    'ResourceExhaustedError: Out of memory',
  ],
  [
    {
      pattern: new RegExp(`ran out of memory trying to allocate ${SIZE}(?: \\(rounded to (\\d{1,18})\\))?`),
      who: 'TensorFlow or JAX',
      unless: HARMLESS,
      facts: ([, amount, unit, exact], message) =>
        known({ requested_bytes: requested(amount, unit, exact), gpu_index: gpuOf(message.slice(0, 300)) ?? undefined }),
      remedies: REMEDIES,
    },
    {
      pattern: new RegExp(
        `failed to allocate ${SIZE} \\((\\d{1,18}) bytes\\) from device: (?:CUDA_ERROR_OUT_OF_MEMORY|RESOURCE_EXHAUSTED|HIP_ERROR_OutOfMemory|hipErrorOutOfMemory)`,
      ),
      who: 'TensorFlow or JAX',
      facts: ([, amount, unit, exact], message) => known({ requested_bytes: requested(amount, unit, exact), gpu_index: gpuOf(message.slice(0, 300)) }),
      remedies: REMEDIES,
    },
    {
      pattern: /OOM when allocating tensor (?:with|of) shape ?\[[\d,\s]{0,120}\]/,
      who: 'TensorFlow',
      unless: HARMLESS,
      facts: (_, message) => known({ gpu_index: gpuOf(message.slice(0, 300)) }),
      remedies: REMEDIES,
    },
    {
      pattern: new RegExp(`Out of memory (?:while trying to allocate|allocating) ${SIZE}`, 'i'),
      who: 'XLA',
      unless: HARMLESS,
      facts: ([, amount, unit], message) =>
        known({ requested_bytes: bytesOf(amount, unit), gpu_index: gpuOf(message.slice(0, 300)), allocated_bytes: undefined }),
      remedies: REMEDIES,
    },
    {
      pattern: new RegExp(`Failed to allocate request for ${SIZE}(?: \\((\\d{1,18})B\\))?(?: on device ordinal (\\d{1,4}))?`),
      who: 'XLA',
      unless: HARMLESS,
      facts: ([, amount, unit, exact, device]) =>
        known({ requested_bytes: requested(amount, unit, exact), gpu_index: device === undefined ? undefined : Number(device) }),
      remedies: REMEDIES,
    },
    {
      pattern: /failed initializing StreamExecutor for CUDA device ordinal (\d{1,4}).{0,160}CUDA_ERROR_OUT_OF_MEMORY/,
      who: 'TensorFlow',
      facts: (_, message) => known({ gpu_index: integerIn(message, /device ordinal (\d{1,4})/) }),
      verdict: 'TensorFlow could not even open the GPU: no memory was left for its context, so something else holds nearly all of it.',
      remedies: REMEDIES,
    },
    {
      pattern: /[Ff]ailed to allocate (\d{1,18}) bytes for new constant/,
      who: 'XLA',
      facts: ([, bytes]) => known({ requested_bytes: bytesOf(bytes, '') }),
      remedies: REMEDIES,
    },
    { pattern: /(?:RESOURCE_EXHAUSTED|ResourceExhaustedError): Out of memory/, who: 'XLA', unless: HARMLESS, remedies: REMEDIES },
  ],
)
