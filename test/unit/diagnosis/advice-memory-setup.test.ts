// Advice on memory and set-up that needs what is around the message: who speaks, which phase failed, on which system.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

test.each([
  [
    'a server whose libraries hold memory beside PyTorch',
    '[2025-06-01 10:00:00 TP3] Capture cuda graph begin.\n  File "/s/sglang/srt/model_executor/cuda_graph_runner.py", line 269, in __init__\nException: Capture cuda graph failed: CUDA out of memory. Tried to allocate 300.00 MiB. GPU 3 has a total capacity of 95.00 GiB of which 120.88 MiB is free. Process 4100 has 94.80 GiB memory in use. Of the allocated memory 88.10 GiB is allocated by PyTorch, and 1.10 GiB is reserved by PyTorch but unallocated.\n',
    'cuda_oom',
    /outside PyTorch[^]*--mem-fraction-static 0\.80[^]*--cuda-graph-max-bs 16[^]*Find what else/,
  ],
  [
    'the weights of vLLM, which no share of the card makes smaller',
    '  File "/v/site-packages/vllm/model_executor/layers/linear.py", line 201, in create_weights\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 90.00 MiB. GPU 0 has a total capacity of 31.35 GiB of which 40.06 MiB is free. Including non-PyTorch memory, this process has 30.40 GiB memory in use. Of the allocated memory 29.50 GiB is allocated by PyTorch, and 10.08 MiB is reserved by PyTorch but unallocated.\n',
    'cuda_oom',
    /^(?![^]*--max-num-seqs)[^]*--tensor-parallel-size 2[^]*--cpu-offload-gb 8/,
  ],
  [
    'vLLM that wakes up beside a trainer',
    '  File "/v/site-packages/vllm/worker/worker.py", line 140, in wake_up\nRuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62\n',
    'cuda_oom',
    /waking up from its sleep mode[^]*torch\.cuda\.empty_cache\(\)/,
  ],
  [
    'a cache in 8 bit and several requests, as the runner of Ollama logs them',
    'time=2025-06-27T14:42:16.291Z level=INFO source=runner.go:912 msg=load request="{Parallel:2 BatchSize:512 FlashAttention:true KvSize:64000 KvCacheType:q8_0}"\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 500.00 MiB on device 0: cudaMalloc failed: out of memory\n',
    'cuda_oom',
    /^(?![^]*OLLAMA_KV_CACHE_TYPE)[^]*OLLAMA_NUM_PARALLEL=1[^]*OLLAMA_CONTEXT_LENGTH=15872/,
  ],
  [
    'what Forge says that the model needs',
    '[GPU Setting] You will use 76.80% GPU memory (3145.00 MB) to load weights\n[Memory Management] Target: KModel, Free GPU: 3000.00 MB, Model Require: 11000.00 MB, Previously Loaded: 0.00 MB, Inference Require: 189.00 MB, Remaining: -8189.00 MB, CUDA error: out of memory\n',
    'cuda_oom',
    /The model needs 10\.74 GiB, and 2\.93 GiB was free\.[^]*nf4/,
  ],
  [
    'the memory of a GPU that TensorFlow could not have',
    'Traceback (most recent call last):\n  File "/w/fit.py", line 3, in <module>\n    model.fit(x)\ntensorflow.python.framework.errors_impl.ResourceExhaustedError:  failed to allocate memory\n',
    'cuda_oom',
    /TensorFlow could not allocate memory on the GPU[^]*smaller batch/,
  ],
  [
    "PyTorch on Apple's GPU",
    'MPS backend out of memory (MPS allocated: 9.00 GiB, other allocations: 12.50 GiB, max allowed: 22.00 GiB). Tried to allocate 512.00 MiB on private pool.\n',
    'cuda_oom',
    /512 MiB on the Mac's GPU, which may use 22\.00 GiB: its tensors hold 9\.00 GiB, and 12\.50 GiB is held beside them/,
  ],
  [
    'ranks on one GPU whose launcher has another pid',
    'CUDA out of memory. Tried to allocate 40.00 MiB. GPU 0 has a total capacity of 22.07 GiB of which 20.62 MiB is free. Process 157 has 270.00 MiB memory in use. Process 451 has 3.16 GiB memory in use. Including non-PyTorch memory, this process has 1.12 GiB memory in use. Process 453 has 5.28 GiB memory in use. Process 450 has 7.69 GiB memory in use. Of the allocated memory 880.00 MiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated.\n',
    'cuda_oom',
    /set the device from LOCAL_RANK/,
  ],
  [
    'a path of Windows whose folders begin with t and n',
    'OSError: [WinError 126] The specified module could not be found. Error loading "C:\\py\\site-packages\\torch\\lib\\cublas64_12.dll" or one of its dependencies.\n',
    'cuda_library_missing',
    /^(?![^]*nvidia-cublas)[^]*cublas64_12\.dll[^]*Visual C\+\+[^]*--force-reinstall torch/,
  ],
  [
    'a symbol that the loader finds in no version',
    'ImportError: /e/nvidia/cusparse/lib/libcusparse.so.12: symbol __nvJitLinkComplete_12_4, version libnvJitLink.so.12 not defined in file libnvJitLink.so.12 with link time reference\n',
    'cuda_library_missing',
    /needs __nvJitLinkComplete_12_4, which the nvJitLink that was loaded does not have[^]*LD_LIBRARY_PATH/,
  ],
  [
    'kernels of FlashInfer, which PyTorch does not bring',
    'GPU: Tesla V100-SXM2-32GB\nRuntimeError: SingleDecodeWithKVCache kernel launch failed, error: no kernel image is available for execution on the device\n',
    'cuda_version_mismatch',
    /FlashInfer holds no code for the Tesla V100[^]*not PyTorch/,
  ],
  [
    'a program compiled for itself, whose PTX the driver does not know',
    'Driver Version: 580.126.09\n[cudaErrorUnsupportedPtxVersion] the provided PTX was compiled with an unsupported toolchain. in expression cudaGetLastError() : /home/u/app/kernels.cu:406\n',
    'cuda_version_mismatch',
    /^(?![^]*pip install)[^]*compile the program again with a CUDA toolkit that is no newer than the driver/,
  ],
  [
    'a checkpoint of a training, which nobody downloads',
    'load checkpoint from local path: work_dirs/unet/iter_8000.pth\nTraceback (most recent call last):\n  File "tools/test.py", line 142, in <module>\n    main()\nRuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory\n',
    'checkpoint_mismatch',
    /work_dirs\/unet\/iter_8000\.pth cannot be read[^]*resume from the one before it/,
  ],
  [
    'a job that Slurm named in the next line only',
    'slurmstepd: Exceeded job memory limit\nslurmstepd: *** JOB 8812 ON n1 CANCELLED AT 2017-06-01T10:00:00 ***\n',
    'host_oom_kill',
    /job 8812[^]*sacct -j 8812/,
  ],
  [
    'a model file that Windows cannot map',
    'RuntimeError: The paging file is too small for this operation to complete. (os error 1455)\n',
    'host_memory',
    /^(?![^]*DataLoader)[^]*such as the files of a model[^]*Enlarge the paging file/,
  ],
  [
    "FlashInfer's workspace, which is no card that is full",
    '[2025-02-01 10:00:00 TP0] Traceback (most recent call last):\n  File "/s/site-packages/sglang/srt/managers/scheduler.py", line 900, in run_scheduler_process\nRuntimeError: Failed to allocate memory for batch_prefill_tmp_v with size 900000000 and alignment 16 in AlignedAllocator\n',
    'cuda_oom',
    /no space for 858 MiB[^]*SGLANG_FLASHINFER_WORKSPACE_SIZE=1610612736[^]*--chunked-prefill-size/,
  ],
  [
    'activations that leave vLLM no room, and a share that cannot make up for them',
    'INFO worker.py:267] the current vLLM instance can use total_gpu_memory (22.00GiB) x gpu_memory_utilization (0.90) = 19.80GiB\nINFO worker.py:267] model weights take 15.00GiB; non_torch_memory takes 0.10GiB; PyTorch activation peak memory takes 5.90GiB; the rest of the memory reserved for KV Cache is -1.20GiB.\nValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.\n',
    'cuda_oom',
    /^(?![^]*--gpu-memory-utilization)[^]*weights take 15\.00 GiB, activations 5\.9\): it is 1\.2 GiB short[^]*--max-num-batched-tokens 2048/,
  ],
  [
    'a worker that Gunicorn killed for its silence',
    '[2025-01-19 00:48:31 +0000] [73] [CRITICAL] WORKER TIMEOUT (pid:76)\n[2025-01-19 00:48:32 +0000] [73] [ERROR] Worker (pid:76) was sent SIGKILL! Perhaps out of memory?\n',
    'job_killed',
    /^(?![^]*host_oom_kill)[^]*did not report within the timeout[^]*--timeout 300/,
  ],
  [
    'a worker of Gunicorn that something else killed',
    '[2025-01-19 00:48:32 +0000] [73] [ERROR] Worker (pid:76) was sent SIGKILL! Perhaps out of memory?\n',
    'host_oom_kill',
    /worker 76 was killed from outside \(SIGKILL\), likely because host memory ran out/,
  ],
  [
    'a mapping that the kernel refused, which no larger /dev/shm helps',
    'RuntimeError: unable to mmap 64 bytes from file </torch_2000_3000_64100>: Cannot allocate memory (12)\n',
    'shm_exhausted',
    /^(?![^]*--shm-size)[^]*its number 64100[^]*vm\.max_map_count=1048576/,
  ],
  [
    'a model file that is mapped as a whole',
    'RuntimeError: unable to mmap 20000000000 bytes from file </m/big.safetensors>: Cannot allocate memory (12)\n',
    'host_memory',
    /18\.63 GiB refused[^]*could not map a whole file[^]*vm\.overcommit_memory=1/,
  ],
  [
    'libraries that JAX does not find',
    'jax plugin configuration error: Exception when calling jax_plugins.xla_cuda13.initialize()\nRuntimeError: Unable to load cuSPARSE. Is it installed?\n',
    'cuda_library_missing',
    /cuSPARSE was not found by JAX[^]*'jax\[cuda13\]'[^]*env -u LD_LIBRARY_PATH/,
  ],
  [
    'a cuDNN that is older than the one of the build',
    'E0000 cuda_dnn.cc:459] Loaded runtime CuDNN library: 8.4.1 but source was compiled with: 8.6.0.  CuDNN library needs to have matching major version and equal or higher minor version.\n',
    'cuda_version_mismatch',
    /\(8\.4\.1\) is older than the one the program was built with \(8\.6\.0\)[^]*'nvidia-cudnn-cu11>=8\.6,<9'/,
  ],
  [
    "JAX's plugin of another release",
    "RuntimeError: Unable to initialize backend 'cuda': INVALID_ARGUMENT: Mismatched PJRT plugin PJRT API version (0.60) and framework PJRT API version 0.54). (you may need to uninstall the failing plugin package)\n",
    'gpu_not_visible',
    /PJRT API 0\.60\) and jaxlib \(PJRT API 0\.54\)[^]*in one command/,
  ],
  [
    'a symbol that Rich printed in a line of its own',
    'ImportError: \n/e/site-packages/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so\n: undefined symbol: _ZN3c104cuda9SetDeviceEi\n',
    'missing_dependency',
    /flash-attn was built against another PyTorch[^]*2\.1 or 2\.2/,
  ],
  [
    'a Blackwell that only its name tells, with its whole name',
    '|   0  NVIDIA GeForce RTX 5060 Ti   WDDM  |   00000000:01:00.0  On |                  N/A |\nRuntimeError: CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\n',
    'cuda_version_mismatch',
    /for the RTX 5060 Ti:[^]*sm_120 is not in its list[^]*whl\/cu1(?:28|29|30)[^]*rebuild that/,
  ],
  [
    'the node of ComfyUI that asked',
    '# ComfyUI Error Report\n## Error Details\n- **Node ID:** 7\n- **Node Type:** VAEDecode\n- **Exception Type:** torch.OutOfMemoryError\n- **Exception Message:** Allocation on device\n',
    'cuda_oom',
    /in the node VAEDecode\./,
  ],
  [
    'an engine that left nothing for the cache of TensorRT-LLM',
    '[TensorRT-LLM][INFO] Memory usage when calculating max tokens in paged kv cache: total: 24.00 GiB, available: 0.20 GiB\n[TensorRT-LLM][ERROR] CUDA runtime error in cudaMalloc(ptr, n): out of memory (/src/tensorrt_llm/runtime/tllmBuffers.h:174)\n',
    'cuda_oom',
    /^(?![^]*kv_cache_free_gpu_mem_fraction)[^]*left only 0\.20 GiB of 24\.00[^]*max_batch_size/,
  ],
  [
    "a libstdc++ that is too old, named by the loader's second half only",
    "OSError: /e/bin/../lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by /w/libfast.so)\n",
    'missing_dependency',
    /libstdcxx-ng[^]*newer distribution/,
  ],
] as const)('%s', (_about, text, kind, expected) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(expected)
})
