// Driver, runtime, kernels and GPU that do not fit together; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['cuda_version_mismatch']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'an old driver', text: 'RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver', kinds: one },
  { name: 'wrapped by a terminal', text: 'RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA\nruntime version', kinds: one },
  {
    name: 'a runtime that the driver is too old for',
    text: 'cudaGetDeviceCount returned 35\n-> CUDA driver version is insufficient for CUDA runtime version',
    kinds: one,
  },
  { name: 'no kernel for the GPU', text: 'torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device', kinds: one },
  {
    name: 'PyTorch warns first',
    text: 'NVIDIA GeForce RTX 5080 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities sm_50 sm_60 sm_70 sm_75 sm_80 sm_86 sm_90.',
    kinds: one,
  },
  {
    name: 'the image asks for more',
    text: 'nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.4, please update your driver to a newer version, or use an earlier cuda container: unknown',
    kinds: one,
  },
  { name: 'PTX', text: 'RuntimeError: CUDA error: the provided PTX was compiled with an unsupported toolchain.', kinds: one },
  {
    name: 'compatibility library',
    text: 'Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non supported HW',
    kinds: one,
    facts: { cuda_error_code: 804 },
  },
  { name: 'driver pair', text: 'Error 803: system has unsupported display driver / cuda driver combination', kinds: one, facts: { cuda_error_code: 803 } },
  {
    name: 'building an extension',
    text: 'RuntimeError:\nThe detected CUDA version (12.6) mismatches the version that was used to compile\nPyTorch (11.8). Please make sure to use the same CUDA versions.',
    kinds: one,
  },
  { name: 'an old compiler', text: "nvcc fatal   : Unsupported gpu architecture 'compute_120'", kinds: one },
  { name: 'Triton', text: "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'", kinds: one },
  {
    name: 'quiet: kernels will be compiled',
    text: 'W tensorflow/core/common_runtime/gpu/gpu_device.cc:2348] TensorFlow was not built with CUDA kernel binaries compatible with compute capability 12.0. CUDA kernels will be jit-compiled from PTX',
    kinds: [],
  },
  { name: 'quiet: versions listed', text: 'torch 2.7.1+cu128, CUDA driver version 12.8, CUDA runtime version 12.8', kinds: [] },
  {
    name: 'llama.cpp',
    text: 'ERROR: CUDA kernel mul_mat_q has no device code compatible with CUDA arch 500. ggml-cuda.cu was compiled for: 700,750',
    kinds: one,
  },
  {
    name: 'ROCm: no code for the card',
    text: ':0:rocdevice.cpp :2984: 12 us: Callback: Queue 0x7f00 aborting with error : HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid. code: 0x100f',
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'TensorRT: an engine of another version',
    text: 'Error Code 6: API Usage Error (The engine plan file is not compatible with this version of TensorRT, expecting library version 10.9.0.34 got 10.3.0.26, please rebuild.)',
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'TensorRT: an engine of another GPU',
    text: 'Unable to load: the engine plan file is generated on an incompatible device, expecting compute 9.0 got compute 8.6, please rebuild.',
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'a server for another GPU',
    text: 'Could not start backend: Runtime compute cap 86 is not compatible with compile time compute cap 90',
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'rocBLAS without the card',
    text: 'rocBLAS error: Cannot read /opt/rocm/lib/rocblas/library/TensileLibrary.dat: Illegal seek for GPU arch : gfx1010',
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'DeepSpeed and the toolkit',
    text: 'CUDAMismatchException: Installed CUDA version 12.1 does not match the version torch was compiled with 12.8, unable to compile cuda/cpp extensions',
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'XLA meets an old driver',
    text: 'E1011 09:00:01.100000 77 cuda_dnn.cc:411] There was an error before creating cudnn handle (302): cudaGetErrorName symbol not found.',
    kinds: ['cuda_version_mismatch'],
    facts: { cuda_error_code: 302 },
  },
  {
    name: 'a newer function',
    text: 'Traceback (most recent call last):\n  File "/srv/fit.py", line 31, in <module>\n    y = net(x)\nRuntimeError: CUDA error: API call is not supported in the installed CUDA driver',
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'a name that is not found',
    text: 'CUDA error: named symbol not found\n  current device: 0, in function ggml_backend_cuda_init at /src/ggml-cuda.cu:140',
    kinds: ['cuda_version_mismatch'],
    facts: { cuda_error_code: 500 },
  },
  {
    name: 'HIP cannot load its code',
    text: "infer: /build/clr/hipamd/src/hip_fatbin.cpp:301: hipError_t hip::FatBinaryInfo::ExtractFatBinary(): Assertion `err == hipSuccess' failed.",
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'an engine of another TensorRT',
    text: 'E1110 14:00:08.525177 1 logging.cc:43] 1: Error Code 1: Serialization (Serialization assertion failed.Version tag does not match. Note: Current Version: 232, Serialized Engine Version: 228)',
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'a function that the driver lacks',
    text: 'ImportError: /opt/lib/ops.abi3.so: undefined symbol: cuGreenCtxCreate_v9',
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'a quantization',
    text: `ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 89. Current capability: 75.`,
    kinds: one,
  },
  {
    name: 'OpenACC, without the code',
    text: 'call to cuModuleLoadData returned error 209: No binary for GPU',
    kinds: ['cuda_version_mismatch'],
  },
  {
    name: 'OpenACC, with the option',
    text: 'Accelerator Fatal Error: This file was compiled: -acc=gpu -gpu=cc70\nRebuild this file with -gpu=cc86 to use NVIDIA Tesla GPU 0\nFile: /home/user/tide/flux.F90\nFunction: advance:12\nLine: 301',
    kinds: ['cuda_version_mismatch'],
  },
]
