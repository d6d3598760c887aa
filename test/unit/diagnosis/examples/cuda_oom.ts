// Failed requests for GPU memory of all frameworks, and lines that only sound like one; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['cuda_oom']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'PyTorch 1.2',
    text: 'RuntimeError: CUDA out of memory. Tried to allocate 96.00 MiB (GPU 2; 10.76 GiB total capacity; 9.11 GiB already allocated; 40.50 MiB free; 310.20 MiB cached)',
    kinds: one,
    facts: { gpu_index: 2, requested_bytes: 96 * 1024 ** 2, reserved_unallocated_bytes: Math.round(310.2 * 1024 ** 2) },
  },
  {
    name: 'PyTorch 1.9 with a fraction',
    text: 'RuntimeError: CUDA out of memory. Tried to allocate 1.50 GiB (GPU 0; 24.00 GiB total capacity; 10.90 GiB already allocated; 12.00 GiB free; 12.00 GiB allowed; 11.10 GiB reserved in total by PyTorch)',
    kinds: one,
    facts: { causes: ['fraction_cap'], allowed_bytes: 12 * 1024 ** 3 },
  },
  {
    name: 'PyTorch 2.1, its spelling of capacity',
    text: 'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 640.00 MiB. GPU 1 has a total capacty of 23.50 GiB of which 200.00 MiB is free. Including non-PyTorch memory, this process has 23.30 GiB memory in use. Of the allocated memory 22.60 GiB is allocated by PyTorch, and 180.00 MiB is reserved by PyTorch but unallocated.',
    kinds: one,
    facts: { causes: ['capacity'], gpu_index: 1 },
  },
  {
    name: 'fragmentation leads',
    text: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacity of 40.00 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 38.90 GiB memory in use. Of the allocated memory 26.00 GiB is allocated by PyTorch, and 12.20 GiB is reserved by PyTorch but unallocated.',
    kinds: one,
    facts: { causes: ['fragmentation'] },
  },
  {
    name: 'another process leads',
    text: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 4 has a total capacity of 80.00 GiB of which 1.00 GiB is free. Process 7171 has 50.00 GiB memory in use. Including non-PyTorch memory, this process has 29.00 GiB memory in use. Of the allocated memory 28.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.',
    kinds: one,
    facts: { causes: ['other_process'], other_processes: [{ pid: 7171, bytes: 50 * 1024 ** 3 }] },
  },
  {
    name: 'two causes, the larger first',
    text: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 4 has a total capacity of 80.00 GiB of which 1.00 GiB is free. Process 7171 has 30.00 GiB memory in use. Including non-PyTorch memory, this process has 49.00 GiB memory in use. Of the allocated memory 38.00 GiB is allocated by PyTorch, and 10.00 GiB is reserved by PyTorch but unallocated.',
    kinds: one,
    facts: { causes: ['other_process', 'fragmentation'] },
  },
  {
    name: 'a lone process in a container is the failing one',
    text: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 100.00 MiB is free. Process 1 has 23.90 GiB memory in use. Of the allocated memory 23.10 GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated.',
    kinds: one,
    facts: { causes: ['capacity'] },
  },
  {
    name: 'private pools',
    text: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 40.00 GiB of which 500.00 MiB is free. Including non-PyTorch memory, this process has 39.40 GiB memory in use. Of the allocated memory 38.50 GiB is allocated by PyTorch, with 8.50 GiB allocated in private pools (e.g., CUDA Graphs), and 200.00 MiB is reserved by PyTorch but unallocated.',
    kinds: one,
    facts: { causes: ['private_pools'] },
  },
  {
    name: 'memory beside PyTorch',
    text: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 40.00 GiB of which 500.00 MiB is free. Including non-PyTorch memory, this process has 39.40 GiB memory in use. Of the allocated memory 20.00 GiB is allocated by PyTorch, and 200.00 MiB is reserved by PyTorch but unallocated.',
    kinds: one,
    facts: { causes: ['non_pytorch_memory'] },
  },
  {
    name: 'a request larger than the card',
    text: 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 GiB. GPU 0 has a total capacity of 40.00 GiB of which 30.00 GiB is free. Including non-PyTorch memory, this process has 9.90 GiB memory in use. Of the allocated memory 9.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.',
    kinds: one,
    facts: { causes: ['oversized_request'] },
  },
  {
    name: 'what NVML could not say is unknown',
    text: 'CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has a total capacity of 12.00 GiB of which 0 bytes is free. Including non-PyTorch memory, this process has 17179869184.00 GiB memory in use. Of the allocated memory 10.90 GiB is allocated by PyTorch, and 90.00 MiB is reserved by PyTorch but unallocated.',
    kinds: one,
    facts: { free_bytes: 0, causes: ['capacity'] },
  },
  {
    name: 'wrapped by a mail, quoted',
    text: '> torch.OutOfMemoryError: CUDA out of\n> memory. Tried to\n> allocate 5.25 GiB. GPU 3 has a total\n> capacity of 31.50 GiB of which 2.25 GiB\n> is free.',
    kinds: one,
    facts: { requested_bytes: 5.25 * 1024 ** 3, gpu_index: 3, total_bytes: 31.5 * 1024 ** 3, free_bytes: 2.25 * 1024 ** 3 },
  },
  {
    name: 'repr() and HTML',
    text: "error=&quot;OutOfMemoryError(\\'CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 7.75 GiB of which 3.00 MiB is free.\\')&quot;",
    kinds: one,
    facts: { requested_bytes: 20 * 1024 ** 2, total_bytes: 7.75 * 1024 ** 3 },
  },
  {
    name: 'flattened',
    text: 'step failed; CUDA out of memory. Tried to allocate 768.00 MiB (GPU 1; 15.75 GiB total capacity; 14.00 GiB already allocated; 500.00 MiB free; 14.20 GiB reserved in total by PyTorch); exit 1',
    kinds: one,
    facts: { gpu_index: 1, reserved_bytes: Math.round(14.2 * 1024 ** 3) },
  },
  {
    name: 'AMD',
    text: 'torch.OutOfMemoryError: HIP out of memory. Tried to allocate 4.00 GiB. GPU 0 has a total capacity of 63.98 GiB of which 1.00 GiB is free. Of the allocated memory 61.00 GiB is allocated by PyTorch, and 500.00 MiB is reserved by PyTorch but unallocated.',
    kinds: one,
    facts: { requested_bytes: 4 * 1024 ** 3 },
  },
  {
    name: 'cudaMallocAsync',
    text: 'torch.OutOfMemoryError: Allocation on device 1 would exceed allowed memory. (out of memory)\nCurrently allocated     : 20.25 GiB\nRequested               : 3.00 GiB\nDevice limit            : 23.50 GiB\nFree (according to CUDA): 1.50 MiB\nPyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB',
    kinds: one,
    facts: { gpu_index: 1, requested_bytes: 3 * 1024 ** 3, allocated_bytes: 20.25 * 1024 ** 3 },
  },
  {
    name: 'ranks of one job on two GPUs are two faults, the same twice is one',
    text: '[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free.\n[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 80.00 GiB of which 1.00 GiB is free.\n[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 1.00 GiB is free.',
    kinds: ['cuda_oom', 'cuda_oom'],
  },
  {
    name: 'TensorFlow',
    text: 'W tensorflow/tsl/framework/bfc_allocator.cc:501] Allocator (GPU_1_bfc) ran out of memory trying to allocate 3.00GiB (rounded to 3221225472)requested by op',
    kinds: one,
    facts: { requested_bytes: 3221225472, gpu_index: 1 },
  },
  {
    name: 'JAX',
    text: 'jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory allocating 8589934592 bytes.',
    kinds: one,
    facts: { requested_bytes: 8589934592 },
  },
  {
    name: 'vLLM at its start',
    text: 'ValueError: Free memory on device (7.25/24.00 GiB) on startup is less than desired GPU memory utilization (0.9, 21.6 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.',
    kinds: one,
    facts: { causes: ['other_process'], total_bytes: 24 * 1024 ** 3 },
  },
  {
    name: 'llama.cpp',
    text: 'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 1536.00 MiB on device 1: cudaMalloc failed: out of memory',
    kinds: one,
    facts: { requested_bytes: 1536 * 1024 ** 2, gpu_index: 1 },
  },
  {
    name: 'ONNX Runtime',
    text: 'onnxruntime::BFCArena::AllocateRawInternal(size_t) Available memory of 1048576 is smaller than requested bytes of 4194304',
    kinds: one,
    facts: { requested_bytes: 4194304, free_bytes: 1048576 },
  },
  {
    name: 'RAPIDS',
    text: 'MemoryError: std::bad_alloc: out_of_memory: CUDA error at: /opt/rmm/cuda_memory_resource.hpp:62: cudaErrorMemoryAllocation out of memory',
    kinds: one,
  },
  {
    name: 'CuPy',
    text: 'cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 2,147,483,648 bytes (allocated so far: 4,294,967,296 bytes).',
    kinds: one,
    facts: { requested_bytes: 2147483648 },
  },
  {
    name: 'the runtime',
    text: 'RuntimeError: CUDA error: out of memory\nCUDA kernel errors might be asynchronously reported at some other API call',
    kinds: one,
  },
  {
    name: 'quiet: TensorFlow says that it is none',
    text: 'Allocator (GPU_0_bfc) ran out of memory trying to allocate 4.00GiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available.',
    kinds: [],
  },
  { name: 'quiet: advice', text: 'Tip: if you get CUDA out of memory, lower --batch-size.', kinds: [] },
  {
    name: 'another kind: another vendor',
    text: 'RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 32.00 GiB total capacity; 1.00 GiB free)',
    kinds: ['python_exception'],
  },
  { name: 'quiet: a database', text: 'ERROR:  out of memory\nDETAIL:  Failed on request of size 4096 in memory context "ExecutorState".', kinds: [] },
  { name: 'quiet: settings', text: 'export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True,max_split_size_mb:256', kinds: [] },
  {
    name: 'Intel: one request above the limit of Arc cards',
    text: 'torch.OutOfMemoryError: XPU out of memory. Tried to allocate 6.00 GiB. GPU 0 has a total capacity of 15.11 GiB. Of the allocated memory 1.00 GiB is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated. Please use `empty_cache` to release all unoccupied cached memory.',
    kinds: ['cuda_oom'],
    facts: { requested_bytes: 6 * 2 ** 30, gpu_index: 0 },
  },
  { name: 'Intel: Level Zero', text: 'RuntimeError: level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)', kinds: ['cuda_oom'] },
  {
    name: 'ROCm: a queue or scratch space',
    text: ':0:rocdevice.cpp :2690: 1234 us: Callback: Queue 0x7f00 aborting with error : HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources. code: 0x1008',
    kinds: ['cuda_oom'],
  },
  {
    name: 'quiet: NVIDIA driver on unified memory, which goes on',
    text: 'NVRM: nvCheckOkFailedNoLog: Check failed: Out of memory [NV_ERR_NO_MEMORY] (0x00000051) returned from _memdescAllocInternal(pMemDesc) @ mem_desc.c:1359',
    kinds: [],
  },
  {
    name: 'SGLang: tokens',
    text: 'RuntimeError: Decode out of memory. Try to lower your batch size.\nTry to allocate 64 tokens.\nAvailable tokens: 3',
    kinds: ['cuda_oom'],
  },
  { name: 'Vulkan', text: 'ggml_vulkan: vk::Device::allocateMemory: ErrorOutOfDeviceMemory', kinds: ['cuda_oom'] },
  {
    name: 'TensorRT-LLM names the part',
    text: '[TRT-LLM] [RANK 0] [E] Failed to initialize executor on rank 0: Executor creation failed due to insufficient GPU memory.\n\nThe following component could not be created: KV cache\nTotal GPU memory (GiB): 79.20\nFree GPU memory before component creation attempt (GiB): 3.10',
    kinds: ['cuda_oom'],
    facts: { total_bytes: 85040352051, free_bytes: 3328599654 },
  },
  {
    name: "glog's check of a call",
    text: 'F0302 10:00:00.500000  77 blob.cu:31] Check failed: error == cudaSuccess (2 vs. 0)  out of memory\n*** Check failure stack trace: ***',
    kinds: ['cuda_oom'],
  },
  {
    name: 'XGBoost',
    text: `xgboost.core.XGBoostError: Memory allocation error on worker 0: bad_alloc: cudaErrorMemoryAllocation: out of memory
- Free memory: 512MB
- Requested memory: 3GB`,
    kinds: one,
  },
  {
    name: 'PaddlePaddle with figures',
    text: `ResourceExhaustedError: 

Out of memory error on GPU 1. Cannot allocate 2.250000GB memory on GPU 1, 20.500000GB memory has been allocated and available memory is only 1.250000GB.`,
    kinds: one,
  },
  {
    name: 'OpenACC',
    text: 'Accelerator Fatal Error: call to cuMemAlloc returned error 2: Out of memory\nFile: /home/user/tide/flux.f90\nFunction: setup:3\nLine: 9',
    kinds: ['cuda_oom'],
    facts: { frame: 'flux.f90:9' },
  },
  {
    name: 'between angle brackets',
    text: 'CUDA error !!!!! <out of memory> !!!!! \nat CUDA call error code: # 1811',
    kinds: ['cuda_oom'],
  },
  {
    name: 'Vulkan, above the limit of one buffer',
    text: 'ggml_vulkan: Device memory allocation of size 5368709120 failed.\nggml_vulkan: Requested buffer size exceeds device memory allocation limit: ErrorOutOfDeviceMemory',
    kinds: ['cuda_oom'],
    facts: { requested_bytes: 5_368_709_120 },
  },
  {
    name: 'TensorFlow, a scalar',
    text: 'tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[]\n [[Node: Mean = Mean[T=DT_FLOAT, _device="/job:localhost/replica:0/task:0/gpu:2"](x)]]',
    kinds: ['cuda_oom'],
    facts: { gpu_index: 2 },
  },
]
