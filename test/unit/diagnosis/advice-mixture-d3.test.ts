// The same kinds again, second part: evaluation, plugins of Kubernetes, old Ollama, exceptions in kernels, limits of power.
import { rows } from './advice-rows.ts'

rows('GPU memory', [
  [
    "the Trainer's evaluation alone",
    '  File "/work/qa.py", line 50, in main\n    metrics = trainer.evaluate(max_length=64)\n  File "/env/lib/python3.7/site-packages/transformers/trainer.py", line 2500, in evaluation_loop\n    preds_host = logits if preds_host is None else nested_concat(preds_host, logits, padding_index=-100)\nRuntimeError: CUDA out of memory. Tried to allocate 6.00 GiB (GPU 0; 31.75 GiB total capacity; 26.83 GiB already allocated; 4.06 GiB free; 27.00 GiB reserved in total by PyTorch)',
    /eval_accumulation_steps[^]*in 8 or 4 bit/,
    /gradient accumulation|optimizer|LoRA/,
  ],
  [
    'predictions of a trainer',
    '  File "/work/LLaMA-Factory/src/llamafactory/train/sft/workflow.py", line 130, in run_sft\n    predict_results = trainer.predict(dataset)\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 270.00 MiB. GPU 6 has a total capacity of 23.65 GiB of which 208.06 MiB is free. Process 4711 has 23.44 GiB memory in use. Of the allocated memory 22.87 GiB is allocated by PyTorch, and 6.23 MiB is reserved by PyTorch but unallocated.',
    /It failed in the evaluation/,
    /gradient accumulation|optimizer/,
  ],
  [
    'an evaluation within a training',
    '  File "/env/lib/python3.7/site-packages/transformers/trainer.py", line 1900, in _inner_training_loop\n    self._maybe_log_save_evaluate(tr_loss, model)\n  File "/env/lib/python3.7/site-packages/transformers/trainer.py", line 2500, in evaluation_loop\n    preds_host = nested_concat(preds_host, logits)\nRuntimeError: CUDA out of memory. Tried to allocate 6.00 GiB (GPU 0; 31.75 GiB total capacity; 26.83 GiB already allocated; 4.06 GiB free; 27.00 GiB reserved in total by PyTorch)',
    /eval_accumulation_steps[^]*FSDP or ZeRO/,
    /gradient accumulation/,
  ],
  [
    'what lies in private pools, which PyTorch counts as allocated',
    'Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 500.00 MiB. GPU 1 has a total capacity of 79.25 GiB of which 250.00 MiB is free. Process 4711 has 79.00 GiB memory in use. Of the allocated memory 74.00 GiB is allocated by PyTorch, with 400.00 MiB allocated in private pools (e.g., CUDA Graphs), and 1.00 GiB is reserved by PyTorch but unallocated.',
    /4\.00 GiB outside PyTorch/,
  ],
  [
    'a context that is short already, and weights in 32 bit',
    './tiny.F32.llamafile -ngl 999\nllm_load_tensors: offloaded 23/23 layers to GPU\nllama_new_context_with_model: n_ctx      = 512\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 60.00 MiB on device 0: cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 62914560\nllama_new_context_with_model: failed to allocate compute buffers',
    /--n-gpu-layers 17[^]*smaller quantization/,
    /shorter context/,
  ],
  [
    'a /dev/shm in a wide table',
    'root@0123456789ab:/work# df -h | grep shm\nshm                                                                 2.0G  1.9G  100M  95% /dev/shm\nRuntimeError: DataLoader worker (pid 325) is killed by signal: Bus error.',
    /df shows 95 % of 2\.0 GiB in use/,
    /df -h \/dev\/shm/,
  ],
])

rows('access', [
  [
    'a device plugin that came before the driver',
    '2025/01/02 03:04:05 Loading NVML\n2025/01/02 03:04:05 Starting FS watcher.\n2025/01/02 03:04:05 Retreiving plugins.\n2025/01/02 03:04:05 No devices found. Waiting indefinitely.',
    /that counted no GPU[^]*nvidia-smi -L[^]*kubectl delete pod/,
    /cannot load NVML|set-as-default/,
  ],
  [
    'a device plugin without the library',
    '2025/01/02 03:04:05 Loading NVML\n2025/01/02 03:04:05 Failed to initialize NVML: could not load NVML library.\n2025/01/02 03:04:05 No devices found. Waiting indefinitely.',
    /cannot load NVML[^]*set-as-default/,
  ],
  [
    'Ollama of early 2024, which asked NVML',
    'time=2024-03-01T03:04:05.000Z level=INFO source=gpu.go:249 msg="Unable to load CUDA management library /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.550.54.14: nvml vram init failure: 999"\ntime=2024-03-01T03:04:05.000Z level=INFO source=routes.go:1042 msg="no GPU detected"',
    /NVML[^]*answered 999[^]*works on the CPU[^]*nvidia-smi/,
  ],
  [
    'a runtime that finds no driver',
    'time=2024-03-30T03:04:05.000Z level=INFO source=gpu.go:340 msg="Unable to load cudart CUDA management library /tmp/ollama1/runners/cuda_v11/libcudart.so.11.0: cudart init failure: 35"',
    /too old, or its library is not there at all[^]*--gpus all/,
    /modprobe/,
  ],
])

rows('the GPU itself', [
  [
    'what an exception in a kernel was, below its registers',
    'kernel: NVRM: Xid (PCI:0000:41:00): 13, Graphics Exception: ESR 0x5067b0=0x9 0x5067b4=0x24 0x5067a8=0x4c1eb72 0x5067ac=0x174\nkernel: NVRM: Xid (PCI:0000:41:00): 13, Graphics SM Warp Exception on (GPC 1, TPC 0, SM 0): Illegal Instruction Encoding',
    /an instruction that it cannot run[^]*"Graphics SM Warp Exception on \(GPC 1, TPC 0, SM 0\): Illegal Instruction Encoding"/,
  ],
  [
    'a limit of power, with its figures',
    'GPU 00000000:0B:00.0\n    Clocks Event Reasons\n        Idle                              : Not Active\n        SW Power Cap                      : Active\n        HW Slowdown                       : Not Active\n    GPU Power Readings\n        Power Draw                        : 149.83 W\n        Current Power Limit               : 150.00 W\n        Max Power Limit                   : 200.00 W',
    /\(SW Power Cap, 150 W\)[^]*up to 200 W[^]*-pl 200/,
    /<WATTS>/,
  ],
])
