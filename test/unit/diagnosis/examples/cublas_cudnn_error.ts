// Errors of CUDA's mathematical libraries; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['cublas_cudnn_error']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'cuBLAS in PyTorch',
    text: 'RuntimeError: CUDA error: CUBLAS_STATUS_INVALID_VALUE when calling `cublasSgemm( handle, opa, opb, m, n, k)`',
    kinds: one,
    facts: { status: 'CUBLAS_STATUS_INVALID_VALUE' },
  },
  {
    name: 'cuDNN in PyTorch',
    text: 'RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED',
    kinds: one,
    facts: { status: 'CUDNN_STATUS_EXECUTION_FAILED' },
  },
  {
    name: 'cuSOLVER',
    text: 'RuntimeError: cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling `cusolverDnCreate(handle)`',
    kinds: one,
    facts: { status: 'CUSOLVER_STATUS_INTERNAL_ERROR' },
  },
  { name: 'cuFFT', text: 'RuntimeError: cuFFT error: CUFFT_INTERNAL_ERROR', kinds: one, facts: { status: 'CUFFT_INTERNAL_ERROR' } },
  { name: 'XLA', text: 'E external/xla/xla/stream_executor/cuda/cuda_blas.cc:194] failed to create cublas handle: the resource allocation failed', kinds: one },
  {
    name: 'TensorFlow',
    text: 'UnknownError: Failed to get convolution algorithm. This is probably because cuDNN failed to initialize, so try looking to see if a warning log message was printed above.',
    kinds: one,
  },
  {
    name: 'ONNX Runtime',
    text: 'CUDNN failure 4: CUDNN_STATUS_INTERNAL_ERROR ; GPU=0 ; hostname=box ; file=cuda_call.cc ; expr=cudnnCreate(&handle)',
    kinds: one,
    facts: { status: 'CUDNN_STATUS_INTERNAL_ERROR' },
  },
  {
    name: 'quiet: a factory that is there already',
    text: 'E0000 00:00:1.0 1 cuda_dnn.cc:8310] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered',
    kinds: [],
  },
  {
    name: 'quiet: PyTorch tries the next plan',
    text: 'UserWarning: Plan failed with a cudnnException: CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR: cudnnFinalizeDescriptor Failed cudnn_status: CUDNN_STATUS_NOT_SUPPORTED',
    kinds: [],
  },
  { name: 'quiet: success', text: 'cublasCreate: CUBLAS_STATUS_SUCCESS', kinds: [] },
  {
    name: 'JAX',
    text: 'jaxlib.xla_extension.XlaRuntimeError: FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above for more details.',
    kinds: one,
  },
  { name: 'cuDNN front end', text: 'RuntimeError: cuDNN Frontend error: [cudnn_frontend] Error: No valid execution plans built.', kinds: one },
]
