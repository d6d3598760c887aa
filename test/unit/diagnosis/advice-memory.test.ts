// Advice about memory that ran out: for the program that runs, by whose limit, and without what was tried. All texts are written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const torch = (vendor: string, asked: string, total: string, rest: string): string =>
  `${vendor} out of memory. Tried to allocate ${asked}. GPU 0 has a total capacity of ${total} ${rest}`

test.each([
  [
    'host memory that TensorFlow locks, under WSL 2, in two tries',
    '2024-01-01 10:00:00.1: E tensorflow/stream_executor/cuda/cuda_driver.cc:893] failed to alloc 2147483648 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory\n2024-01-01 10:00:00.2: E tensorflow/stream_executor/cuda/cuda_driver.cc:893] failed to alloc 1932735283 bytes on host: CUDA_ERROR_OUT_OF_MEMORY: out of memory\nLinux 5.15.0-microsoft-standard-WSL2',
    /could not pin 2\.00 GiB of host memory[^]*\.wslconfig[^]*TF_GPU_HOST_MEM_LIMIT_IN_MB/,
    /1\.80 GiB|nvidia-smi/,
  ],
  [
    'device memory that TensorFlow asks for in smaller and smaller requests',
    'E tensorflow/stream_executor/cuda/cuda_driver.cc:831] failed to allocate 4.00G (4294967296 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory\nE tensorflow/stream_executor/cuda/cuda_driver.cc:831] failed to allocate 3.60G (3865470566 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory',
    /could not allocate 4\.00 GiB/,
    /3\.60 GiB/,
  ],
  [
    'a driver that does not start',
    'numba.cuda.cudadrv.error.CudaSupportError: Error at driver init: Call to cuInit results in CUDA_ERROR_OUT_OF_MEMORY (2)',
    /cuInit failed with out of memory before the program allocated anything[^]*ulimit -v/,
    /smaller batch|CUDF_SPILL/,
  ],
  [
    'more than the card has, on Windows',
    `${torch('CUDA', '18.00 MiB', '11.00 GiB', 'of which 0 bytes is free. Of the allocated memory 26.00 GiB is allocated by PyTorch.')}\nC:\\app\\run.py`,
    /26\.00 GiB is allocated, more than the card's 11\.00 GiB/,
    /expandable/,
  ],
  [
    'an APU with little memory set aside',
    torch('HIP', '64.00 MiB', '1.00 GiB', 'of which 17179869184.00 GiB is free. Of the allocated memory 500.00 MiB is allocated by PyTorch.'),
    /its 1\.00 GiB is what the firmware sets aside[^]*BIOS/,
    /half of host memory|pages_limit/,
  ],
  [
    'a scalar of TensorFlow',
    'tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[] and type float on /job:localhost/replica:0/task:0/device:GPU:1 by allocator GPU_1_bfc',
    /shape \[\] on GPU 1\. So little fails only where the memory is full already\.\nSee which processes/,
    /shape {2}on/,
  ],
  [
    'a buffer above the limit of Vulkan',
    'llama_kv_cache: size = 9000.00 MiB\nggml_vulkan: Device memory allocation of size 5368709120 failed.\nggml_vulkan: Requested buffer size exceeds device memory allocation limit: ErrorOutOfDeviceMemory\nggml_gallocr_reserve_n: failed to allocate Vulkan0 buffer of size 5368709120',
    /5\.00 GiB in one buffer: above the driver's limit[^]*--ubatch-size 256/,
    /What else holds|n-gpu-layers/,
  ],
  [
    'CuPy',
    'cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 2,147,483,648 bytes (allocated so far: 4,294,967,296 bytes).',
    /2\.00 GiB[^]*4\.00 GiB is allocated already[^]*free_all_blocks/,
    /quantized/,
  ],
  [
    'Ultralytics after its AutoBatch',
    `AutoBatch: Using batch-size 96 for CUDA:0\n${torch('CUDA', '2.00 GiB', '8.00 GiB', 'of which 1.00 GiB is free. Of the allocated memory 6.00 GiB is allocated by PyTorch.')}\n1/50 epoch loss`,
    /smaller batch \(now 96\): batch=[^]*imgsz=/,
    /gradient accumulation|ZeRO|LoRA/,
  ],
  [
    'ONNX Runtime',
    '[E:onnxruntime:, sequential_executor.cc:500] Non-zero status code: bfc_arena.cc:376 Failed to allocate memory for requested buffer of size 4294967296',
    /enlarge its arena by 4\.00 GiB/,
    /PYTORCH/,
  ],
  [
    'SGLang without room for a cache',
    '[2026-01-02 03:04:05 TP0] Load weight end. avail mem=9.50 GB, mem usage=70.00 GB.\nRuntimeError: Not enough memory. Please try to increase --mem-fraction-static.',
    /loading the weights \(70\.00 GB; 9\.50 GB is left\)/,
    /activations/,
  ],
  [
    'a MIG instance behind the assert',
    'Device: NVIDIA H100 MIG 2g.20gb\nRuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":838, please report a bug to PyTorch.',
    /one MIG instance \(2g\.20gb\): give it one with more memory/,
    /gpu-reset/,
  ],
  [
    "a failure of XLA's asynchronous allocator",
    'E0102 03:04:05.000 77 gpu_cudamallocasync_allocator.cc:361] gpu_async_2 cuMemAllocAsync failed to allocate 8589934592 bytes: RESOURCE_EXHAUSTED: : CUDA_ERROR_OUT_OF_MEMORY: out of memory\n Reported by CUDA: Free memory/Total memory: 1073741824/85899345920',
    /8\.00 GiB on GPU 2/,
    /carries no figures/,
  ],
  [
    'vLLM while it captures graphs',
    'vllm/worker/model_runner.py\n  self.model_runner.capture_model(self.gpu_cache)\nRuntimeError: CUDA error: out of memory',
    /captured CUDA graphs, which take memory beside the KV cache[^]*--enforce-eager/,
    /carries no figures/,
  ],
  [
    'vLLM on a MIG instance',
    `GPU: NVIDIA H100, MIG slice 3g.40gb\nvllm serve m --gpu-memory-utilization 0.9\n${torch('CUDA', '2.00 GiB', '39.50 GiB', 'of which 1.00 GiB is free. Of the allocated memory 38.00 GiB is allocated by PyTorch.')}`,
    /larger MIG instance[^]*cannot be split/,
    /tensor-parallel-size/,
  ],
  [
    'a training with all that ZeRO 3 offers',
    `"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 3, "offload_param": {"device": "cpu"}}\n${torch('CUDA', '2.00 GiB', '79.00 GiB', 'of which 1.00 GiB is free. Of the allocated memory 77.00 GiB is allocated by PyTorch.')}`,
    /gradient accumulation[^]*ZeRO 3 with offloading is already in use/,
    /quantized/,
  ],
  [
    'an AMD GPU that others hold',
    torch('HIP', '4.00 GiB', '16.00 GiB', 'of which 1.00 GiB is free. Of the allocated memory 1.00 GiB is allocated by PyTorch.'),
    /rocm-smi[^]*HIP_VISIBLE_DEVICES/,
    /CUDA_VISIBLE_DEVICES/,
  ],
])('GPU memory: %s', (_name, text, says, never) => {
  const { kind, all } = answer(text)
  expect(['cuda_oom', 'nvml_allocator_assert']).toContain(kind)
  expect(all).toMatch(says)
  expect(all).not.toMatch(never)
})

