// Models, ranks, hosts and images that a text names, and what does not work on the platform that it shows.
import { rows } from './advice-rows.ts'

rows('the model that could not be loaded', [
  [
    "by Triton's server, with the GPU that ONNX Runtime names",
    "E0302 10:11:12.123456 1 model_lifecycle.cc:642] failed to load 'ranker_onnx' version 3: Internal: onnx runtime error 6: Exception during initialization: CUDA failure 2: out of memory ; GPU=1 ; hostname=serve-0 ; file=cuda_stream_handle.cc ; line=42 ; expr=cudaStreamCreate",
    /on GPU 1[^]*The model is ranker_onnx\./,
  ],
  [
    'in a line below, as a path',
    "llama_model_load: error loading model: unable to allocate ROCm1 buffer\nllama_model_load_from_file_impl: failed to load model\ncommon_init_from_params: failed to load model '/srv/models/Lab-235B-Q3_K_M-00001-of-00003.gguf'",
    /The model is Lab-235B-Q3_K_M-00001-of-00003\.gguf\./,
  ],
  [
    'whose engine is of another GPU',
    "UNAVAILABLE: Internal: failed to load model 'detector_trt': version 1: unable to create TensorRT engine: The engine plan file is generated on an incompatible device, expecting compute 8.9 got compute 8.6, please rebuild.",
    /capability 8\.6, and this one has 8\.9\. The model is detector_trt\./,
  ],
])

rows('who reports and whom it names', [
  [
    'the rank of a watchdog',
    '[rank12]:[E302 10:11:12.1 ProcessGroupNCCL.cpp:1370] [PG ID 0 PG GUID 0(default_pg) Rank 12] Process group watchdog thread terminated with exception: NCCL error: unhandled system error',
    /Rank 12 reported it\./,
  ],
  [
    'the rank that waited, and for whom',
    "RuntimeError: [5] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer",
    /Rank 5, which waited for rank 0, reported it\./,
  ],
  [
    'the host that has no address',
    'torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details.\nValueError: host not found: lab-head-0',
    /name lab-head-0 does not resolve[^]*getent hosts lab-head-0/,
    /<MASTER_HOST>/,
  ],
  [
    'the image of a pull, which a cluster makes',
    'Failed to pull image "ghcr.io/lab/trainer:2.3": rpc error: code = Unknown desc = failed to pull and unpack image: httpReadSeeker: failed open: unexpected status code 429 Too Many Requests\ntoomanyrequests: You have reached your pull rate limit.',
    /for image ghcr\.io\/lab\/trainer:2\.3[^]*imagePullSecrets/,
    /docker login/,
  ],
  [
    'the node of an ONNX graph',
    "[E:onnxruntime:, sequential_executor.cc:514 ExecuteKernel] Non-zero status code returned while running FusedConv node. Name:'Conv_7' Status Message: /onnxruntime_src/onnxruntime/core/framework/bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, bool, onnxruntime::Stream*) Failed to allocate memory for requested buffer of size 1073741824",
    /by 1\.00 GiB \(FusedConv node Conv_7\)/,
  ],
])

rows('figures of the kubelet', [
  [
    'of a pod that it evicted, in other units',
    '  Warning  Evicted    3m    kubelet            The node was low on resource: memory. Threshold quantity: 100Mi, available: 76Mi. Container server was using 61Gi, request is 32Gi, has larger consumption of memory.',
    /container server used 61\.00 GiB, its request is 32Gi/,
  ],
  [
    'in the line below the reason',
    "Status:           Failed\nReason:           OutOfnvidia.com/gpu\nMessage:          Pod was rejected: Node didn't have enough resource: nvidia.com/gpu, requested: 2, used: 7, capacity: 8",
    /asks for 2 nvidia\.com\/gpu, and 7 of the node's 8 are in use/,
  ],
])

rows('segments that cannot grow', [
  [
    'as PyTorch said itself',
    '[W302 10:11:12.000000000 CUDAAllocatorConfig.h:28] Warning: expandable_segments not supported on this platform (function operator())\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.25 GiB. GPU 0 has a total capacity of 23.99 GiB of which 0 bytes is free. Of the allocated memory 20.21 GiB is allocated by PyTorch, and 2.40 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.',
    /2\.40 GiB/,
    /expandable_segments:True/,
  ],
])

rows('what a program and its launcher say beside it', [
  [
    "vLLM's weights, in the words of newer releases",
    'INFO 03-02 10:11:10 [worker.py] Memory profiling takes 4.21 seconds. Total non KV cache memory: 24.77GiB; torch peak memory increase: 2.17GiB; non-torch forward increase memory: 0.24GiB; weights memory: 22.35GiB.\nValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.',
    /weights take 22\.35 GiB/,
  ],
  [
    'the host of a task that srun saw fail',
    'Program hit cudaErrorMemoryAllocation (error 2) due to "out of memory" on CUDA API call to cudaMalloc.\nsrun: error: nid007312: task 3: Exited with exit code 1',
    /srun reports that the task failed on host nid007312\./,
  ],
  [
    'no host where tasks of two failed',
    'Program hit cudaErrorMemoryAllocation (error 2) due to "out of memory" on CUDA API call to cudaMalloc.\nsrun: error: nid007312: task 3: Exited with exit code 1\nsrun: error: nid007313: task 7: Exited with exit code 1',
    /Out of GPU memory/,
    /srun names/,
  ],
  [
    "the node of TensorFlow's graph",
    "ResourceExhaustedError: Graph execution error:\nDetected at node 'model/conv2d_4/Conv2D' defined at (most recent call last):\nOOM when allocating tensor with shape[32,512,128,128] and type float on /job:localhost/replica:0/task:0/device:GPU:2 by allocator GPU_2_bfc",
    /on GPU 2, for the node model\/conv2d_4\/Conv2D\./,
  ],
  [
    'the status of a pod as JSON',
    '{"name":"trainer","lastState":{"terminated":{"containerID":"containerd://ab","exitCode":137,"finishedAt":"2026-03-02T10:11:12Z","reason":"OOMKilled"}},"restartCount":4}',
    /kubectl|resources\.limits/,
    /docker update/,
  ],
])

rows('a model that Ollama does not load', [
  [
    "in the server's own log",
    'time=2026-03-02T10:11:12.123Z level=WARN source=server.go:133 msg="model request too large for system" requested="48.2 GiB" available="30.1 GiB" total="31.2 GiB" free="28.0 GiB" swap="2.0 GiB"',
    /needs 48\.2 GiB of host memory, and 30\.1 GiB were available[^]*ollama ps/,
  ],
])
