// Kernels that did what is not allowed; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['illegal_memory_access']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'PyTorch',
    text: 'RuntimeError: CUDA error: an illegal memory access was encountered\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.',
    kinds: one,
    facts: { cuda_error_code: 700 },
  },
  { name: 'wrapped inside the words', text: 'torch.AcceleratorError: CUDA error: an illegal memory\naccess was encountered', kinds: one },
  {
    name: 'an assertion with its place',
    text: '/pytorch/aten/src/ATen/native/cuda/Indexing.cu:1289: indexSelectLargeIndex: block: [11,0,0], thread: [64,0,0] Assertion `srcIndex < srcSelectDimSize` failed.\nRuntimeError: CUDA error: device-side assert triggered',
    kinds: one,
  },
  {
    name: 'a library that is called after it is not the root',
    text: 'RuntimeError: CUDA error: device-side assert triggered\nRuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`',
    kinds: ['illegal_memory_access', 'cublas_cudnn_error'],
  },
  {
    name: 'llama.cpp names its device',
    text: 'CUDA error: unspecified launch failure\n  current device: 3, in function ggml_backend_cuda_synchronize at ggml-cuda.cu:2400',
    kinds: one,
    facts: { gpu_index: 3, cuda_error_code: 719 },
  },
  {
    name: 'named inside NCCL',
    text: "host:1:2 [3] enqueue.cc:1200 NCCL WARN Cuda failure 700 'an illegal memory access was encountered'",
    kinds: one,
    facts: { cuda_error_code: 700 },
  },
  {
    name: 'the watchdog passes it on',
    text: '[rank2]:[E ProcessGroupNCCL.cpp:1895] [PG ID 0 PG GUID 0 Rank 2] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered',
    kinds: one,
  },
  { name: 'Triton', text: 'RuntimeError: Triton Error [CUDA]: misaligned address', kinds: one, facts: { cuda_error_code: 716 } },
  { name: 'driver API', text: 'CUDA_ERROR_LAUNCH_FAILED: unspecified launch failure', kinds: one },
  {
    name: 'ROCm',
    text: 'Memory access fault by GPU node-2 (Agent handle: 0x55d0) on address 0x7f0000000000. Reason: Page not present or supervisor privilege.',
    kinds: one,
  },
  {
    name: 'quiet: advice in a help text',
    text: 'For debugging consider passing CUDA_LAUNCH_BLOCKING=1\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.',
    kinds: [],
  },
  { name: 'by its number', text: 'CUDA error 719 at kernels.cu:88', kinds: one, facts: { cuda_error_code: 719 } },
  {
    name: 'beside its Xid in a journal',
    text: 'host kernel: NVRM: Xid (PCI:0000:01:00): 13, pid=900, name=render, Graphics SM Warp Exception on (GPC 0, TPC 1, SM 0): Out Of Range Address\nhost render[900]: CUDA error: an illegal memory access was encountered',
    kinds: ['xid', 'illegal_memory_access'],
    facts: { xid: 13, pid: 900, process: 'render' },
  },
  {
    name: 'ROCm: an exception in a kernel',
    text: ':0:rocdevice.cpp :2875: 99 us: Callback: Queue 0x7f00 aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016',
    kinds: ['illegal_memory_access'],
  },
  {
    name: 'OpenACC, with its place',
    text: 'Failing in Thread:1\nAccelerator Fatal Error: call to cuStreamSynchronize returned error 700 (CUDA_ERROR_ILLEGAL_ADDRESS): Illegal address during kernel execution\n File: /home/user/tide/flux.f90\n Function: advance:12\n Line: 77\n',
    kinds: ['illegal_memory_access'],
    facts: { cuda_error_code: 700, frame: 'flux.f90:77' },
  },
  {
    name: 'OpenACC, another number',
    text: 'call to cuEventSynchronize returned error 716: Misaligned address',
    kinds: ['illegal_memory_access'],
    facts: { cuda_error_code: 716 },
  },
  {
    name: 'only the number',
    text: 'Exception: Error reading array: Invalid error code (700) at arrays.cpp:90',
    kinds: ['illegal_memory_access'],
  },
]
