// Advice about GPU memory by what the text shows beside the figures: where in a run it failed, whose message it is, which limit was in force. All texts are written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const frames = (...names: readonly string[]): string => names.map((name) => `  File "/opt/app/lib.py", line 12, in ${name}`).join('\n')
const torch = (asked: string, total: string, free: string, allocated: string): string =>
  `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ${asked}. GPU 0 has a total capacity of ${total} of which ${free} is free. Including non-PyTorch memory, this process has ${allocated} memory in use. Of the allocated memory ${allocated} is allocated by PyTorch, and 10.00 MiB is reserved by PyTorch but unallocated.`

test.each([
  [
    'weights that are moved to the GPU',
    `${frames('main', 'to', '_apply', 'convert')}\n    return t.to(device)\n${torch('64.00 MiB', '23.60 GiB', '12.00 MiB', '23.10 GiB')}`,
    /weights were copied to the GPU, before any batch[^]*device_map/,
    /smaller batch|gradient accumulation/,
  ],
  [
    'room for all weights, asked for at once',
    `${frames('from_pretrained', 'caching_allocator_warmup')}\n${torch('26.00 GiB', '23.60 GiB', '23.10 GiB', '300.00 MiB')}`,
    /memory for the model's weights, which do not fit the card[^]*8 or 4 bit/,
    /wrong shape|sequence or resolution/,
  ],
  [
    'the optimizer of DeepSpeed',
    `${frames('initialize', '_configure_zero_optimizer', 'initialize_optimizer_states')}\n${torch('20.00 GiB', '23.60 GiB', '12.00 GiB', '11.00 GiB')}`,
    /made the state of the optimizer, before any batch[^]*offload_optimizer/,
    /wrong shape|batch, sequence or shape|Halve the batch/,
  ],
  [
    'outputs of an evaluation, with a fragmented cache',
    `${frames('evaluate', 'evaluation_loop', 'torch_pad_and_concatenate')}\nRuntimeError: CUDA out of memory. Tried to allocate 9.00 GiB (GPU 0; 40.00 GiB total capacity; 20.00 GiB already allocated; 8.00 GiB free; 30.00 GiB reserved in total by PyTorch) try setting max_split_size_mb`,
    /eval_accumulation_steps[^]*max_split_size_mb/,
    /nothing to match/,
  ],
  [
    'a pipeline of diffusers that offloads models already',
    `pipe.enable_model_cpu_offload()\nfrom diffusers import Pipe\n${torch('64.00 MiB', '15.00 GiB', '12.00 MiB', '14.60 GiB')}`,
    /enable_sequential_cpu_offload/,
    /pipe\.enable_model_cpu_offload\(\) of diffusers/,
  ],
  [
    'a library beside PyTorch in a container, which the driver lists by its own pid',
    'import tensorrt_llm\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.00 MiB. GPU 0 has a total capacity of 22.00 GiB of which 2.00 MiB is free. Process 4711 has 21.99 GiB memory in use. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.',
    /holds 21\.99 GiB outside PyTorch[^]*free_gpu_mem_fraction/,
    /ps -o|stop what should not/,
  ],
  [
    'one request above the limit of older Intel software',
    "RuntimeError: Current platform can NOT allocate memory block with size larger than 4GB! Tried to allocate 5.00 GiB (GPU  0; 15.00 GiB total capacity; 0 bytes already allocated; 0 bytes reserved in total by PyTorch) device='xpu'",
    /asked for 5\.00 GiB[^]*4\.00 GiB[^]*split the tensor/,
    /nvidia-smi|CUDA_ALLOC/,
  ],
  [
    'CuPy of old, with a limit',
    'cupy.cuda.memory.OutOfMemoryError: out of memory to allocate 2147483648 bytes (total 1073741824 bytes, limit set to 2147483648 bytes)',
    /CuPy could not allocate 2\.00 GiB[^]*Raise the limit[^]*2\.00 GiB/,
    /debugger/,
  ],
  [
    'PaddlePaddle with half of the card, on Windows',
    'Out of memory error on GPU 1. Cannot allocate 30.000000MB memory on GPU 1, available memory is only 3.000000MB.\n   2) FLAGS_fraction_of_gpu_memory_to_use is 0.50 now, please set it to a higher value\n at (D:\\paddle\\system_allocator.cc:150)',
    /30 MiB on GPU 1; 3 MiB was free[^]*50 % now[^]*set FLAGS_fraction/,
    /export FLAGS/,
  ],
  [
    'PaddlePaddle with nearly all of it',
    'Out of memory error on GPU 0. Cannot allocate 30.000000MB GPU memory, available memory is 3.000000MB. FLAGS_fraction_of_gpu_memory_to_use is 0.92 now',
    /3 MiB was free/,
    /FLAGS_fraction/,
  ],
  [
    'MXNet',
    'mxnet.base.MXNetError: [10:00:00] src/storage/./pooled_storage_manager.h:157: cudaMalloc failed: out of memory',
    /MXNet could not allocate[^]*nvidia-smi/,
    /n-gpu-layers|ctx-size/,
  ],
  [
    'the pool of RMM',
    'MemoryError: std::bad_alloc: out_of_memory: RMM failure at:/x/pool_memory_resource.hpp:196: Maximum pool size exceeded (failed to allocate 3.000 GiB)',
    /pool of RAPIDS \(RMM\) has reached its largest size: 3\.00 GiB more[^]*maximum_pool_size/,
    /nvidia-smi/,
  ],
  ['a pool of something else', 'Maximum pool size exceeded, closing the connection', /undefined/, /GPU memory/],
  [
    'a size that is no size',
    "Non-zero status code returned while running Conv node. Name:'/a/b/Conv' Status Message: bfc_arena.cc:376 Failed to allocate memory for requested buffer of size 4611686018427387904",
    /Conv node \/a\/b\/Conv[^]*shapes of the inputs/,
    /arena_extend/,
  ],
  [
    'a tensor of TensorFlow 1',
    'ResourceExhaustedError: OOM when allocating tensor with shape[64,256,256,64]\n\t [[Node: a/b = Square[T=DT_FLOAT, _device="/gpu:0"](c)]]',
    /\[64,256,256,64\] \(1\.00 GiB\)[^]*allow_growth = True/,
    /TF_FORCE/,
  ],
  [
    'a small program of JAX',
    'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4194304 bytes.\n                 total allocation:    9.00MiB',
    /program needs 9 MiB[^]*PREALLOCATE/,
    /shard|smaller batch/,
  ],
  [
    'layers that are copied while the model runs',
    `${frames('pre_forward', 'set_module_tensor_to_device')}\n${torch('64.00 MiB', '7.80 GiB', '12.00 MiB', '7.60 GiB')}`,
    /Make the work smaller/,
    /before any batch/,
  ],
  [
    'the step of an optimizer',
    `${frames('step', 'adamw', '_multi_tensor_adamw')}\n    exp_avg_sq_sqrt = torch._foreach_sqrt(device_exp_avg_sqs)\n${torch('64.00 MiB', '23.60 GiB', '12.00 MiB', '23.10 GiB')}`,
    /step of the optimizer[^]*8-bit optimizer[^]*foreach=False/,
    /Halve the batch|smaller batch/,
  ],
  [
    'the pool of SGLang, before any request',
    `File "/x/sglang/srt/model_executor/model_runner.py", line 1, in init_memory_pool\n${torch('32.00 MiB', '23.50 GiB', '12.00 MiB', '23.40 GiB')}`,
    /--mem-fraction-static 0\.80/,
    /chunked-prefill|max-running-requests/,
  ],
  [
    'Ollama of 2023',
    'ollama[3]: 2023/10/11 15:40:08 llama.go:239: 6144 MiB VRAM available, loading up to 35 GPU layers\nollama[4]: CUDA error 2 at /go/src/llama.cpp/ggml-cuda.cu:4856: out of memory',
    /num_gpu/,
    /OLLAMA_/,
  ],
  [
    'Ollama that prints the variables it knows',
    'level=INFO source=routes.go:1125 msg="server config" env="map[OLLAMA_DEBUG:false OLLAMA_GPU_OVERHEAD:0]"\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 5000.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_model_load: error loading model: unable to allocate CUDA0 buffer',
    /OLLAMA_GPU_OVERHEAD=/,
    /OLLAMA_KV_CACHE_TYPE/,
  ],
  [
    'llama.cpp built for ROCm',
    'ggml_init_cublas: found 1 ROCm devices:\n  Device 0: AMD Radeon Graphics, compute capability 10.3\nCUDA error 2 at ggml-cuda.cu:5048: out of memory',
    /rocm-smi/,
    /nvidia-smi/,
  ],
  [
    'a compute buffer that no card holds',
    'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 300000.00 MiB on device 0: cudaMalloc failed: out of memory\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 314572800000',
    /no GPU has that much[^]*--ubatch-size/,
    /n-gpu-layers/,
  ],
])('%s', (_, text, says, says_not) => {
  const said = answer(text).all
  expect(said).toMatch(says)
  expect(said).not.toMatch(says_not)
})

