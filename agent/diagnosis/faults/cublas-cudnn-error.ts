// An error of CUDA's mathematical libraries: cuBLAS, cuDNN, cuSPARSE, cuSOLVER, cuFFT, cuRAND and their ROCm kin.
import { lessMemory } from './cuda-oom/less/index.ts'
import { ruleFamily, type Seen, type Matched } from './parts/rules.ts'
import { synchronous } from './remedies/debug.ts'
import { COMPILED, newerGpu, PRECISION, statusInWords, TEI_UNSUPPORTED, WITHOUT_STATUS, type Meaning } from './parts/library-meanings.ts'
import { WHICH_GPU, whoHolds } from './remedies/gpu.ts'
import { GPU_TOO_NEW } from './remedies/packages.ts'
import type { Piece } from './remedies/plan.ts'
import { around, known } from './parts/window.ts'
import { gibAsPrinted as gib } from '../../text/bytes.ts'

const STATUS =
  /\b((?:CUBLAS|CUDNN|CUSPARSE|CUSOLVER|CURAND|HIPBLAS|MIOPEN|ROCBLAS)_STATUS_(?!SUCCESS)[A-Z][A-Z_0-9]{2,60}|CUFFT_(?:INTERNAL_ERROR|ALLOC_FAILED|EXEC_FAILED|SETUP_FAILED|INVALID_\w{1,20}))/
function full(matched: Matched): readonly Piece[] {
  const situation = matched.situation()
  const { vendor, programs } = situation
  const less = lessMemory(situation, {})
  const memory = freeOf(matched)
  // What was there when the program started: another one held the rest.
  if (memory !== undefined && memory.free < memory.total / 4) return [whoHolds(situation), less.slice(0, 1)]
  return [
    // TensorFlow takes nearly all of the card for itself first, and leaves too little for the library.
    programs.has('tensorflow') && less.slice(1, 2),
    programs.has('jax') && {
      text: 'Leave memory for the library beside JAX, which takes 75 % of the GPU when it starts.',
      command: 'export XLA_PYTHON_CLIENT_MEM_FRACTION=.60',
    },
    vendor === 'amd' && { text: 'See how full the GPU is: a full one leaves no memory for the library.', command: 'rocm-smi --showmeminfo vram' },
    !programs.has('tensorflow') && vendor !== 'amd' && whoHolds(situation),
    less.slice(0, 1),
    whoHolds(situation),
  ]
}
const tooNew = ({ situation }: Matched): Piece => situation().programs.has('pytorch') && situation().vendor !== 'amd' && GPU_TOO_NEW
const versions = (matched: Matched): Piece =>
  matched.situation().vendor === 'amd'
    ? {
        text: 'See that ROCm and the framework belong to one release, and that it supports this GPU.',
        command: 'rocminfo | grep -i gfx; ls /opt/rocm/lib/rocblas/library | head; pip list | grep -i torch',
      }
    : {
        text: 'See that one cuBLAS and cuDNN is loaded, in the versions of the framework: an older one in LD_LIBRARY_PATH is a frequent cause.',
        ...(matched.situation().system === 'windows'
          ? {}
          : {
              command: 'printenv LD_LIBRARY_PATH; ldconfig -p | grep -E "libcublas|libcudnn"',
            }),
      }
const olderDriver = ({ situation }: Matched): Piece =>
  situation().vendor !== 'amd' && {
    text: 'See whether the driver is new enough for the CUDA of the program: an old one fails here first.',
    command: 'nvidia-smi',
  }
