// Libraries and drivers whose message holds what matters beside its first words: a status in words, a returned error, a first collective.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

test.each([
  [
    "ggml prints cuBLAS's status in words",
    'CUDA error: the requested functionality is not supported\n  current device: 0, in function ggml_cuda_op_mul_mat_cublas at ggml-cuda.cu:1\n  cublasGemmEx(ctx.cublas_handle(id), CUBLAS_OP_T, CUBLAS_OP_N, m, n, k, &one, a, CUDA_R_16BF, lda, b, CUDA_R_16BF, ldb, &zero, c, CUDA_R_16BF, ldc)\n',
    'cublas_cudnn_error',
    /CUBLAS_STATUS_NOT_SUPPORTED: [^]*bfloat16[^]*without BF16 tensors/,
  ],
  [
    'ONNX Runtime of CUDA 13 on an old card',
    'onnxruntime: CUBLAS failure 8: the function requires an architectural feature absent from the device ; GPU=0 ; expr=cublasCreate(&handle)\n',
    'cublas_cudnn_error',
    /CUBLAS_STATUS_ARCH_MISMATCH: the GPU is too old[^]*build of the program for CUDA 12/,
  ],
  [
    'int8 of CTranslate2',
    'File "faster_whisper/transcribe.py", line 9, in encode\nRuntimeError: cuBLAS failed with status CUBLAS_STATUS_NOT_SUPPORTED\n',
    'cublas_cudnn_error',
    /^(?![^]*contiguous)[^]*compute_type="float16"/,
  ],
  [
    'cuBLASLt and FP8',
    'RuntimeError: CUDA error: CUBLAS_STATUS_NOT_SUPPORTED when calling `cublasLtMatmulAlgoGetHeuristic( ltHandle, computeDesc.descriptor() )`\n',
    'cublas_cudnn_error',
    /no way to multiply these types[^]*instead of FP8/,
  ],
  [
    'a warning of NCCL whose call came back with an error',
    'n1:10:11 [0] misc/ring.cc:5 NCCL WARN ring: the order is odd\nn1:10:11 [0] NCCL INFO misc/ring.cc:9 -> 3\n',
    'nccl_error',
    /NCCL reports: "ring: the order is odd"/,
  ],
  [
    'the first collective of a group',
    '[rank0]:[E1 ProcessGroupNCCL.cpp:1] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.\n',
    'nccl_error',
    /may also never have reached each other[^]*NCCL_P2P_DISABLE=1/,
  ],
  [
    'NCCL asks for its own log',
    'RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)\n',
    'nccl_error',
    /Let NCCL name the CUDA error[^]*NCCL_DEBUG=INFO/,
  ],
  [
    'TensorFlow looks for the module itself',
    'E tensorflow/stream_executor/cuda/cuda_driver.cc:1] failed call to cuInit: CUDA_ERROR_NO_DEVICE\nI tensorflow/stream_executor/cuda/cuda_diagnostics.cc:1] kernel driver does not appear to be running on this host (box): /proc/driver/nvidia/version does not exist\n',
    'gpu_not_visible',
    /kernel driver is not loaded here[^]*lsmod \| grep nvidia/,
  ],
  [
    'a jaxlib for the CPU',
    "I0101 xla_bridge.py:1] Unable to initialize backend 'cuda': module 'jaxlib.xla_extension' has no attribute 'GpuAllocatorConfig'\nW0101 xla_bridge.py:2] No GPU/TPU found, falling back to CPU. jax\n",
    'precision_fallback',
    /jaxlib here is for the CPU only[^]*jax\[cuda12\]/,
  ],
  [
    'a null pointer of ROCm',
    'Memory access fault by GPU node-3 (Agent handle: 0x1) on address (nil). Reason: Page not present or supervisor privilege.\n',
    'illegal_memory_access',
    /GPU node-3 [^]*a null pointer/,
  ],
  [
    "Intel's engine reset that failed",
    'kernel: i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:00000000, in viewer [99]\nkernel: i915 0000:00:02.0: [drm] *ERROR* GT0: GUC: Engine reset failed on 0:0 (rcs0) because 0x00000000\n',
    'gpu_reset',
    /^GPU hung\n[^]*The reset of its engine alone failed/,
  ],
  [
    'a licence client that nobody set up',
    'Jan 01 00:00:00 vm nvidia-gridd[5]: Configuration parameter ( ServerAddress  FeatureType) not set\n',
    'vgpu_license',
    /no ServerAddress and no FeatureType[^]*gridd\.conf/,
  ],
  [
    'a debug pod of kubectl',
    '$ kubectl debug node/n1 -it --image=busybox\nroot@n1:/# nvidia-smi\nFailed to initialize NVML: Unknown Error\n',
    'nvml_unknown_error',
    /^(?![^]*kubectl delete)[^]*debug pod of kubectl has no GPU devices/,
  ],
  [
    'an ECC error of a rank',
    '[E ProcessGroupNCCL.cpp:1] [Rank 5] NCCL watchdog thread terminated with exception: CUDA error: uncorrectable ECC error encountered\n',
    'ecc_error',
    /The GPU of rank 5 found an error/,
  ],
  [
    'an extension that was built in place',
    'ImportError: /src/vllm/vllm/_C.abi3.so: undefined symbol: _ZN5torch3jit17parseSchemaOrNameERKSs\n',
    'missing_dependency',
    /Reinstall vllm so that/,
  ],
] as const)('%s', (_, text, kind, expected) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(expected)
})
