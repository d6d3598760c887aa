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
    /cannot multiply these types[^]*instead of FP8/,
  ],
  [
    'a warning of NCCL whose call came back with an error',
    'n1:10:11 [0] misc/ring.cc:5 NCCL WARN ring: the order is odd\nn1:10:11 [0] NCCL INFO misc/ring.cc:9 -> 3\n',
    'nccl_error',
    /NCCL reports on GPU 0 of n1: "ring: the order is odd"/,
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
  [
    'a page of HTML with the ending of a GGUF',
    'gguf_init_from_file: invalid magic number 4f44213c\nerror loading model: llama_model_loader: failed to load model from /m/a.Q4_0.gguf\n',
    'checkpoint_mismatch',
    /^(?![^]*Update llama\.cpp)[^]*a\.Q4_0\.gguf is not a GGUF file but an HTML page[^]*\/resolve\//,
  ],
  [
    'a pointer of Git LFS',
    "gguf_init_from_file_impl: invalid magic characters: 'vers', expected 'GGUF'\nllama_model_load: error loading model: llama_model_loader: failed to load model from /m/a.gguf\n",
    'checkpoint_mismatch',
    /a Git LFS pointer[^]*git lfs pull/,
  ],
  [
    'an address that is not one of this machine',
    'Traceback (most recent call last):\n  File "/app/serve.py", line 3, in <module>\n    s.bind("tcp://10.9.8.7:5558")\nzmq.error.ZMQError: Cannot assign requested address (addr=\'tcp://10.9.8.7:5558\')\n',
    'network_error',
    /^(?![^]*proxy)[^]*10\.9\.8\.7 must be among them/,
  ],
  [
    'an account that was not granted access',
    'Cannot access gated repo for url https://huggingface.co/acme/model-a/resolve/main/config.json.\nAccess to model acme/model-a is restricted and you are not in the authorized list. Visit https://huggingface.co/acme/model-a to ask for access.\n',
    'model_access',
    /the token is valid[^]*Accept the terms of acme\/model-a/,
  ],
  [
    'ROCm names the node that hung',
    'HW Exception by GPU node-3 (Agent handle: 0x55d) reason :GPU Hang\nAborted (core dumped)\n',
    'gpu_reset',
    /node 3 of ROCm/,
  ],
  [
    'xe reset the GPU',
    'xe 0000:2b:00.0: [drm] Tile0: GT0: Timedout job: seqno=14, lrc_seqno=14, guc_id=0, flags=0x73 in no process [-1]\nxe 0000:2b:00.0: [drm] Tile0: GT0: reset done\n',
    'gpu_reset',
    /^(?![^]*reboot)[^]*its driver reset it/,
  ],
  [
    'shared memory that is closed, not full',
    'n1:1:2 [0] include/shm.h:27 NCCL WARN Call to shm_open failed : Permission denied\nn1:1:2 [0] include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-1-0-3-0 (size 4460544)\n',
    'shm_exhausted',
    /^(?![^]*shm-size)[^]*permission denied[^]*chmod 1777 \/dev\/shm/,
  ],
  [
    'collectives inside the switches',
    "n1:1:2 [2] transport/nvls.cc:244 NCCL WARN Cuda failure 1 'invalid argument'\n",
    'nccl_error',
    /NVLink SHARP[^]*nvidia-fabricmanager[^]*NCCL_NVLS_ENABLE=0/,
  ],
  [
    'a bad access while SGLang captured its graphs',
    '  File "/app/sglang/srt/model_executor/cuda_graph_runner.py", line 148, in __init__\nException: Capture cuda graph failed: Triton Error [CUDA]: an illegal memory access was encountered\n',
    'illegal_memory_access',
    /--disable-cuda-graph/,
  ],
  [
    'the limit that is near',
    '==============NVSMI LOG==============\nAttached GPUs                             : 1\nGPU 00000000:2D:00.0\n    Temperature\n        GPU Current Temp                  : 61 C\n        GPU Max Operating Temp            : 62 C\n    Clocks Throttle Reasons\n        SW Thermal Slowdown               : Active\n',
    'thermal_or_power',
    /unusually low, at 61 °C, with the limit at 62 °C/,
  ],
  [
    'a program on the library of llama.cpp',
    'CUDA error: the function failed to launch on the GPU\n  current device: 0, in function ggml_cuda_mul_mat_batched_cublas at /x/stable-diffusion.cpp/ggml/src/ggml-cuda.cu:1\n  cublasGemmBatchedEx(ctx.cublas_handle(), CUBLAS_OP_T, CUBLAS_OP_N)\n',
    'cublas_cudnn_error',
    /Run stable-diffusion\.cpp again/,
  ],
  [
    'a rendezvous on one host',
    'torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (127.0.0.1, 23456).\n',
    'network_error',
    /^The members of the job did not find each other(?![^]*From each host)[^]*ss -ltnp \| grep ':23456 '/,
  ],
  [
    'a rendezvous by a name that may be of a container',
    'torch.distributed.DistNetworkError: The client socket has timed out after 300000ms while trying to connect to (0a1b2c3d4e5f, 23456).\n',
    'network_error',
    /getent hosts 0a1b2c3d4e5f; nc -zv 0a1b2c3d4e5f 23456/,
  ],
  [
    'a worker of vLLM that was forked',
    "Exception in worker VllmWorkerProcess while processing method init_device: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method\n",
    'cuda_fork',
    /VLLM_WORKER_MULTIPROC_METHOD=spawn/,
  ],
  [
    'a device plugin that ended while it was asked',
    '  Warning  UnexpectedAdmissionError  10s   kubelet  Allocate failed due to rpc error: code = Unavailable desc = error reading from server: EOF, which is unexpected\n',
    'gpu_unschedulable',
    /device plugin that assigns GPUs exited[^]*--previous/,
  ],
  [
    'which task of a step the kernel killed',
    'slurmstepd: error: Detected 1 oom_kill event in StepId=77.0. Some of the step tasks have been OOM Killed.\nsrun: error: n12: task 3: Out Of Memory\n',
    'host_oom_kill',
    /It hit task 3 on n12\./,
  ],
  [
    'which port saw the error of the link',
    "pcieport 0000:00:03.0: AER: Uncorrectable (Fatal) error received: 0000:01:00.0\nnvidia 0000:01:00.0: AER: can't recover (no error_detected callback)\n",
    'pcie_aer',
    /The port above it, 0000:00:03\.0, reported it/,
  ],
] as const)('%s', (_, text, kind, expected) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(expected)
})
