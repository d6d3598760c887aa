// Advice uses the option names of the program that the user runs, also where that starts another one.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

test.each([
  [
    'each library of one start of TensorFlow in one answer, and none that needs itself',
    "W dso_loader.cc:64] Could not load dynamic library 'libcudart.so.11.0'; dlerror: libcudart.so.11.0: cannot open shared object file: No such file or directory\nW dso_loader.cc:64] Could not load dynamic library 'libcublas.so.11'; dlerror: libcublas.so.11: cannot open shared object file: No such file or directory\nW gpu_device.cc:1850] Cannot dlopen some GPU libraries.\n",
    'cuda_library_missing',
    /^(?![^]*needs libcudart)[^]*libcudart\.so\.11\.0 was not found where the loader looks, nor were libcublas\.so\.11, so/,
  ],
  [
    'a GPU that nvdebugdump cannot ask, by its own number',
    'Found 4 NVIDIA devices\nError: nvmlDeviceGetHandleByIndex(): Unknown Error\nFAILED to get details on GPU (0x3): Unknown Error\n',
    'gpu_lost',
    /GPU 3 is listed, but the driver gets no answer/,
  ],
  [
    'heartbeats of the GSP that stop, without an Xid',
    '[ 912.1] NVRM: GPU5 _kgspIsHeartbeatTimedOut: Heartbeat timed out, heartbeat timer 5200\n',
    'gpu_lost',
    /GPU 5 \(as the driver counts\): its system processor \(GSP\)[^]*has stopped answering/,
  ],
  [
    'the latents of kohya, whose batch is another one',
    '  File "/k/sd-scripts/library/train_util.py", line 2080, in cache_latents\ntorch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 0 has a total capacity of 11.76 GiB of which 1.20 GiB is free.\n',
    'cuda_oom',
    /^(?![^]*accumulation)[^]*before the first step of the training[^]*--vae_batch_size 1/,
  ],
  [
    'vLLM inside OpenRLHF, whose options have other names',
    'File "/r/openrlhf/trainer/ray/vllm_engine.py", line 88, in wake_up\nvllm 0.8.5\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 79.11 GiB of which 512.06 MiB is free. Process 912 has 32.40 GiB memory in use.\n',
    'cuda_oom',
    /^(?![^]*--gpu-memory-utilization)[^]*--vllm_gpu_memory_utilization 0\.70[^]*--vllm_enable_sleep --deepspeed_enable_sleep/,
  ],
  [
    'vLLM inside TRL, whose options are in its config',
    'File "/v/site-packages/trl/trainer/grpo_trainer.py", line 700, in __init__\n    self.llm = LLM(model=model.name_or_path, gpu_memory_utilization=0.9)\nvllm 0.8.5\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 79.11 GiB of which 512.06 MiB is free.\n',
    'cuda_oom',
    /^(?![^]*LLM\()[^]*In the config: vllm_gpu_memory_utilization=0\.\d\d\./,
  ],
  [
    'vLLM inside ms-swift',
    'swift rlhf --rlhf_type grpo --use_vllm true --vllm_mode colocate\nvllm 0.8.5\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.02 GiB. GPU 0 has a total capacity of 79.11 GiB of which 512.06 MiB is free.\n',
    'cuda_oom',
    /--vllm_gpu_memory_utilization 0\.\d\d[^]*--sleep_level 1/,
  ],
  [
    'an operation that the ONNX parser of TensorRT does not have',
    '[TRT] [I] No importer registered for op: GridSample. Attempting to import as plugin.\nIn node 21 (importFallbackPluginImporter): UNSUPPORTED_NODE: Assertion failed: creator && "Plugin not found, are the plugin name, version, and namespace correct?"\n',
    'compile_error',
    /TensorRT has no operation GridSample for ONNX/,
  ],
  [
    'an input that TensorRT wants as a constant',
    '# trtexec --onnx=net/det.onnx\nWhile parsing node number 60 [TopK]:\nERROR: builtin_op_importers.cpp:31 In function importTopK:\n[8] Assertion failed: (inputs.at(1).is_weights()) && "This version of TensorRT only supports input K as an initializer."\n',
    'compile_error',
    /stopped at TopK, node 60: "This version of TensorRT only supports input K as an initializer"\.[^]*polygraphy surgeon sanitize net\/det\.onnx --fold-constants/,
  ],
  [
    'a network that the parser left empty',
    '[TensorRT] ERROR: Network must have at least one output\n',
    'compile_error',
    /did not look at what parse\(\) returned[^]*parser\.get_error/,
  ],
  [
    'a relative path of Windows',
    "llama_model_load: error loading model: tensor 'blk.12.ffn_down.weight' data is not within the file bounds, model is corrupted or incomplete\nfailed to load model 'models\\chat.Q4_K_M.gguf'\n",
    'checkpoint_mismatch',
    /^(?![^]*ls -lL)[^]*models\\chat\.Q4_K_M\.gguf cannot be read/,
  ],
  [
    'vLLM that xinference started',
    "$ xinference launch --model-name qwen2.5-instruct --model-engine vllm\nRuntimeError: Failed to launch model, detail: [address=0.0.0.0:41231, pid=812] The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV cache (18960). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.\n",
    'cuda_oom',
    /^(?![^]*--max-model-len)[^]*--max_model_len 18960[^]*--gpu_memory_utilization 0\.95/,
  ],
  [
    'Flash Attention of TGI on a GPU that is too old',
    'text_generation_launcher: Shard 0 failed to start\nRuntimeError: FlashAttention only supports Ampere GPUs or newer.\n',
    'cuda_version_mismatch',
    /^(?![^]*attn_implementation)[^]*USE_FLASH_ATTENTION=false/,
  ],
  [
    'ONNX Runtime without a provider for the GPU, which only warns',
    "onnxruntime_inference_collection.py:123: UserWarning: Specified provider 'CUDAExecutionProvider' is not in available provider names.Available providers: 'AzureExecutionProvider, CPUExecutionProvider'\n",
    'precision_fallback',
    /has no provider for the GPU[^]*pip install --force-reinstall onnxruntime-gpu/,
  ],
  [
    'the Rust binding of ONNX Runtime, on the CPU without an error',
    '[2026-12-01T14:17:40Z WARN  ort::execution_providers] No execution providers registered successfully. Falling back to CPU.\n',
    'precision_fallback',
    /No provider for the GPU could be started[^]*RUST_LOG=ort=debug/,
  ],
  [
    'a model that was optimized for a GPU, in a session of the CPU',
    "NotImplemented: [ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : Failed to find kernel for MemcpyFromHost(1) (node:'Memcpy' ep:'CPUExecutionProvider'). Kernel not found\n",
    'config_error',
    /^(?![^]*Let the CPU take)[^]*copies between host and GPU[^]*CUDAExecutionProvider/,
  ],
  [
    'a second GPU asked for by a process with one MIG instance',
    'CUDA_VISIBLE_DEVICES=MIG-5c89852c torchrun --nproc_per_node=2 train.py\nRuntimeError: CUDA error: invalid device ordinal\n',
    'gpu_not_visible',
    /^(?![^]*container)[^]*given one MIG instance[^]*number 0, one process/,
  ],
  [
    'the container of compose that was killed, by its name',
    'sd-auto-1  | Loading model [7460a6fa] from /data/model.ckpt\nsd-auto-1 exited with code 137\n',
    'job_killed',
    /Container sd-auto-1 was ended by SIGKILL[^]*docker inspect --format '\{\{\.State\.OOMKilled\}\}' sd-auto-1/,
  ],
  [
    'the front end of vLLM, which only says that its engine failed',
    '(APIServer pid=25) ERROR 10-06 07:11:37 [async_llm.py:520] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.\n',
    'worker_died',
    /further up in the log[^]*grep -m1 -A60/,
  ],
  [
    'Triton on Windows, without a compiler',
    'Platform: Windows. Triton: 3.1.0\nTraceback (most recent call last):\n  File "W:\\demo\\run.py", line 34, in <module>\n    outputs = model.generate(\nRuntimeError: Failed to find C compiler. Please specify via CC environment variable.\n',
    'compile_error',
    /^(?![^]*apt-get)[^]*triton-windows/,
  ],
  [
    'ldconfig, whose cache is no cache of models',
    "/sbin/ldconfig.real: Can't create temporary cache file /etc/ld.so.cache~: Read-only file system\nAssertionError: libcuda.so cannot found!\n",
    'cuda_library_missing',
    /^(?![^]*model cache)[^]*only the unversioned name is missing/,
  ],
  [
    'llama.cpp without any backend',
    'llama_model_load_from_file_impl: no backends are loaded. hint: use ggml_backend_load() or ggml_backend_load_all() to load a backend before calling this function\n',
    'config_error',
    /found none[^]*ggml_backend_load_all\(\)/,
  ],
  [
    'two ranks in different collectives',
    'RuntimeError: Detected mismatch between collectives on ranks. Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=76, OpType=ALLTOALL_BASE, TensorShape=[4, 128], TensorDtypes=Half), but Rank 0 is running collective: CollectiveFingerPrint(SequenceNumber=76, OpType=ALLREDUCE, TensorShape=[]).\n',
    'python_exception',
    /At collective 76 rank 1 was in ALLTOALL_BASE, and rank 0 in ALLREDUCE\.[^]*same calls in the same order/,
  ],
  [
    'two ranks in one collective, with other shapes',
    'RuntimeError: Detected mismatch between collectives on ranks. Rank 3 is running collective: CollectiveFingerPrint(OpType=ALLGATHER, TensorShape=[17, 8], TensorDtypes=Float), but Rank 0 is running collective: CollectiveFingerPrint(OpType=ALLGATHER, TensorShape=[16, 8], TensorDtypes=Float).\n',
    'python_exception',
    /rank 3 was in ALLGATHER of \[17, 8\], and rank 0 in ALLGATHER of \[16, 8\]\.[^]*one shape on all ranks/,
  ],
  [
    'a library that CUDA 12 and 13 have, beside names of older ones',
    "UserWarning: /usr/local/cuda/lib did not contain ['libcudart.so', 'libcudart.so.11.0', 'libcudart.so.12.0'] as expected!\nCUDA SETUP: Detected CUDA version 121\nCUDA SETUP: Loading binary /v/site-packages/bitsandbytes/libbitsandbytes_cuda121.so...\nlibcusparse.so.12: cannot open shared object file: No such file or directory\n",
    'cuda_library_missing',
    /^(?![^]*cu11)[^]*pip install nvidia-cusparse-cu12/,
  ],
  [
    "ComfyUI's report",
    '# ComfyUI Error Report\n## Error Details\n- **Node ID:** 63\n- **Node Type:** VideoSampler\n- **Exception Type:** RuntimeError\n- **Exception Message:** mat1 and mat2 shapes cannot be multiplied (77x768 and 1024x320)\n\n## Stack Trace\n```\n  File "E:\\ComfyUI\\execution.py", line 327, in execute\n    output_data = get_output_data(obj)\n  File "E:\\ComfyUI\\custom_nodes\\video\\nodes.py", line 750, in process\n    latents = pipe(x)\n```\n## System Information\n',
    'shape_mismatch',
    /77x768/,
  ],
  [
    'a CTranslate2 that was built without cuDNN',
    'whisper  | RuntimeError: Conv1D on GPU currently requires the cuDNN library which is not integrated in this build\n',
    'missing_dependency',
    /^(?![^]*cuDNN==)[^]*-DWITH_CUDNN=ON/,
  ],
  [
    'a GPU too full for a context of Ollama',
    'ollama[7]: cuda driver library failed to get device context 2time=2026-03-15T11:39:10.756+01:00 level=WARN source=gpu.go:434 msg="error looking up nvidia GPU memory"\n',
    'cuda_oom',
    /^(?![^]*daemon-reload)[^]*so full that Ollama/,
  ],
  [
    'a GPU in exclusive mode, for Ollama',
    'ollama[7]: cuda driver library failed to get device context 46time=2026-03-15T11:39:10.756+01:00 level=WARN source=gpu.go:434 msg="error looking up nvidia GPU memory"\n',
    'gpu_busy',
    /^(?![^]*daemon-reload)[^]*nvidia-smi -c DEFAULT/,
  ],
  [
    "an old Ollama's runner on a CPU without AVX",
    '2026/12/28 22:36:56 llama.go:440: starting llama runner\n2026/12/28 22:36:56 llama.go:455: signal: illegal instruction\nError: llama runner process has terminated\n',
    'worker_died',
    /instruction that this CPU does not have/,
  ],
  [
    'frozen and trained weights in one group of FSDP',
    'ValueError: Must flatten tensors with uniform requires_grad when use_orig_params=False\n',
    'python_exception',
    /^(?![^]*until that holds)[^]*fsdp_use_orig_params: true/,
  ],
  [
    'a device that the host of Docker does not have',
    'docker: Error response from daemon: error gathering device information while adding custom device "/dev/kfd": no such file or directory.\n',
    'gpu_not_visible',
    /\/dev\/kfd is not there: the kernel's amdgpu driver is not loaded[^]*install the amdgpu driver/,
  ],
  [
    'rocBLAS without a device, which no setting of CUDA helps',
    'rocBLAS error: Could not initialize Tensile host: No devices found\n',
    'gpu_not_visible',
    /^(?![^]*CUDA_LAUNCH)[^]*ROCm started and found no GPU/,
  ],
  [
    'an error of /dev/kfd at the end of a line',
    'Unable to open /dev/kfd read-write: Invalid argument\nroot is member of nogroup group\n',
    'gpu_not_visible',
    /could not open \/dev\/kfd \(Invalid argument\)/,
  ],
  [
    'a Jetson whose memory is in pieces',
    'NvMapMemAllocInternalTagged: 1075072515 error 12\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 256.00 MiB. GPU 0 has a total capacity of 7.44 GiB of which 1.92 GiB is free.\n',
    'cuda_oom',
    /^(?![^]*Windows)[^]*drop_caches/,
  ],
  [
    'a kernel module that is refused for a reason of its own',
    "modprobe: ERROR: could not insert 'nvidia': Invalid argument\n",
    'gpu_not_visible',
    /^(?![^]*Secure Boot, )[^]*refused the NVIDIA module \("Invalid argument"\)/,
  ],
  [
    'a driver that Ollama itself calls old',
    'time=2026-01-02T11:02:14.560Z level=WARN source=cuda_common.go:65 msg="old CUDA driver detected - please upgrade to a newer driver" version=11.4\ntime=2026-01-02T11:02:14.601Z level=INFO source=gpu.go:377 msg="no compatible GPUs were discovered"\n',
    'precision_fallback',
    /^(?![^]*device files)[^]*Update the NVIDIA driver of the host[^]*runs CUDA up to 11\.4/,
  ],
  [
    'a kernel that Triton itself compiled',
    'RuntimeError: Triton Error [CUDA]: device kernel image is invalid\n',
    'cuda_version_mismatch',
    /^(?![^]*holds no code)[^]*ptxas is of a newer CUDA than the driver[^]*TRITON_PTXAS_PATH/,
  ],
  [
    'a program in C++, by what its namespace was compiled for',
    "terminate called after throwing an instance of 'thrust::THRUST_200500_750_860_NS::system::system_error'\n  what():  after sort: cudaErrorNoKernelImageForDevice: no kernel image is available for execution on the device\n",
    'cuda_version_mismatch',
    /^(?![^]*torch)[^]*compiled for compute capability 7\.5, 8\.6\.[^]*CMAKE_CUDA_ARCHITECTURES/,
  ],
  [
    'a hub that cannot be reached, which no log-in fixes',
    'huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files in the disk cache. Please check your connection and try again.\n',
    'model_access',
    /^(?![^]*whoami)[^]*no way to the hub[^]*HTTPS_PROXY/,
  ],
  [
    'a record of absl from before its start',
    "E0000 00:00:1730000000.123456     42 loader.cc:7] failed to load 'm': Internal: ModuleNotFoundError: No module named 'scipy'\n",
    'missing_dependency',
    /could not load scipy: "failed to load 'm'/,
  ],
  [
    'a pod whose state is all that is known: its own output first, in its namespace',
    'Name:         trainer-0\nNamespace:    ml\n    Last State:     Terminated\n      Reason:       Error\n      Exit Code:    1\n    State:          Waiting\n      Reason:       CrashLoopBackOff\n',
    'job_failed',
    /^(?![^]*describe pod)[^]*kubectl logs trainer-0 -n ml --previous[^]*kubectl get events --field-selector involvedObject\.name=trainer-0 -n ml/,
  ],
  [
    'a pod that crashes, from the list of pods',
    'pod/embed-0   0/1   CrashLoopBackOff   7 (2m ago)\n    Last State:     Terminated\n      Exit Code:    139\n',
    'segfault',
    /kubectl logs embed-0 --previous/,
  ],
] as const)('%s', (_about, text, kind, expected) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(expected)
})
