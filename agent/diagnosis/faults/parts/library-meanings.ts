// What an error of cuBLAS or cuDNN means where its message holds no status by name.
import { setVariables } from '../remedies/environment.ts'
import { COMPUTE_CAP, whoHolds } from '../remedies/gpu.ts'
import { INFERENCE } from '../../situation/programs.ts'
import type { Piece } from '../remedies/plan.ts'
import { tooNewFor, tooNewForTorch } from './architecture.ts'
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

/** What cublasGetStatusString says instead of a name: ggml, ONNX Runtime and XLA print it. */
const STATUS_TEXTS: readonly (readonly [words: string, status: string])[] = [
  ['the library was not initialized', 'CUBLAS_STATUS_NOT_INITIALIZED'],
  ['the resource allocation failed', 'CUBLAS_STATUS_ALLOC_FAILED'],
  ['an unsupported value or parameter was passed to the function', 'CUBLAS_STATUS_INVALID_VALUE'],
  ['the function requires an architectural feature absent from the device', 'CUBLAS_STATUS_ARCH_MISMATCH'],
  ['an access to GPU memory space failed', 'CUBLAS_STATUS_MAPPING_ERROR'],
  ['the function failed to launch on the GPU', 'CUBLAS_STATUS_EXECUTION_FAILED'],
  ['an internal operation failed', 'CUBLAS_STATUS_INTERNAL_ERROR'],
  ['the requested functionality is not supported', 'CUBLAS_STATUS_NOT_SUPPORTED'],
]
/** OpenMM prints cuFFT's number alone. https://docs.nvidia.com/cuda/cufft/#cufftresult */
const FFT_NUMBERS: Readonly<Record<string, string>> = {
  '2': 'CUFFT_ALLOC_FAILED',
  '5': 'CUFFT_INTERNAL_ERROR',
  '6': 'CUFFT_EXEC_FAILED',
  '7': 'CUFFT_SETUP_FAILED',
}
export const statusInWords = (text: string): string | undefined =>
  STATUS_TEXTS.find(([words]) => text.includes(words))?.[1] ?? FFT_NUMBERS[/Error initializing FFT: (\d)/.exec(text)?.[1] ?? '']
/** What a compiler quotes is no error of the library. */
export const COMPILED =
  /:\d{1,6}:\d{1,6}: (?:fatal )?(?:error|note|warning): |\bundeclared\b|not declared in this scope|identifier "\w{1,80}" is undefined|^\s{0,8}\d{1,6} \| |^\s{0,12}\|\s/

/** Programs whose users cannot change a tensor: another precision or version is what they can choose. */
export const PRECISION: Meaning['pieces'] = ({ situation }) => {
  const { programs } = situation()
  if (programs.has('ctranslate2')) return [{ text: 'Choose compute_type="float16": INT8 types lack an operation on some GPUs, GeForce RTX 50 among them.' }]
  if (programs.has('llamacpp') || programs.has('ollama'))
    return [{ text: 'Update the program, and until then take a model file without BF16 tensors (F16 or Q8_0).' }]
  return INFERENCE.some((one) => programs.has(one))
    ? [{ text: 'Choose another precision of the model, float16 instead of FP8 or INT8, and update the program with its libraries.' }]
    : []
}