test.each([
  [
    'earlyoom, with its figures',
    'Jan 02 03:04:05 box earlyoom[7]: mem avail: 10240 of 204800 MiB ( 5.00%), swap free:    0 of    0 MiB ( 0.00%)\nJan 02 03:04:05 box earlyoom[7]: low memory! at or below SIGTERM limits: mem  6.00%, swap 10.00%\nJan 02 03:04:05 box earlyoom[7]: sending SIGTERM to process 4711 uid 1000 "python3": badness 900, VmRSS 51200 MiB',
    /python3 \(pid 4711, 50\.00 GiB\)[^]*10\.00 GiB \(5\.00 %\) was left[^]*less than 6 % of memory is left/,
    /dmesg/,
  ],
  [
    'Slurm, with the task',
    'slurmstepd: error: Detected 1 oom_kill event in StepId=4711.0. Some of the step tasks have been OOM Killed.\nsrun: error: node7: task 3: Out Of Memory',
    /It hit task 3 on node7/,
    /docker|kubectl/,
  ],
  [
    'what kubectl describe printed already, with the memory that the server keeps',
    'Containers:\n  llm:\n    Command:\n      vllm serve some/model --swap-space 24\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:  48Gi\n',
    /limit of 48\.00 GiB[^]*--swap-space less than 24/,
    /describe pod/,
  ],
  [
    'a container of compose',
    'trainer  | ./start.sh: line 9:     7 Killed                  python train.py\ntrainer exited with code 137\n',
    /container trainer then exited with code 137[^]*docker inspect --format '\{\{\.State\.OOMKilled\}\}' trainer/,
    /kubectl/,
  ],
  [
    'an eviction, told once',
    'Reason:               Evicted\nMessage:              The node was low on resource: memory. Threshold quantity: 100Mi, available: 70Mi. Container llm was using 20971520Ki, request is 4Gi, has larger consumption of memory.',
    /container llm used 20\.00 GiB, its request is 4Gi/,
    /The pod was evicted/,
  ],
])('host memory: %s', (_name, text, says, never) => {
  const { kind, all } = answer(text)
  expect(kind).toBe('host_oom_kill')
  expect(all).toMatch(says)
  expect(all).not.toMatch(never)
})