const HEAD =
  'Memory on the node (IP: 10.1.1.1, ID: ab12) where the task (task ID: cd34, name=small_one, pid=77, memory used=0.10GB) was running was 60.00GB / 62.00GB (0.967742), which exceeds the memory usage threshold of 0.95.'
test.each([
  [
    'Ray ends the newest task, not the largest',
    `${HEAD}\nPID\tMEM(GB)\tCOMMAND\n12\t50.00\tray::BigActor`,
    /Ray ended small_one \(pid 77, 0\.10 GB\)[^]*60\.00GB of the node's 62\.00GB[^]*ray::BigActor \(pid 12, 50\.00 GB\) first/,
    /dmesg/,
  ],
  [
    'Ray says it in two lines',
    `ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\n${HEAD}`,
    /Ray ended small_one/,
    /A worker was ended/,
  ],
  [
    'earlyoom with a limit of half of the memory',
    'low memory! at or below SIGTERM limits: mem 50 %, swap 10 %\nsending SIGTERM to process 31 "python3": badness 209, VmRSS 2048 MiB',
    /earlyoom chose python3 \(pid 31, 2\.00 GiB\)[^]*less than 50 % of memory[^]*act later/,
    /did not end/,
  ],
  [
    'earlyoom of old',
    "Low Memory! At or below sigterm limits (mem: 10 %, swap: 10 %)\nKilling process 'bash' with signal 15, pid: 41, badness: 538, VmRSS: 3072 MiB",
    /bash \(pid 41, 3\.00 GiB\)/,
    /did not end/,
  ],
  [
    'a process that does not end',
    'earlyoom[9]: low memory! at or below SIGTERM limits: mem  1.66%, swap 10.00%\nearlyoom[9]: sending SIGTERM to process 51 uid 1000 "java": oom_score 1170, VmRSS 40960 MiB\nearlyoom[9]: process 51 did not exit',
    /did not end[^]*ps -o pid,stat,wchan,rss,args -p 51/,
    /^Killed|act later/,
  ],
  [
    'written data at the limit of a container',
    'memory: usage 1048576kB, limit 1048576kB, failcnt 3\nMemory cgroup stats for /docker/abc: cache:1000000KB rss:2000KB rss_huge:0KB shmem:10KB mapped_file:0KB\nMemory cgroup out of memory: Killed process 61 (cp) total-vm:17528kB, anon-rss:92kB, file-rss:1552kB',
    /977 MiB of it was cached file data[^]*faster disk/,
    /dev\/shm/,
  ],
  [
    'shared memory at the limit of a container',
    'memory: usage 1048576kB, limit 1048576kB, failcnt 3\nMemory cgroup stats for /docker/abc: cache:1000000KB rss:2000KB rss_huge:0KB shmem:990000KB mapped_file:0KB\nMemory cgroup out of memory: Killed process 61 (python3) total-vm:17528kB, anon-rss:92kB, file-rss:1552kB',
    /was shared memory \(\/dev\/shm, tmpfs\)[^]*df -h -t tmpfs/,
    /faster disk/,
  ],
  [
    'the statistics of cgroup 2',
    'memory: usage 33554432kB, limit 33554432kB, failcnt 88\nMemory cgroup stats for /docker/abc:\nanon 1062739968\nfile 33000000000\nkernel_stack 0\nshmem 32900000000\nMemory cgroup out of memory: Killed process 77 (python3) total-vm:60000000kB, anon-rss:600000kB, file-rss:70000kB',
    /(?:30\.7|31) GiB of it was shared memory/,
    /faster disk/,
  ],
  [
    'a limit that only the call trace shows',
    'python invoked oom-killer: gfp_mask=0x14000c0(GFP_KERNEL), order=0, oom_score_adj=829\nCall Trace:\n dump_stack+0x63/0x88\n mem_cgroup_out_of_memory+0x4b/0x80',
    /memory limit of its cgroup/,
    /whole host/,
  ],
  ['a container that was stopped', 'State:{\nExitCode:137,\nOOMKilled:false,\nStatus:"exited"\n}', /saw no kill for memory/, /dmesg/],
  [
    'a link that failed',
    'NVRM: Xid (PCI:0003:00:00): 74, NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)',
    /nvidia-smi nvlink -e[^]*gpu-reset/,
    /sanitizer/,
  ],
  [
    'host memory on Windows',
    'RuntimeError: [enforce fail at ..\\c10\\core\\impl\\alloc_cpu.cpp:72] data. DefaultCPUAllocator: not enough memory: you tried to allocate 67108864 bytes.',
    /64 MiB[^]*page file/,
    /free -h|container/,
  ],
  [
    'code that the GPU cannot run',
    'NVRM: Xid (PCI:0000:41:00): 13, Graphics SM Warp Exception on (GPC 1, TPC 0, SM 0): Illegal Instruction Encoding',
    /instruction that it cannot run/,
    /address out of range/,
  ],
])('host: %s', (_, text, says, says_not) => {
  const said = answer(text).all
  expect(said).toMatch(says)
  expect(said).not.toMatch(says_not)
})

test('verl: vLLM shares the card with a training and is set in its words', () => {
  const failed =
    'overrides: [\'actor_rollout_ref.rollout.gpu_memory_utilization=0.8\']\n  File "/opt/vllm/device_allocator/cumem.py", line 224, in wake_up\nRuntimeError: CUDA Error: out of memory at /workspace/csrc/cumem_allocator.cpp:62'
  const said = answer(failed).all
  expect(said).toMatch(/actor_rollout_ref\.rollout\.gpu_memory_utilization=0\.60[^]*fsdp_config\.param_offload=True/)
  expect(said).not.toMatch(/--(?:gpu-memory|tensor|enforce|max)/)
})

test('nnU-Net measures how much memory fits, and says so', () => {
  const figures = 'CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 10.76 GiB total capacity; 8.01 GiB already allocated; 1.12 GiB free)'
  expect(answer(`Caught error (If out of memory error do not worry): ${figures}`).all).not.toContain('GPU memory')
  expect(answer(`Caught error: ${figures}`).all).toContain('GPU memory')
})