const graphs = ({ situation }: Matched): Piece =>
  /cuda ?graph|CudaGraph|capture\(/i.test(situation().text) && {
    text: 'It happens while a CUDA graph is captured: run once without graphs to see the real error.',
    ...(situation().programs.has('sglang') ? { command: '--disable-cuda-graph' } : situation().programs.has('vllm') ? { command: '--enforce-eager' } : {}),
  }

/** XLA prints beside it how much of the GPU was free, TensorFlow 1 when it found the GPU. */
function freeOf({ text, at }: Pick<Matched, 'text' | 'at'>): { readonly free: number; readonly total: number } | undefined {
  const [, free, total] = /Memory usage: (\d{1,15}) bytes free, (\d{1,15}) bytes total/.exec(around(text, at, 3, 3)) ?? []
  if (free !== undefined && total !== undefined) return { free: Number(free), total: Number(total) }
  const [, all, left] = AT_START.exec(around(text, at, 40, 8)) ?? []
  const [size, rest] = [bytesOf(all), bytesOf(left)]
  return size === undefined || rest === undefined ? undefined : { free: rest, total: size }
}
const AT_START = /[Tt]otal ?[Mm]emory: ([\d.]{1,9}[KMG]iB)\s{1,3}[Ff]ree ?[Mm]emory: ([\d.]{1,9}[KMG]iB)/
const UNITS: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30 }
const bytesOf = (size: string | undefined): number | undefined => (size === undefined ? undefined : Number.parseFloat(size) * (UNITS[size.at(-3) ?? ''] ?? 1))
/** Far more than a handle needs: the GPU is not full. */
const PLENTY = 2 ** 30
function setUp(matched: Matched): string {
  const memory = freeOf(matched)
  if (memory === undefined)
    return `${/gemm/i.test(matched.message) && !/create/i.test(matched.message) ? 'a call of the library failed inside it' : 'the library could not be set up on the GPU'}. Likely no memory is left for it; else its version does not fit, or an earlier error broke the process.`
  const figures = `${gib(memory.free)} of ${gib(memory.total)} ${memory.free > PLENTY ? 'were' : 'was'} free`
  return memory.free > PLENTY
    ? `the library could not be set up, and it was no lack of memory (${figures}): its version does not fit the program or the driver, or an earlier error broke the process.`
    : `the library could not be set up on the GPU, because its memory is nearly full (${figures}).`
}
/** Or nothing says how full it is. */
const roomLeft = (matched: Matched): boolean => (freeOf(matched)?.free ?? Infinity) > PLENTY
const roomy = (matched: Matched): boolean => (freeOf(matched)?.free ?? 0) > PLENTY