test.each([
  [
    'a U-Net that goes on with checkpointing',
    'ERROR: Detected OutOfMemoryError! Enabling checkpointing to reduce memory usage, but this slows down training. Consider enabling AMP (--amp)',
    /continues with activation checkpointing[^]*--amp/,
    /gradient accumulation/,
  ],
  [
    'numba without a folder for its cache',
    "RuntimeError: cannot cache function 'run': no locator available for file '/opt/app/run.py'",
    /neither next to \/opt\/app\/run\.py[^]*NUMBA_CACHE_DIR/,
    /HF_HOME|refuses/,
  ],
  [
    'kernels in the temporary folder of another user',
    "PermissionError: [Errno 13] Permission denied: '/tmp/torch_extensions/fused'",
    /TORCH_EXTENSIONS_DIR/,
    /HF_HOME|chown/,
  ],
  [
    'a library of a Jetson',
    'ImportError: libcurand.so.10: cannot open shared object file: No such file or directory\nnvidia@jetson-orin:~$',
    /nvidia-jetpack/,
    /pip install|cuda-toolkit/,
  ],
  [
    'checkpoints of MMEngine',
    '01/02 03:04:05 - mmengine - INFO - Saving checkpoint at 3 epochs\nOSError: [Errno 28] No space left on device',
    /max_keep_ckpts/,
    /save_total_limit/,
  ],
  [
    'compiled kernels, not models',
    "PermissionError: [Errno 13] Permission denied: '/srv/app/.triton/cache'",
    /cache of compiled kernels \/srv\/app\/\.triton[^]*TRITON_CACHE_DIR/,
    /[Mm]odel cache/,
  ],
  [
    'Whisper on the CPU',
    'UserWarning: FP16 is not supported on CPU; using FP32 instead',
    /Running on the CPU[^]*torch\.cuda\.is_available[^]*fp16=False/,
    /compute_cap/,
  ],
  [
    'a GPU by its name',
    'NVIDIA GeForce RTX 5070 with CUDA capability sm_120 is not compatible with the current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities sm_50 sm_90.',
    /no kernels for the GeForce RTX 5070 \(sm_120\)[^]*cu128/,
    /rocm/,
  ],
  [
    'a pod that filled the disk of its node',
    'Reason: Evicted\nMessage: The node was low on resource: ephemeral-storage. Threshold quantity: 1000, available: 1048576Ki. Container llm was using 20971520Ki, request is 0, has larger consumption of ephemeral-storage',
    /Container llm used 20 GiB; its request is 0/,
    /docker/,
  ],
  [
    'a semaphore in shared memory',
    '    sl = self._semlock = _multiprocessing.SemLock(\nOSError: [Errno 28] No space left on device\n  File "/opt/py/torch/utils/data/dataloader.py", line 9, in __init__',
    /Shared memory is full[^]*semaphore[^]*df -h \/dev\/shm/,
    /opt\/py/,
  ],
  [
    "a full disk, and not the folder of the traceback's frame",
    'OSError: [Errno 28] No space left on device\n  File "/opt/py/torch/serve.py", line 9, in write',
    /df -h/,
    /opt\/py/,
  ],
  [
    'bitsandbytes for ROCm on Windows',
    String.raw`bitsandbytes library load error: Configured ROCm binary not found at D:\app\Lib\site-packages\bitsandbytes\libbitsandbytes_rocm72.dll`,
    /no compiled library for ROCm 7\.2[^]*before 0\.50[^]*Windows/,
    /CUDA|0\.43/,
  ],
  [
    'bitsandbytes with a library that does not fit',
    'OSError: /opt/py/site-packages/bitsandbytes/libbitsandbytes_rocm63.so: undefined symbol: _Z9something',
    /for ROCm 6\.3 does not load[^]*undefined symbol[^]*pip install/,
    /no compiled library|torch\.version\.cuda/,
  ],
  [
    'the hub and llama.cpp',
    'error from HF API, response code: 429, data: {"error":"We had to rate limit your IP"}\nllama-server: error while handling argument "-hf": error: failed to get model\n',
    /HF_TOKEN[^]*--offline/,
    /HF_HUB_OFFLINE|--help/,
  ],
  [
    'ONNX Runtime without its GPU build',
    'WARNING: CUDAExecutionProvider not available, ONNX will fall back to CPU',
    /no CUDA provider[^]*--force-reinstall onnxruntime-gpu/,
    /import torch/,
  ],
  [
    'a home that does not exist',
    'There was a problem when trying to write in your cache folder (/nonexistent/.cache/huggingface/hub). You should set it.',
    /HF_HOME/,
    /chown/,
  ],
])('%s', (_name, text, says, never) => {
  const { all } = answer(text)
  expect(all).toMatch(says)
  expect(all).not.toMatch(never)
})
