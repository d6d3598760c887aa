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
    /could not allocate 0\.50 GiB|could not allocate 512/,
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