const MEANINGS: readonly Meaning[] = [
  ...WITHOUT_STATUS,
  {
    pattern: /ALLOC_FAILED|resource allocation failed/,
    says: (matched) => {
      const memory = freeOf(matched)
      const figures =
        memory === undefined ? '' : ` ${gib(memory.free)} of ${gib(memory.total)} ${memory.free > PLENTY ? 'were' : 'was'} free when the program found the GPU.`
      return `the library could not allocate GPU memory for its handle or workspace.${figures}`
    },
    pieces: (matched) => [full(matched), whoHolds(matched.situation())],
  },
  {
    pattern: /insufficient driver version/i,
    says: (matched) => (roomLeft(matched) ? 'the library could not start, and the text names the driver as the likely cause.' : setUp(matched)),
    pieces: (matched) => [
      !roomLeft(matched) && whoHolds(matched.situation()),
      {
        text: `Update the NVIDIA driver${matched.situation().versions.driver === undefined ? '' : ` (now ${matched.situation().versions.driver})`}, or install a build for an older CUDA.`,
      },
      full(matched),
    ],
  },
  {
    pattern: /operation not supported/,
    says: 'the driver or the GPU does not support the operation (cudaErrorNotSupported). It is no lack of memory.',
    pieces: (matched) => [
      {
        text: 'Check that driver, CUDA libraries and framework belong to one CUDA version, and that the GPU (MIG, vGPU) supports the operation.',
        command: 'nvidia-smi; pip list | grep -i nvidia',
      },
      versions(matched),
    ],
  },
  {
    pattern: /ARCH_MISMATCH/,
    says: 'the GPU is too old for this version of the library: cuBLAS of CUDA 13 needs compute capability 7.5 (Turing) or newer.',
    pieces: () => [
      { text: 'Install a build of the program for CUDA 12, or of an older release.' },
      WHICH_GPU,
      { text: 'Or let this part compute on the CPU.' },
    ],
  },
  {
    pattern: /cublasLtMatmul\w*[^]{0,200}NOT_SUPPORTED|NOT_SUPPORTED[^]{0,120}cublasLtMatmul/,
    says: 'cuBLASLt cannot multiply these types on this GPU. FP8, for example, needs compute capability 8.9 (Ada) or newer.',
    pieces: (matched) => [
      { text: 'Use float16 or bfloat16 weights instead of FP8, without options for fast FP8 (ComfyUI: --fast).' },
      WHICH_GPU,
      versions(matched),
    ],
  },
  {
    pattern: /NOT_SUPPORTED[^]{0,300}ctx\.cublas_handle/,
    says: ({ message }) => `cuBLAS has no such operation for these types${/CUDA_R_16BF/.test(message) ? ' (bfloat16)' : ''} on this GPU.`,
    pieces: (matched) => [PRECISION(matched), graphs(matched)],
  },
  {
    pattern: /NOT_SUPPORTED[^]{0,400}CUDA_R_16BF/,
    says: 'the library has no such operation in bfloat16 on this GPU. Likely the GPU is older than Ampere (V100, T4, RTX 20), which has no bfloat16.',
    pieces: (matched) => [
      { text: 'Use float16 instead of bfloat16 (Trainer: fp16=True, bf16=False; vLLM: --dtype half).' },
      { text: 'See which GPU it is: bfloat16 needs compute capability 8.0.', command: 'nvidia-smi -L' },
      versions(matched),
    ],
  },
  {
    pattern: /NOT_SUPPORTED|INVALID_VALUE|BAD_PARAM|NOT_CONTIGUOUS/,
    says: 'the library does not support this input: its shape, type or memory layout.',
    pieces: (matched) => [
      matched.situation().programs.has('tei')
        ? TEI_UNSUPPORTED
        : [
            PRECISION(matched),
            PRECISION(matched).length === 0 && {
              text: `Check the input of the failing call: ${matched.situation().programs.has('pytorch') || /contiguous/.test(matched.message) ? 'make it contiguous (tensor.contiguous()), and check shape, dtype and device' : 'its shape, type and memory layout'}.`,
            },
            synchronous(matched.situation()),
            versions(matched),
          ],
    ],
  },
  {
    pattern: /EXECUTION_FAILED|EXEC_FAILED|MAPPING_ERROR/,
    says: 'a kernel of the library failed. Likely an earlier error of the process that shows only here, or a version that does not fit the driver.',
    pieces: (matched) => [graphs(matched), synchronous(matched.situation()), tooNew(matched), versions(matched)],
  },
  {
    pattern:
      /NOT_INITIALIZED|[Cc]reate\w{0,8}\(|create (?:cublas|cudnn|cusolver) handle|failed to initialize|initialization failed|without BLAS support|INTERNAL_ERROR|dnn implementation/,
    says: setUp,
    pieces: (matched) => [!roomy(matched) && full(matched), versions(matched), roomy(matched) && olderDriver(matched), synchronous(matched.situation())],
  },
]
const UNKNOWN: Meaning = {
  pattern: /^/,
  says: 'a call of a mathematical library failed. The cause is not in the message; it may be an earlier error that shows only here.',
  pieces: (matched) => [synchronous(matched.situation()), versions(matched), full(matched)],
}
const statusOf = ({ message, text, at }: Pick<Seen, 'message' | 'text' | 'at'>): string | undefined =>
  STATUS.exec(message)?.[1] ?? statusInWords(message) ?? (/^\s{0,8}cublas\w/.test(text[at] ?? '') ? statusInWords(around(text, at, 2, 0)) : undefined)
/** Another status in the lines below is of another call. */
const near = ({ message, text, at }: Matched): string => {
  const own = statusOf({ message, text, at })
  return `${own === STATUS.exec(message)?.[0] ? '' : `${own} `}${message} ${text[at + 1] ?? ''}`.replace(new RegExp(STATUS, 'g'), (one) =>
    one === own ? one : '',
  )
}
/** After a failed check in a kernel every call fails. */
const broken = ({ message, text, at }: Seen): boolean =>
  /NOT_INITIALIZED|INTERNAL_ERROR|EXECUTION_FAILED/.test(message) && /\] Assertion `|device-side assert/.test(around(text, at, 12, 0))

const BROKEN: Meaning = {
  pattern: /^/,
  says: 'a check inside a kernel failed before (above), and after that every call on the GPU fails, this one too.',
  pieces: () => [{ text: 'Correct the failed check above: nothing is wrong with this library.' }],
}
const meaningOf = (matched: Matched): Meaning =>
  (broken(matched) ? BROKEN : undefined) ?? newerGpu(matched) ?? MEANINGS.find(({ pattern }) => pattern.test(near(matched))) ?? UNKNOWN
const verdict = (matched: Matched): string => {
  const { says } = meaningOf(matched)
  // Of ONNX Runtime and CNTK.
  const gpu = /\bGPU=(\d{1,2})\b/.exec(matched.message)?.[1]
  return `${statusOf(matched) ?? (matched.situation().vendor === 'amd' ? 'ROCm library error' : 'CUDA library error')}: ${typeof says === 'string' ? says : says(matched)}${gpu === undefined ? '' : ` It failed on GPU ${gpu}.`}`
}
const remedies = (matched: Matched): readonly Piece[] => meaningOf(matched).pieces(matched)
const status = (seen: Seen): ReturnType<typeof known> => known({ status: statusOf(seen) })

export const cublasCudnnError = ruleFamily({
  id: 'cublas-cudnn-error',
  kind: 'cublas_cudnn_error',
  literals: [
    'CUBLAS_STATUS_',
    'CUDNN_STATUS_',
    'CUSPARSE_STATUS_',
    'CUSOLVER_STATUS_',
    'CURAND_STATUS_',
    'HIPBLAS_STATUS_',
    'rocBLAS error',
    'MIOpen Error',
    'CUFFT_INTERNAL_ERROR',
    'CUFFT_ALLOC_FAILED',
    'CUFFT_EXEC_FAILED',
    'CUFFT_SETUP_FAILED',
    'CUFFT_INVALID_',
    'CUFFT_NOT_',
    'CUFFT_UNALIGNED_DATA',
    'CUFFT_INCOMPLETE_',
    'when calling `cu',
    'the resource allocation failed',
    'cuBLAS error',
    'CUBLAS error',
    'CUBLAS failure',
    'cublas error',
    'cuBLAS Error',
    'cublas runtime error',
    'create cublas handle',
    'BLAS support',
    'No algorithm worked!',
    'create cudnn handle',
    'create cusolver handle',
    'cuDNN error',
    'CUDNN error',
    'CUDNN failure',
    'cudnn failed to initialize',
    'cuDNN failed to initialize',
    'find the dnn implementation',
    'Unable to find a valid cuDNN algorithm',
    'unable to find an engine to execute this computation',
    'cusolver error',
    'cuFFT error',
    'initializing FFT: ',
    'cuDNN Frontend error',
    'No valid execution plans',
    'DNN library',
    'GEMM launch failed',
    'cuSolver internal error',
    'cuBlas call failed',
    'xecution plans support',
    'ctx.cublas_handle(',
    "custom call 'xla.gpu.gemm' failed",
  ],
  facts: status,
  rules: [
    {
      pattern: STATUS,
      severity: 'critical',
      title: 'A CUDA library call failed',
      verdict,
      remedies,
      // PyTorch warns so and tries the next plan: nothing failed. A compiler quotes the name of a status.
      unless: ({ message }) => /Plan failed with a|could not destroy/.test(message) || COMPILED.test(message),
    },
    {
      pattern:
        /(?:\bcublas\w{3,40}\(ctx\.cublas_handle\()|custom call 'xla\.gpu\.gemm' failed|when calling `?cu(?:blas|blasLt|sparse|solver|dnn|fft|rand)\w{1,60}|rocBLAS error(?!: (?:Cannot read |Could not initialize Tensile host: No devices))|MIOpen Error|(?:cuBLAS|CUBLAS|cublas)(?: runtime)? (?:error|Error|failure)\b|(?:cuDNN|CUDNN|cudnn) (?:error|failure)\b|cusolver error|cuFFT error|Error initializing FFT: \d|cuDNN Frontend error|No valid execution plans (?:built|support)|Blas x?GEMM launch failed|cuSolver internal error|cuBlas call failed status|[Nn]o execution plans support/,
      severity: 'critical',
      title: 'A CUDA library call failed',
      verdict,
      remedies,
    },
    {
      pattern:
        /(?:[Ff]ailed to|Could not|[Uu]nable to) create (?:cublas|cudnn|cusolver) handle|CUDA error: the resource allocation failed|cu(?:dnn|DNN) failed to initialize|DNN library (?:initialization failed|is not found)|BLAS operation using StreamExecutor without BLAS support|Failed to initialize BLAS support|No BLAS support for stream|No algorithm worked!|Fail to find the dnn implementation|Unable to find a valid cuDNN algorithm|unable to find an engine to execute this computation/,
      severity: 'critical',
      title: ({ match }) =>
        match[0].startsWith('create') || !/algorithm|engine/.test(match[0]) ? 'A CUDA library cannot start' : 'cuDNN cannot compute a convolution',
      verdict,
      remedies,
      // That line has the cause, and a fault of its own.
      unless: ({ message, text, at }) => message.includes('DNN library') && /Loaded runtime CuDNN library/i.test(around(text, at, 30, 0)),
    },
  ],
})
