// What a text tells beside its error: versions, names that changed between releases, a file that is there, what was tried already.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

test.each([
  [
    'an extension for another PyTorch, by the name that changed',
    'torch 2.8.0\nImportError: /v/site-packages/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol: _ZN3c104cuda9SetDeviceEa\n',
    'missing_dependency',
    /Or install the PyTorch that this build of flash-attn was made for: 2\.3 to 2\.7, by the name/,
  ],
  [
    'an extension with the new C++ ABI beside a PyTorch with the old one',
    'torch==2.4.1\nImportError: /v/site-packages/flash_attn_2_cuda.cpython-312-x86_64-linux-gnu.so: undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE\n',
    'missing_dependency',
    /built with the new C\+\+ ABI[^]*cxx11abiFALSE/,
  ],
  [
    'a library that is there, as `find` shows',
    'Could not load library libcudnn_ops_infer.so.8. Error: libcudnn_ops_infer.so.8: cannot open shared object file: No such file or directory\n$ find / -name "libcudnn_ops*"\n/opt/asr/lib/python3.11/site-packages/nvidia/cudnn/lib/libcudnn_ops_infer.so.8\n',
    'cuda_library_missing',
    /^(?![^]*pip install)[^]*export LD_LIBRARY_PATH=\/opt\/asr\/lib\/python3\.11\/site-packages\/nvidia\/cudnn\/lib:/,
  ],
  [
    'a driver that is older than the CUDA of the image, which nvidia-smi of its time does not say',
    'NVIDIA-SMI 375.20   Driver Version: 375.20\nFROM nvidia/cuda:9.2-runtime\nCUDA driver version is insufficient for CUDA runtime version\n',
    'cuda_version_mismatch',
    /^Driver too old[^]*375\.20, for CUDA up to 8\.0/,
  ],
  [
    'a driver that is new enough and is not reached',
    'docker run -it lab/app:2\nDriver Version: 535.54.03\nCuda compilation tools, release 11.8, V11.8.89\ncudaErrorInsufficientDriver: CUDA driver version is insufficient for CUDA runtime version\n',
    'cuda_version_mismatch',
    /^No usable driver[^]*535\.54\.03 runs CUDA up to 12\.2, enough for CUDA 11\.8[^]*docker run --gpus all lab\/app:2/,
  ],
  [
    'the limit at which the board itself slows the chip down',
    '    HW Slowdown                       : Active\n        HW Thermal Slowdown           : Active\n    GPU Current Temp                  : 93 C\n    GPU Slowdown Temp                 : 92 C\n    GPU Max Operating Temp            : 60 C\n',
    'thermal_or_power',
    /at 93 °C, with its limit at 92 °C/,
  ],
  [
    'NCCL goes by shared memory already, and that asks for access, too',
    "env NCCL_P2P_DISABLE=1 torchrun train.py\nn1:7:9 [0] transport/shm.cc:512 NCCL WARN Cuda failure 217 'peer access is not supported between these two devices'\n",
    'nccl_error',
    /^(?![^]*NCCL_P2P_DISABLE=1)[^]*NCCL_CUMEM_HOST_ENABLE=0/,
  ],
  [
    'an older NCCL that cannot open the memory of another GPU',
    'n1:7:9 [0] transport/p2p.cc:230 NCCL WARN failed to open CUDA IPC handle : 217 peer access is not supported between these two devices\n',
    'nccl_error',
    /NCCL_P2P_DISABLE=1/,
  ],
  [
    'Ollama after suspend, by the CUDA runtime',
    'level=DEBUG source=gpu.go:500 msg="Unable to load cudart" library=/opt/lib/libcudart.so.12 error="cudart init failure: 999"\n',
    'gpu_not_visible',
    /bad state, often after suspend[^]*rmmod nvidia_uvm/,
  ],
  [
    'a part of the model on disk',
    'WARNING:root:Some parameters are on the meta device because they were offloaded to the cpu and disk.\n',
    'precision_fallback',
    /in host memory and on disk/,
  ],
  [
    'a reason on a line of its own',
    "terminate called after throwing an instance of 'CUDA::error'\n  what():  /src/pools/SimpleCudaMalloc.hpp(40):\nerror: out of memory\n",
    'cuda_oom',
    /Out of GPU memory/,
  ],
  [
    'Windows ends a kernel after two seconds',
    'File "D:\\work\\train.py", line 9, in step\nRuntimeError: CUDA error: the launch timed out and was terminated\n',
    'illegal_memory_access',
    /TdrDelay/,
  ],
  [
    'TensorRT says how much scratch space a batch of 32 needs',
    'trtllm-build --max_batch_size 32\n[TRT] [E] 4: Internal error: plugin node PLUGIN_V2_GPTAttention_0 requires 40000000000 bytes of scratch space, but only 30000000000 is available.\n',
    'cuda_oom',
    /37\.25 GiB of scratch space[^]*27\.94 GiB is there[^]*--max_batch_size 24/,
  ],
  [
    "blocks of TensorRT-LLM's cache",
    "[TensorRT-LLM][ERROR] Assertion failed: Can't allocate new blocks. No free blocks left. (/src/kvCacheManager.cpp:300)\n",
    'cuda_oom',
    /KV cache[^]*kv_cache_free_gpu_mem_fraction/,
  ],
  [
    'DeepSpeed saw how full host memory was',
    "deepspeed: offload_optimizer cpu\n[INFO] [utils.py:799:see_memory_usage] CPU Virtual Memory:  used = 118.2 GB, percent = 93.1%\n[ERROR] [launch.py:321:sigkill_handler] ['python', 'train.py'] exits with return code = -9\n",
    'job_killed',
    /most likely the kernel[^]*118\.2 GB of it \(93\.1 %\)[^]*nvme/,
  ],
  [
    'a peer that Gloo lost',
    'RuntimeError: [/src/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.8.0.4]:20112\n',
    'network_error',
    /rank behind 10\.8\.0\.4:20112 first/,
  ],
  [
    'a container without the pipes of MPS',
    'docker run --gpus all lab/serve:3\nRuntimeError: Unexpected error from cudaGetDeviceCount(). Error 805: MPS client failed to connect to the MPS control daemon or the MPS server.\n',
    'gpu_not_visible',
    /^CUDA does not reach the MPS server(?![^]*suspend)[^]*--ipc=host -v \/tmp\/nvidia-mps:\/tmp\/nvidia-mps lab\/serve:3/,
  ],
  [
    'a GPU cut by MIG that PyTorch counted',
    'MIG 1g.10gb Device 0: (UUID: MIG-1)\nRuntimeError: device >= 0 && device < num_gpus INTERNAL ASSERT FAILED at "CUDAContext.cpp":49\n',
    'gpu_not_visible',
    /with MIG on a process gets one instance only/,
  ],
  [
    'an exclusive mode that nvidia-smi shows',
    '|  0   N/A  N/A | 70MiB / 11439MiB |      0%   E. Process |\nRuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable\n',
    'gpu_busy',
    /nvidia-smi shows it in exclusive mode/,
  ],
  [
    'a mode that is not exclusive',
    '| N/A   40C    P8    12W /  70W |      2MiB / 15360MiB |      0%      Default |\nRuntimeError: CUDA error: CUDA-capable device(s) is/are busy or unavailable\n',
    'gpu_busy',
    /shows no exclusive mode/,
  ],
  [
    'GPTQ without its kernels',
    'WARNING - CUDA kernels for auto_gptq are not installed, this will result in very slow inference speed.\n',
    'precision_fallback',
    /^GPTQ runs without its CUDA kernels[^]*0\.7\.1: 2\.2\.1/,
  ],
  [
    'Podman, that ignored --gpus',
    'podman run --rm --gpus all lab/train:1 nvidia-smi\nError: crun: executable file `nvidia-smi` not found in $PATH: No such file or directory: OCI runtime attempted to invoke a command that was not found\n',
    'gpu_not_visible',
    /podman run --device nvidia\.com\/gpu=all(?![^]*docker run)/,
  ],
  [
    'a Triton server without CUDA',
    'E1120 10:11:12.131 1 server.cc:189] "Failed to initialize CUDA: unable to get number of CUDA devices: initialization error"\n',
    'gpu_not_visible',
    /^CUDA cannot start/,
  ],
  [
    'an image of NVIDIA that was started without a GPU',
    'docker run -it nvcr.io/nvidia/pytorch:24.05-py3\nWARNING: The NVIDIA Driver was not detected.  GPU functionality will not be available.\n',
    'gpu_not_visible',
    /^The container has no GPU[^]*--gpus all nvcr\.io\/nvidia\/pytorch:24\.05-py3/,
  ],
  [
    'a pod that was evicted, without figures',
    'Reason:           Evicted\nMessage:          The node was low on resource: memory.\n',
    'host_oom_kill',
    /The kubelet evicted the pod because its node ran low on memory\.(?![^]*docker)[^]*resources\.requests\.memory\)/,
  ],
  [
    'torch.compile without the compiler of Windows',
    'torch._inductor.exc.InductorError: RuntimeError: Compiler: cl is not found.\n',
    'compile_error',
    /Desktop development with C\+\+/,
  ],
  [
    'a validation that keeps what only a training needs',
    'Epoch 1/50 (valid):   3%|#         | 1/30\nTraceback (most recent call last):\n  File "train.py", line 210, in check\n    out = model(x)\nRuntimeError: CUDA out of memory. Tried to allocate 392.00 MiB (GPU 0; 7.79 GiB total capacity; 6.10 GiB already allocated; 301.31 MiB free; 6.25 GiB reserved in total by PyTorch)\n',
    'cuda_oom',
    /torch\.no_grad\(\)(?![^]*accumulation)/,
  ],
  [
    'a pipeline of diffusers that is moved to the GPU first',
    'pipe = CogVideoXPipeline.from_pretrained(MODEL).to("cuda")\npipe.enable_model_cpu_offload()\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.31 GiB. GPU 0 has a total capacity of 23.99 GiB of which 1.01 GiB is free.\n',
    'cuda_oom',
    /Leave out \.to\("cuda"\)/,
  ],
  [
    'vLLM that tries its encoder',
    'vllm serve lab/vlm\nEncoder cache will be initialized with a budget of 16384 tokens, and profiled with 1 video items of the maximum feature size.\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.50 GiB. GPU 0 has a total capacity of 23.52 GiB of which 3.10 GiB is free.\n',
    'cuda_oom',
    /--limit-mm-per-prompt '\{"image": 1, "video": 0\}'/,
  ],
  ['an empty file of a Jetson', 'OSError: /usr/lib/aarch64-linux-gnu/nvidia/libcudla.so: file too short\n', 'cuda_library_missing', /--runtime nvidia/],
  ['the host engine of DCGM without NVML', 'Err: Failed to start DCGM Server: -15\nFailed to initialize NVML\n', 'gpu_not_visible', /^NVML cannot be started/],
  [
    'a container that had no right to its devices from the start',
    'docker run --rm --runtime=nvidia --gpus all ubuntu nvidia-smi\nFailed to initialize NVML: Unknown Error\n',
    'nvml_unknown_error',
    /just started(?![^]*docker restart)[^]*no-cgroups/,
  ],
  [
    'a container that lost them',
    'docker exec trainer nvidia-smi\nFailed to initialize NVML: Unknown Error\n',
    'nvml_unknown_error',
    /docker restart(?![^]*no-cgroups)/,
  ],
  [
    'bitsandbytes without the library of the driver',
    'CUDA SETUP: WARNING! libcuda.so not found! Do you have a CUDA driver installed?\nCUDA SETUP: CUDA detection failed! Possible reasons:\n',
    'bitsandbytes_setup',
    /libcuda\.so, which comes with the driver/,
  ],
  [
    'a library of Windows on Linux',
    'CUDA SETUP: Loading binary /home/ada/env/lib/python3.10/site-packages/bitsandbytes/libbitsandbytes_cuda116.dll...\n/home/ada/env/lib/python3.10/site-packages/bitsandbytes/libbitsandbytes_cuda116.dll: invalid ELF header\nRuntimeError: CUDA Setup failed despite GPU being available. Inspect the CUDA SETUP outputs above\n',
    'bitsandbytes_setup',
    /Windows DLL on Linux[^]*--force-reinstall(?![^]*\bset )/,
  ],
  [
    'XLA without a name of its program',
    'Original error: RESOURCE_EXHAUSTED: Failed to allocate request for 176.00MiB (184549376B) on device ordinal 0\n',
    'cuda_oom',
    /XLA_PYTHON_CLIENT_MEM_FRACTION/,
  ],
  [
    'the same of Keras',
    'File "/w/keras/model.py", line 4, in fit\nRESOURCE_EXHAUSTED: Failed to allocate request for 176.00MiB (184549376B) on device ordinal 0\n',
    'cuda_oom',
    /TF_FORCE_GPU_ALLOW_GROWTH(?![^]*XLA_PYTHON)/,
  ],
  [
    'a GPU that cannot be opened',
    'W external/xla/xla/service/platform_util.cc:200] unable to create StreamExecutor for CUDA:3: failed initializing StreamExecutor for CUDA device ordinal 3: INTERNAL: failed call to cuDevicePrimaryCtxRetain: CUDA_ERROR_OUT_OF_MEMORY: out of memory; total memory reported: 34089730048\n',
    'cuda_oom',
    /^Out of GPU memory on GPU 3[^]*JAX could not open(?![^]*smaller)[^]*CUDA_VISIBLE_DEVICES=<GPU>/,
  ],
  [
    'code for another chip on an AMD GPU',
    'HSA_OVERRIDE_GFX_VERSION=11.0.0 AMD_SERIALIZE_KERNEL=3 python train.py\nMemory access fault by GPU node-1 (Agent handle: 0x559e) on address 0x7fe05f439000. Reason: Page not present or supervisor privilege.\n',
    'illegal_memory_access',
    /GFX_VERSION=11\.0\.0 makes the GPU run code of another chip(?![^]*synchronous)[^]*amdgpu/,
  ],
  [
    'a credential of Slurm that ran out',
    'srun: error: Task launch for 36.0 failed on node cn131: Job credential expired\n',
    'job_failed',
    /clocks of the hosts differ[^]*chronyc tracking/,
  ],
  [
    'a batch script that the controller saw killed',
    '[2026-05-27T11:37:57.377] _job_complete: JobId=127441 WTERMSIG 9\n[2026-05-27T11:37:57.377] _job_complete: JobId=127441 done\n',
    'job_killed',
    /SIGKILL[^]*sacct -j 127441/,
  ],
  [
    'an argument that a server does not know itself',
    "(EngineCore pid=611) ERROR 06-20 19:18:46 [core.py:1229] TypeError: Attention.__init__() got an unexpected keyword argument 'use_irope'\n(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}\n",
    'python_exception',
    /Compare the installed versions(?![^]*Correct the call)/,
  ],
  [
    'the same in a script',
    'llm = LLM(model=\'lab/vlm\', max_model_len=8192)\n  File "/opt/vllm/model.py", line 4, in _process_image_input\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.50 GiB. GPU 0 has a total capacity of 23.52 GiB of which 3.10 GiB is free.\n',
    'cuda_oom',
    /limit_mm_per_prompt=\{"image": 1, "video": 0\}(?![^]*'\{)/,
  ],
  [
    'the same before vLLM 0.9',
    'vLLM API server version 0.7.3\n  File "/opt/vllm/model.py", line 4, in _process_image_input\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 7.50 GiB. GPU 0 has a total capacity of 23.52 GiB of which 3.10 GiB is free.\n',
    'cuda_oom',
    /--limit-mm-per-prompt image=1\n/,
  ],
] as const)('%s', (_, text, kind, expected) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(expected)
})
