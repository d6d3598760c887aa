// Advice that cannot help here is left out: what was tried, what the version lacks, what the figures rule out, what was asked for already.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const answer = (text: string) => {
  const fault = explainText(logScanner(), text)[0]
  const remedies = fault?.remedies ?? []
  return {
    kind: fault?.kind,
    verdict: fault?.verdict ?? '',
    texts: remedies.map((one) => one.text).join('\n'),
    commands: remedies.map((one) => one.command ?? '').join('\n'),
    first: remedies[0]?.command,
  }
}

const VLLM_OOM =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 10.00 MiB is free. Including non-PyTorch memory, this process has 23.98 GiB memory in use. Of the allocated memory 23.00 GiB is allocated by PyTorch, and 60.00 MiB is reserved by PyTorch but unallocated.'

test('a share that prose says was set is the one to go below', () => {
  expect(answer(`I start vllm and set \`gpu_memory_utilization\` to \`0.7\`.\n${VLLM_OOM}`).commands).toContain('--gpu-memory-utilization 0.65')
  expect(answer(`I start vllm. A colleague said: try setting gpu_memory_utilization to 0.5.\n${VLLM_OOM}`).commands).not.toContain('0.45')
})

test('weights as float32 come first', () => {
  expect(answer(`vllm serve acme/seven --dtype float32\n${VLLM_OOM}`).first).toBe('--dtype half')
  expect(answer(`vllm serve acme/seven --dtype bfloat16\n${VLLM_OOM}`).first).not.toBe('--dtype half')
})

test('an 8-bit KV cache is for a vLLM that has it', () => {
  const cache = "ValueError: The model's max seq len (8192) is larger than the maximum number of tokens that can be stored in KV cache (5120)."
  expect(answer(`vllm==0.2.7\n${cache}`).commands).not.toContain('--kv-cache-dtype')
  expect(answer(`vllm==0.6.1\n${cache}`).commands).toContain('--kv-cache-dtype fp8')
})

test('a shorter context makes the weights of llama.cpp no smaller', () => {
  const { texts, commands } = answer(
    'load_tensors: loading model tensors\nggml_backend_cuda_buffer_type_alloc_buffer: allocating 90000.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_model_load: error loading model: unable to allocate CUDA0 buffer',
  )
  expect(texts).toContain('fewer layers')
  expect(commands).not.toContain('--ctx-size')
})

test('JAX: what so large a program needs, and nothing smaller for a request that is tiny', () => {
  const oom = (asked: string, total: string) =>
    answer(`jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate ${asked} bytes.\n  total allocation:   ${total}`)
  expect(oom('9663676416', '19.00GiB').texts).toContain('20.0 GiB or more')
  expect(oom('4194304', '8.00MiB').texts).not.toContain('smaller')
})

