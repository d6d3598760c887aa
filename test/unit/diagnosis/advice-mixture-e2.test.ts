// Figures of memory and the rank that stand beside an error reach its verdict.
import { rows } from './advice-rows.ts'

rows('what llama.cpp and Ollama counted before', [
  [
    'what was to fit, and the option that kept llama.cpp from placing it',
    'common_params_fit_impl: projected to use 12000 MiB of device memory vs. 8000 MiB of free device memory\ncommon_fit_params: failed to fit params to free device memory: model_params::tensor_buft_overrides already set by user, abort\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 512.00 MiB on device 0: cudaMalloc failed: out of memory\ngraph_reserve: failed to allocate compute buffers',
    /counted 11\.72 GiB that it needs, and 7\.81 GiB free[^]*Leave --override-tensor \(-ot, --cpu-moe, --n-cpu-moe\) out[^]*because it was set/,
    /not in the message/,
  ],
  [
    'nothing of a count that would have fitted',
    'common_params_fit_impl: projected to use 6000 MiB of device memory vs. 8000 MiB of free device memory\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 512.00 MiB on device 0: cudaMalloc failed: out of memory\ngraph_reserve: failed to allocate compute buffers',
    /could not allocate (?:512|0\.50)/,
    /it counted/,
  ],
  [
    "the host's memory before Ollama's runner was killed",
    'time=2026-03-16T17:44:49.091+02:00 level=INFO source=server.go:135 msg="system memory" total="31.2 GiB" free="12.4 GiB" free_swap="0 B"\ntime=2026-03-16T17:44:55.101+02:00 level=ERROR source=sched.go:457 msg="error loading llama server" error="llama runner process has terminated: signal: killed"',
    /Ollama had found 12\.40 GiB of 31\.20 GiB of host memory free before/,
  ],
])

rows('who asked, and what could not be loaded', [
  [
    'the rank that asks for a GPU which is not there',
    '[rank6]:     torch._C._cuda_setDevice(device)\n[rank6]: RuntimeError: CUDA error: invalid device ordinal',
    /Rank 6 asks for a GPU by a number that it does not have/,
  ],
  ['no rank without its prefix', 'RuntimeError: CUDA error: invalid device ordinal', /The program asks for a GPU by a number/],
  [
    'the library of the driver that the allocator needs',
    'RuntimeError: handle_0 INTERNAL ASSERT FAILED at "../c10/cuda/driver_api.cpp":15, please report a bug to PyTorch.',
    /could not load libcuda\.so[^]*GPU memory had run out[^]*ldconfig -p[^]*batch/,
    /-m pdb/,
  ],
  [
    'that library where the segments were asked for',
    'PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True python train.py\nRuntimeError: handle_1 INTERNAL ASSERT FAILED at "../c10/cuda/driver_api.cpp":15, please report a bug to PyTorch.',
    /could not load libnvidia-ml\.so\.1[^]*expandable_segments:False/,
    /batch|had run out/,
  ],
])

rows('the node, the card and the ranks that a text names', [
  [
    'the node of the event, where a sentence sends to the host',
    '  Warning  Failed  2m24s  kubelet, gpu-a3  Error: failed to start container "lab": Error response from daemon: OCI runtime create failed: container init caused: running hook: exit status 1, stdout: , stderr: nvidia-container-cli: initialization error: cuda error: no cuda-capable device is detected: unknown',
    /driver works on the host gpu-a3/,
  ],
  [
    'the card, and the build that has code for it',
    'RuntimeError: CUDA error: no kernel image is available for execution on the device\nTotal VRAM 6144 MB, total RAM 32684 MB\npytorch version: 2.7.1+cu128\nDevice: cuda:0 NVIDIA GeForce RTX 2060 : cudaMallocAsync\nPrompt executed in 7.13 seconds',
    /no code for the RTX 2060[^]*PyTorch here is for CUDA 12\.8, which has code for this GPU: a custom node/,
    /download\.pytorch\.org/,
  ],
  [
    'no card where two are named',
    'RuntimeError: CUDA error: no kernel image is available for execution on the device\ntorch 2.7.1+cu128\nGPU 0: NVIDIA GeForce RTX 2060\nGPU 1: NVIDIA GeForce RTX 3090',
    /no code for this GPU's architecture/,
  ],
  [
    'the ranks that do not report the wait',
    [1, 2, 3, 5]
      .map(
        (rank) =>
          `[E ProcessGroupNCCL.cpp:737] [Rank ${rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1802212 milliseconds before timing out.`,
      )
      .join('\n'),
    /4 ranks report it: 1, 2, 3, 5\. Ranks 0, 4 are not among them: look first at what they did/,
  ],
])

rows('the host, the board and the model that a text names', [
  [
    'the host of the log in the sentence that drains it',
    'Feb 14 05:03:42 rack12-gpu1 kernel: NVRM: Xid (PCI:0000:ab:00): 79, pid=0, name=<unknown>, GPU has fallen off the bus.',
    /Drain the host rack12-gpu1 and reboot it/,
  ],
  [
    'the host of the rank that was killed',
    'train.py FAILED\nRoot Cause (first observed failure):\n[0]:\n  time      : 2026-05-21_15:43:03\n  host      : trn12-worker\n  rank      : 0 (local_rank: 0)\n  exitcode  : -9 (pid: 14750)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 14750',
    /Process 14750 \(local rank 0\) on trn12-worker was killed[^]*kernel's log of trn12-worker whether/,
  ],
  [
    'no host where there is no other',
    '  host      : localhost\n  rank      : 0 (local_rank: 0)\n  exitcode  : -9 (pid: 14750)\n  traceback : Signal 9 (SIGKILL) received by PID 14750',
    /\(local rank 0\) was killed/,
    /localhost/,
  ],
  [
    'the serial number that the vendor asks for',
    '[   84.1] NVRM: GPU at PCI:0000:3b:00: GPU-3da9f59b-4d76-1187-950a-e2beea666068\n[   84.2] NVRM: GPU Board Serial Number: 1560000013641\n[   84.3] NVRM: Xid (PCI:0000:3b:00): 120, pid=77, name=train, GSP Error: Task 1 raised error code 0x5 for reason 0x0 at 0x63f01ac (0 more errors skipped)',
    /report for the vendor\. Serial number of its board: 1560000013641\./,
  ],
  [
    'no serial number where several GPUs have Xids',
    '[   84.2] NVRM: GPU Board Serial Number: 1560000013641\n[   84.3] NVRM: Xid (PCI:0000:3b:00): 120, pid=77, name=train, GSP Error: Task 1 raised error code 0x5\n[   84.9] NVRM: Xid (PCI:0000:5e:00): 120, pid=78, name=train, GSP Error: Task 1 raised error code 0x5',
    /report for the vendor/,
    /1560000013641/,
  ],
  [
    'the model that Triton was loading',
    "E0521 23:22:50.095556 52252 model_lifecycle.cc:638] failed to load 'ranker' version 1: Internal: unexpected error when creating modelInstanceState: [TensorRT-LLM][ERROR] CUDA runtime error in ::cudaMalloc(ptr, n): out of memory",
    /when Triton loaded the model ranker/,
  ],
  [
    'a virtual GPU without CUDA',
    "E0121 22:12:19.273322 1 model_lifecycle.cc:638] failed to load 'det' version 1: Internal: unable to create stream: operation not supported",
    /virtual GPU \(vGPU\) whose profile has no CUDA/,
  ],
])
