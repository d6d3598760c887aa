// What an error of cuBLAS or cuDNN means where its message holds no status by name.
import { setVariables } from '../remedies/environment.ts'
import type { Piece } from '../remedies/plan.ts'
import type { Matched } from './rules.ts'

export type Meaning = {
  readonly pattern: RegExp
  readonly says: string | ((matched: Matched) => string)
  readonly pieces: (matched: Matched) => readonly Piece[]
}

/** https://docs.nvidia.com/cuda/cublas/#cublasstatus-t */
const STATUS_NUMBERS: Readonly<Record<string, string>> = {
  '1': 'CUBLAS_STATUS_NOT_INITIALIZED',
  '3': 'CUBLAS_STATUS_ALLOC_FAILED',
  '8': 'CUBLAS_STATUS_ARCH_MISMATCH',
  '13': 'CUBLAS_STATUS_EXECUTION_FAILED',
  '15': 'CUBLAS_STATUS_NOT_SUPPORTED',
}

export const WITHOUT_STATUS: readonly Meaning[] = [
  {
    pattern: /[Nn]o (?:valid )?execution plans (?:built|support)/,
    says: 'cuDNN has no kernel for this operation: its shape, its type, or this GPU. Often it is attention.',
    pieces: ({ situation }) => [
      situation().programs.has('pytorch') && { text: 'For attention let PyTorch use another backend: torch.backends.cuda.enable_cudnn_sdp(False).' },
      {
        text: 'See both versions, then update PyTorch: it brings a newer cuDNN.',
        command: 'python -c "import torch; print(torch.__version__, torch.backends.cudnn.version())"',
      },
    ],
  },
  {
    pattern: /cuBlas call failed status = \d/,
    says: ({ message }) =>
      `cuBLAS returned ${STATUS_NUMBERS[/status = (\d{1,2})/.exec(message)?.[1] ?? ''] ?? 'an error'}: mostly the GPU is newer than the CUDA that this TensorFlow was built with, or its memory is full.`,
    pieces: ({ situation }) => [
      { text: 'Let TensorFlow take memory as it needs it.', command: setVariables(situation(), { TF_FORCE_GPU_ALLOW_GROWTH: 'true' }) },
      {
        text: 'See whether the build knows this GPU: compute capability 7.5 needs CUDA 10, 8.0 and newer CUDA 11.',
        command: 'nvidia-smi --query-gpu=name,compute_cap --format=csv',
      },
    ],
  },
]

/** Text Embeddings Inference is no Python program: nobody can change its tensors. */
export const TEI_UNSUPPORTED: readonly Piece[] = [
  { text: 'Limit the tokens of a batch: large ones bring it.', command: '--max-batch-tokens 4096 --max-client-batch-size 8' },
  { text: 'Take the newest image that was built for this GPU (turing, 86, 89, hopper: see the README); its kernels need no operation that the GPU lacks.' },
]