test('a container that asks for a GPU is not told to ask', () => {
  const failed = 'web    | ggml_cuda_init: failed to initialize CUDA: unknown error'
  expect(
    answer(`web:\n  image: acme/web:1\n  deploy:\n    resources:\n      reservations:\n        devices:\n          - capabilities: [gpu]\n${failed}`).texts,
  ).not.toMatch(/requested|request the GPU|a GPU \(/)
})

test("Ray's own kill is looked up in Ray's log", () => {
  const { texts, commands } = answer(
    '(raylet) node_manager.cc:3000: 2 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: ab12, IP: 10.1.2.3) over the last time period.',
  )
  expect(commands).toContain('ray logs raylet.out -ip 10.1.2.3')
  expect(`${texts}${commands}`).not.toContain('dmesg')
})

test('ranks in containers on several hosts need the network of the hosts', () => {
  const failed = 'torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1, unhandled system error'
  expect(answer(`docker run acme/train:1 torchrun --nnodes=2 train.py\n${failed}`).commands).toContain('--network host')
  expect(answer(`docker run acme/train:1 torchrun --nproc_per_node=2 train.py\n${failed}`).commands).not.toContain('--network host')
})

test('the release of PyTorch that the text names', () => {
  expect(
    answer(
      'torch 2.9.0\nflash-attn==2.1.0\nImportError: /v/site-packages/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so: undefined symbol: _ZN3c10ErrorC2Ev',
    ).verdict,
  ).toMatch(/^flash-attn .*\(2\.9\.0\)/)
})

test("the end of Ollama's runner is no damaged file", () => {
  expect(answer('Error: an error was encountered while running the model: unexpected EOF').kind).toBe('worker_died')
})

test("ComfyUI's allocator, where the GPU lacks it", () => {
  expect(answer('got prompt\n!!! Exception during processing !!! CUDA error: operation not supported').commands).toContain('--disable-cuda-malloc')
})

test('ROCm names its errors too', () => {
  expect(answer('ollama[7]: ROCm error: invalid device function').kind).toBe('cuda_version_mismatch')
})

test('a scheduler that writes small letters', () => {
  expect(answer('0/3 nodes are available: 3 insufficient nvidia.com/gpu.').kind).toBe('gpu_unschedulable')
})

test('bitsandbytes on Windows before 0.43', () => {
  expect(answer(String.raw`bin C:\v\lib\site-packages\bitsandbytes\libbitsandbytes_cpu.so`).texts).toContain('before 0.43')
})

test('a status of the next call is not that of this one', () => {
  const { verdict } = answer(
    'E tensorflow/cuda_dnn.cc:1] Could not create cudnn handle: CUDNN_STATUS_INTERNAL_ERROR\nE tensorflow/cuda_dnn.cc:2] could not destroy cudnn handle: CUDNN_STATUS_BAD_PARAM',
  )
  expect(verdict).toContain('could not be set up')
})

test('what the web UI of Stable Diffusion says before PyTorch does', () => {
  const { kind, verdict, texts } = answer(
    'args: --no-half --lowvram\nRuntimeError: Not enough memory, use lower resolution (max approx. 512x512). Need: 3.2GB free, Have:1.1GB free',
  )
  expect(kind).toBe('cuda_oom')
  expect(verdict).toContain('512x512')
  expect(texts).toContain('--no-half')
  expect(texts).not.toContain('start with --medvram')
})

test('Windows, as a form of an issue names it', () => {
  expect(answer('### Platform\n\nWindows\n\nCUDA error: an illegal memory access was encountered').commands).toContain('set CUDA_LAUNCH_BLOCKING=1')
})

test('a kernel that no GPU can hold is made smaller; of a server, its backend is changed', () => {
  const need = (program: string, limit: number) =>
    answer(`${program}\ntriton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 300000, Hardware limit: ${limit}.`)
  expect(need('python train.py', 232_448).texts).toContain('no GPU of NVIDIA has more')
  expect(need('vllm', 101_376).texts).toContain('--attention-backend')
  expect(need('vllm', 101_376).texts).not.toContain('smaller blocks')
})

test('eight GPUs are not made sixteen', () => {
  const oom = 'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU'
  expect(answer(`python -m sglang.launch_server --tp 8\n${oom}`).commands).not.toContain('--tp-size')
  expect(answer(`vllm serve m --tensor-parallel-size 8\n${oom}`).commands).not.toContain('--tensor-parallel-size')
})

test('rocBLAS without a GPU', () => {
  expect(answer('rocm\nError: llama runner process has terminated: error:Could not initialize Tensile host: No devices found').kind).toBe('gpu_not_visible')
})

test('training: a batch of one in prose, an adapter that is in use, diffusers', () => {
  const oom = `trainer.train()\n${VLLM_OOM}`
  expect(answer(`Batch size per device = 1\n${oom}`).texts).toContain('1 already')
  expect(answer(`acme/eight-bnb-4bit\n${oom}`).texts).not.toContain('LoRA')
  expect(answer(`site-packages/diffusers/x.py\naccelerate_cli.py\n${VLLM_OOM}`).texts).not.toContain('cpu_offload')
})

test("NCCL's remark on libcuda is no failure, and an error in WSL 2 has its own cause", () => {
  expect(
    answer("h:1:1 [0] misc/cudawrap.cc:1 NCCL WARN Failed to find CUDA library libcuda.so (NCCL_CUDA_PATH='') : libcuda.so: cannot open shared object file")
      .kind,
  ).toBeUndefined()
  expect(answer('WSL2\nRuntimeError: Unexpected error from cudaGetDeviceCount(). Error 500: named symbol not found').kind).toBe('cuda_version_mismatch')
})

test('what the container toolkit gives as its reason decides', () => {
  const refused = (reason: string) =>
    answer(`docker: Error response from daemon: OCI runtime create failed: stderr: nvidia-container-cli: initialization error: ${reason}: unknown.`)
  expect(refused('driver rpc error: timed out').first).toBe('sudo nvidia-smi -pm 1')
  expect(refused('change root failed: no such file or directory').commands).toContain('nvidia-container-runtime/config.toml')
  expect(refused('nvml error: unknown error').verdict).not.toContain('lost')
})

test('Ollama leaves room on the GPU; a context is cut where it is known', () => {
  const failed = 'ollama[7]: llama_kv_cache_init: failed to allocate buffer for kv cache\nollama[7]: cudaMalloc failed: out of memory'
  expect(answer(failed).first).toContain('OLLAMA_GPU_OVERHEAD=')
  expect(answer(failed).commands).not.toContain('OLLAMA_CONTEXT_LENGTH')
  expect(answer(`ollama[7]: llama_context: n_ctx = 32768\n${failed}`).commands).toContain('OLLAMA_CONTEXT_LENGTH=16384')
  expect(answer(`level=WARN msg="invalid environment variable, using default" key=OLLAMA_GPU_OVERHEAD value=2G default=0\n${failed}`).texts).toContain(
    '2G was ignored',
  )
  expect(answer(`msg="flash attention enabled but not supported by model"\n${failed}`).commands).not.toContain('FLASH_ATTENTION')
})

test('where a script makes the engine, its options are arguments', () => {
  const { texts, commands } = answer(`from vllm import LLM\nllm = LLM(model="acme/seven", max_model_len=4096)\n${VLLM_OOM}`)
  expect(texts).toContain('LLM(enforce_eager=True)')
  expect(commands).not.toContain('--enforce-eager')
})

test('a number of GPUs that a variable holds is not guessed', () => {
  const failed = 'Error: Warmup(Generation("Not enough memory to handle 4096 prefill tokens. You need to decrease `--max-batch-prefill-tokens`"))'
  expect(answer(`text-generation-launcher --num-shard $shards\n${failed}`).commands).not.toContain('--num-shard')
  expect(answer(`text-generation-launcher --num-shard 2\n${failed}`).commands).toContain('--num-shard 4')
})

test('a wheel fits the Python in use', () => {
  const warned = (python: string) =>
    answer(
      `/opt/env/lib/python${python}/site-packages/torch/cuda/__init__.py:104: UserWarning: NVIDIA RTX A6000 with CUDA capability sm_86 is not compatible with the current PyTorch installation.\nThe current PyTorch install supports CUDA capabilities sm_37 sm_50 sm_60 sm_70.`,
    )
  expect(warned('3.8').first).toContain('whl/cu118')
  expect(warned('3.11').first).toContain('whl/cu128')
  expect(warned('3.11').verdict).toContain('is newer than')
})

test('SGLang captures CUDA graphs for smaller batches where that failed', () => {
  const { commands } = answer(
    'Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 300.00 MiB. GPU 0 has a total capacity of 44.00 GiB of which 90.00 MiB is free.\nsglang.launch_server',
  )
  expect(commands).toContain('--cuda-graph-max-bs')
  expect(commands).not.toContain('--chunked-prefill-size')
})

test('llama.cpp: a GPU among several gets a smaller share; no card has room for any figure', () => {
  const failed = (size: string, device: number) =>
    answer(
      `ggml_backend_cuda_buffer_type_alloc_buffer: allocating ${size} MiB on device ${device}: cudaMalloc failed: out of memory\nfailed to allocate compute buffers`,
    )
  expect(failed('300.00', 2).texts).toContain('Give GPU 2 a smaller share')
  expect(failed('300.00', 0).texts).not.toContain('smaller share')
  expect(failed('250000.00', 0).verdict).toContain('no GPU has that much')
})

test('a time-out of hours is not raised, and PyTorch before 2.1 has no flight recorder', () => {
  const waited = (more: string, limit: number) =>
    answer(
      `Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, ${more}Timeout(ms)=${limit}) ran for ${limit + 9} milliseconds before timing out.`,
    )
  expect(waited('', 18_000_000).texts).not.toContain('raise the timeout')
  expect(waited('', 600_000).commands).toContain('TORCH_DISTRIBUTED_DEBUG=DETAIL')
  expect(waited('NumelIn=4, NumelOut=4, ', 600_000).commands).toContain('TRACE_BUFFER_SIZE')
})

test('what was done already is not asked for again: CDI, reboot, MASTER_PORT', () => {
  expect(answer('INFO[0000] Found 3 CDI devices\nError: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all').commands).not.toContain(
    'cdi generate',
  )
  const mismatch = 'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 570.86'
  expect(answer(`./install.sh\nreboot\n${mismatch}`).commands).not.toContain('reboot')
  expect(answer(mismatch).commands).toContain('reboot')
  const port =
    'RuntimeError: The server socket has failed to listen on any local network address. port: 29500, name: EADDRINUSE, message: address already in use'
  expect(answer(`I tried MASTER_PORT=29777.\n${port}`).commands).not.toContain('MASTER_PORT')
})

test('a page fault in address space 0 is of no program; a browser gets no HIP variables', () => {
  const near = 'amdgpu 0000:03:00.0: amdgpu:  Process firefox-bin pid 7401 thread firefox:cs0 pid 7453\n'
  const fault = answer(`${near}amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:32 vmid:0 pasid:0)`)
  expect(fault.verdict).not.toContain('firefox')
  expect(fault.commands).not.toContain('HIP_LAUNCH_BLOCKING')
})
