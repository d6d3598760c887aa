// An error of CUDA's mathematical libraries: cuBLAS, cuDNN, cuSPARSE, cuSOLVER, cuFFT, cuRAND and their ROCm kin.
import type { Remedy } from '../../model/fault.ts'
import { ruleFamily, type Seen } from './parts/rules.ts'
import { known } from './parts/window.ts'

const STATUS =
  /\b((?:CUBLAS|CUDNN|CUSPARSE|CUSOLVER|CURAND|HIPBLAS|MIOPEN|ROCBLAS)_STATUS_(?!SUCCESS)[A-Z][A-Z_0-9]{2,60}|CUFFT_(?:INTERNAL_ERROR|ALLOC_FAILED|EXEC_FAILED|SETUP_FAILED|INVALID_\w{1,20}))/
const RELATIVE = /ALLOC_FAILED|NOT_INITIALIZED|resource allocation failed|HOST_ALLOCATION|create (?:cublas|cudnn|cusolver) handle|[Cc]reate\(/

const REMEDIES: readonly Remedy[] = [
  {
    text: 'See how full the GPU was: on a full one these libraries cannot create their handle or workspace, and say no more than this.',
    command: 'nvidia-smi --query-gpu=index,memory.used,memory.total --format=csv',
  },
  { text: 'Leave memory free: a smaller batch, or a smaller share for the framework (vLLM: --gpu-memory-utilization 0.85).' },
  {
    text: 'See that one cuBLAS and cuDNN is loaded, in the versions of the framework: an older one in LD_LIBRARY_PATH is a frequent cause.',
    command: "unset LD_LIBRARY_PATH; pip list 2>/dev/null | grep -iE '^nvidia-|^torch'",
  },
  { text: 'Find the call that really failed.', command: 'CUDA_LAUNCH_BLOCKING=1 python TRAIN.py' },
]
const status = ({ message }: Seen): ReturnType<typeof known> => known({ status: STATUS.exec(message)?.[1] })

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
    'cuBLAS error',
    'CUBLAS error',
    'CUBLAS failure',
    'cublas error',
    'cuBLAS Error',
    'cublas runtime error',
    'create cublas handle',
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
    'cuDNN Frontend error',
    'No valid execution plans',
    'DNN library',
    'BLAS operation using StreamExecutor',
    'GEMM launch failed',
    'cuSolver internal error',
  ],
  facts: status,
  rules: [
    {
      pattern: STATUS,
      severity: 'critical',
      title: 'A CUDA library call failed',
      verdict: ({ match, message }) =>
        RELATIVE.test(message)
          ? `${match[1] ?? 'A CUDA library'}: the library could not set itself up on the GPU. Mostly the GPU has no memory left for it; else its version does not fit, or an earlier error broke the process's work on the GPU.`
          : `${match[1] ?? 'A CUDA library'}: a call of a CUDA library failed on the GPU; sizes or types that it does not support, a version that does not fit, or an earlier error that shows only here.`,
      remedies: REMEDIES,
      // PyTorch warns so and tries the next plan: nothing failed.
      unless: ({ message }) => /Plan failed with a/.test(message),
    },
    {
      pattern:
        /when calling `?cu(?:blas|blasLt|sparse|solver|dnn|fft|rand)\w{1,60}|rocBLAS error|MIOpen Error|(?:cuBLAS|CUBLAS|cublas)(?: runtime)? (?:error|Error|failure)\b|(?:cuDNN|CUDNN|cudnn) (?:error|failure)\b|cusolver error|cuFFT error|cuDNN Frontend error|No valid execution plans (?:built|support)|Blas x?GEMM launch failed|cuSolver internal error/,
      severity: 'critical',
      title: 'A CUDA library call failed',
      verdict: 'A call of a CUDA library failed: mostly the GPU has no memory left for it, or the version that was loaded does not fit.',
      remedies: REMEDIES,
    },
    {
      pattern:
        /(?:[Ff]ailed to|Could not|[Uu]nable to) create (?:cublas|cudnn|cusolver) handle|cu(?:dnn|DNN) failed to initialize|DNN library (?:initialization failed|is not found)|BLAS operation using StreamExecutor without BLAS support|Fail to find the dnn implementation|Unable to find a valid cuDNN algorithm|unable to find an engine to execute this computation/,
      severity: 'critical',
      title: 'A CUDA library cannot start',
      verdict:
        'cuBLAS or cuDNN could not set itself up: mostly the GPU has no memory left for it, else the version that was loaded does not fit the framework.',
      remedies: REMEDIES,
    },
  ],
})
