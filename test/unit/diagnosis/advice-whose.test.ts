// Whom a fault concerns, and the figures that a text gives: the answer names them. All texts are written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const XID = 'NVRM: Xid (PCI:0000:41:00):'

test.each([
  [
    'the function that JAX compiled',
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12.00GiB. [executable_name='jit_advance']",
    /JAX could not allocate 12\.00 GiB on the GPU for the compiled function advance/,
    /jit_/,
  ],
  [
    'the other process, before the list of all',
    'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.50 GiB of which 1.00 GiB is free. Process 4242 has 18.00 GiB memory in use. Including non-PyTorch memory, this process has 4.50 GiB memory in use. Of the allocated memory 4.00 GiB is allocated by PyTorch, and 0.10 GiB is reserved by PyTorch but unallocated.',
    /other process \(4242\) is[^]*ps -[^]*4242/,
    /nvidia-smi[^]*ps -/,
  ],
  [
    'a card that was full but for a trace',
    'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.50 GiB of which 21.00 MiB is free. Including non-PyTorch memory, this process has 23.40 GiB memory in use. Of the allocated memory 22.90 GiB is allocated by PyTorch, and 0.20 GiB is reserved by PyTorch but unallocated.',
    /hardly more than the request/,
    /card was not full/,
  ],
  [
    'cached memory that suffices with what is free',
    'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 600.00 MiB. GPU 0 has a total capacity of 23.50 GiB of which 300.00 MiB is free. Including non-PyTorch memory, this process has 23.10 GiB memory in use. Of the allocated memory 22.30 GiB is allocated by PyTorch, and 400.00 MiB is reserved by PyTorch but unallocated.',
    /expandable_segments/,
    /nowhere/,
  ],
  [
    'how much vLLM lacks for its KV cache',
    'INFO Available KV cache memory: -3.25 GiB\nValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.',
    /3\.25 GiB short/,
    /-3\.25 GiB/,
  ],
  [
    'the number of the collective, and a wait in hours',
    '[Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=88, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=18000000) ran for 18000123 milliseconds before timing out.\n[Rank 3] Exception (either an error or timeout) detected by watchdog at work: 88, last enqueued NCCL work: 90, last completed NCCL work: 87.',
    /collective 88; it had completed 87\) for 5 h /,
    /18000 s/,
  ],
  [
    'the GPU that ONNX Runtime names',
    'CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=2 ; hostname=node7 ; expr=cublasCreate(&cublas_handle_);',
    /It failed on GPU 2\./,
    /GPU 0/,
  ],
  [
    'the GPU that PyTorch warned of',
    'UserWarning:\n    Found GPU0 Quadro K1000 which is of cuda capability 3.0.\n    PyTorch no longer supports this GPU because it is too old.\nRuntimeError: CUDA error: no kernel image is available for execution on the device',
    /the Quadro K1000 \(compute capability 3\.0\), which is too old for it/,
    /this GPU's architecture/,
  ],
  [
    'a GPU that is newer than the build',
    'UserWarning: Found GPU0 NVIDIA GB10 which is of cuda capability 12.1.\nMinimum and maximum supported by this build are 8.0 and 12.0\nRuntimeError: CUDA error: no kernel image is available for execution on the device',
    /the NVIDIA GB10 \(compute capability 12\.1\): it/,
    /too old/,
  ],
  [
    'the runtime of a program that says whose it is',
    'onnxruntime: CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version',
    /CUDA runtime of ONNX Runtime needs/,
    /of this program/,
  ],
  [
    'the job of a step that Slurm ended',
    'slurmstepd: error: Detected 3 oom_kill events in StepId=60123.0. Some of the step tasks have been OOM Killed.',
    /job 60123/,
    /this job step/,
  ],
  [
    'how full /dev/shm was',
    "shm   16G   15G  0.6G  97% /dev/shm\nRuntimeError: DataLoader worker (pid 314) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory.",
    /df shows 97 % of 16 GiB in use[^]*--shm-size=32g/,
    /df -h/,
  ],
  [
    'the video decoder',
    `${XID} 31, pid=777, name=ffmpeg, Ch 00000008, intr 00000000. MMU Fault: ENGINE NVDEC0 HUBCLIENT_NVDEC0 faulted @ 0x7f00_12345000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ`,
    /video decoder \(NVDEC\): restart ffmpeg/,
    /compute-sanitizer/,
  ],
  [
    'a fault of no process',
    `${XID} 13, pid=0, name=, Graphics SM Warp Exception on (GPC 0, TPC 0): Out Of Range Address`,
    /says: "Graphics SM Warp/,
    /pid 0|process 0/,
  ],
  [
    'the container that TensorFlow names as its host',
    'E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:282] failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected\nI external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:134] retrieving CUDA diagnostic information for host: 0a1b2c3d4e5f\nI external/local_xla/xla/stream_executor/cuda/cuda_diagnostics.cc:163] kernel driver does not appear to be running on this host (0a1b2c3d4e5f): /proc/driver/nvidia/version does not exist',
    /docker run --gpus all/,
    /modprobe/,
  ],
  [
    'how much NCCL was not given',
    "node7:101:150 [2] include/alloc.h:99 NCCL WARN Cuda failure 'out of memory'\nnode7:101:150 [2] include/alloc.h:105 NCCL WARN Failed to CUDA calloc 4194304 bytes",
    /could not allocate its buffers \(4 MiB\) on GPU 2 of node7: 'out of memory'/,
    /NCCL_DEBUG/,
  ],
  [
    'a card that is nearly full beside what lies unused',
    'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 300.00 MiB (GPU 0; 24.00 GiB total capacity; 20.50 GiB already allocated; 90.00 MiB free; 23.50 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.',
    /fragmentation[^]*max_split_size_mb[^]*smaller/,
    /other process/,
  ],
  [
    "the library of the program's own environment",
    '  File "/opt/envs/one/lib/python3.11/site-packages/tool/__init__.py", line 3, in <module>\nImportError: libcudnn.so.8: cannot open shared object file: No such file or directory\n/opt/envs/two/lib/libcudnn.so.8\n/opt/envs/one/lib/libcudnn.so.8',
    /LD_LIBRARY_PATH=\/opt\/envs\/one\/lib:/,
    /envs\/two/,
  ],
  [
    'the driver of Windows under WSL',
    'Ubuntu in WSL 2\nCUDA error 100 at ggml-cuda.cu:100: no CUDA-capable device is detected',
    /driver is that of Windows[^]*\/dev\/dxg/,
    /\/dev\/nvidia\*/,
  ],
  [
    'no number of bits that the GPU lacks',
    "Two RTX 3090 GPUs\nValueError: The model's max seq len (65536) is larger than the maximum number of tokens that can be stored in KV cache (20000). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
    /--max-model-len 20000/,
    /fp8/,
  ],
])('names %s', (_name, text, says, never) => {
  const { all } = answer(text)
  expect(all).toMatch(says)
  expect(all).not.toMatch(never)
})