export const WITHOUT_STATUS: readonly Meaning[] = [
  {
    // aten/src/ATen/native/cudnn/Conv_v8.cpp and Conv_v7.cpp: every plan was tried.
    pattern: /unable to find an engine to execute|Unable to find a valid cuDNN algorithm/,
    says: 'cuDNN tried all its ways to compute this convolution, and none worked: mostly too little GPU memory is free for their workspace, else type and shape are not supported on this GPU.',
    pieces: ({ situation }) => [
      { text: 'Use a smaller batch or smaller inputs: the error then goes away where it was memory.' },
      whoHolds(situation()),
      { text: 'If it stays: try float32, and channels_last off; where that helps, this GPU or cuDNN has no kernel for the type or layout.' },
      {
        text: 'See both versions; an older cuDNN in LD_LIBRARY_PATH must not come before that of PyTorch.',
        command: 'python -c "import torch; print(torch.__version__, torch.backends.cudnn.version())"; printenv LD_LIBRARY_PATH',
      },
    ],
  },
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
        command: COMPUTE_CAP,
      },
    ],
  },
  {
    pattern: /unable to open database file|sqlite_db/,
    says: 'MIOpen could not open its database of kernels: the folder is not writable, or the home folder is missing.',
    pieces: () => [{ text: 'Name folders that can be written.', command: 'export MIOPEN_USER_DB_PATH=/tmp/miopen MIOPEN_CUSTOM_CACHE_DIR=/tmp/miopen-cache' }],
  },
  {
    pattern: /cannot find ROCm device library|Code object build failed|comgr/,
    says: 'MIOpen compiles kernels at their first use, and the compiler failed.',
    pieces: () => [
      {
        text: "Install ROCm's device libraries in the release of the framework, or name their folder: the compiler did not find them, or cannot read them.",
        command: 'ls /opt/rocm/amdgcn/bitcode | head -n 3; export ROCM_PATH=/opt/rocm',
      },
      { text: 'See that the framework and ROCm belong to one release.', command: 'pip list | grep -i torch; cat /opt/rocm/.info/version' },
    ],
  },
  {
    pattern: /HOST_ALLOCATION_FAILED/,
    says: 'the library could not get host memory (RAM), not GPU memory.',
    pieces: () => [
      { text: 'See how much host memory is left, and whether the container or job has a limit.', command: 'free -g; ulimit -a' },
      { text: 'Use fewer worker processes, or less pinned memory.' },
    ],
  },
  {
    pattern: /VERSION_MISMATCH/,
    says: 'parts of two different cuDNN versions were loaded together.',
    pieces: (matched) => [
      {
        text: 'Find the second cuDNN: libraries of pip, of the system and of LD_LIBRARY_PATH must not be mixed.',
        ...(matched.situation().system === 'windows'
          ? { command: 'pip list' }
          : { command: 'ldconfig -p | grep libcudnn; printenv LD_LIBRARY_PATH; pip list | grep -i cudnn' }),
      },
      { text: 'Remove the one that does not belong to the framework, or reinstall the framework so that it brings its own.' },
    ],
  },
]

/** Text Embeddings Inference is no Python program: nobody can change its tensors. */
export const TEI_UNSUPPORTED: readonly Piece[] = [
  { text: 'Limit the tokens of a batch: large ones bring it.', command: '--max-batch-tokens 4096 --max-client-batch-size 8' },
  { text: 'Take the newest image that was built for this GPU (turing, 86, 89, hopper: see the README); its kernels need no operation that the GPU lacks.' },
]

const FAILS_SO = /EXECUTION_FAILED|NOT_INITIALIZED|INTERNAL_ERROR|ARCH_MISMATCH|NOT_SUPPORTED|failed to execute/
/** Said in prose, mostly: the library has no code for the GPU. */
export function newerGpu({ message, situation }: Matched): Meaning | undefined {
  const old = FAILS_SO.test(message) ? tooNewForTorch(situation().text, situation().versions.torch) : undefined
  if (old !== undefined)
    return {
      pattern: FAILS_SO,
      says: `the GPU (${old.gpu}) is newer than PyTorch ${old.torch}, whose libraries hold no code for it: it needs PyTorch ${old.needs} or newer.`,
      pieces: () => [{ text: `Install PyTorch ${old.needs} or newer, with the Python and the extensions that belong to it.`, command: 'nvidia-smi' }],
    }
  const found = FAILS_SO.test(message) ? tooNewFor(situation().text) : undefined
  if (found === undefined) return undefined
  return {
    pattern: FAILS_SO,
    says: `the GPU (${found.gpu}) is newer than CUDA ${found.cuda}, whose libraries do not know it: it needs CUDA ${found.needs} or newer.`,
    pieces: () => [{ text: `Install a build of the program for CUDA ${found.needs} or newer; the driver must be new enough for it.`, command: 'nvidia-smi' }],
  }
}
