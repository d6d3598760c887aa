// A fourth mixture of the common kinds, first part: GPU memory and host memory, in other years' and programs' words.
import { rows } from './advice-rows.ts'

rows('out of GPU memory', [
  [
    "ComfyUI's VAE decode comes first",
    '!!! Exception during processing !!! Allocation on device \n  File "C:\\ComfyUI\\nodes.py", line 290, in decode\n    images = vae.decode(samples["samples"])\ntorch.OutOfMemoryError: Allocation on device \n\nGot an OOM, unloading all loaded models.',
    /figures\.\n?[^]{0,40}It failed in the VAE decode: use the node "VAE Decode \(Tiled\)"/,
  ],
  [
    'tiles that were too large already',
    'Warning: Ran out of memory when regular VAE decoding, retrying with tiled VAE decoding.\n  File "/opt/ComfyUI/comfy/sd.py", line 512, in decode_tiled_\ntorch.OutOfMemoryError: Allocation on device \n\nGot an OOM, unloading all loaded models.\n  File "/opt/ComfyUI/comfy/sd.py", line 480, in decode',
    /in tiles already: give the node [^]*smaller tiles/,
  ],
  [
    'a sampler of ComfyUI decodes nothing',
    '  File "/opt/ComfyUI/comfy/samplers.py", line 800, in sample\ntorch.OutOfMemoryError: Allocation on device \n\nGot an OOM, unloading all loaded models.',
    /ComfyUI/,
    /VAE decode:/,
  ],
  [
    "TensorFlow's allocator and its optimizer",
    '2018-05-12 08:14:16.535110: I tensorflow/core/common_runtime/bfc_allocator.cc:702] Stats: \nLimit:                 10619240448\nInUse:                  9952463872\n2018-05-12 08:14:16.535230: W tensorflow/core/framework/op_kernel.cc:1192] Resource exhausted: OOM when allocating tensor with shape[90112,600]\nResourceExhaustedError (see above for traceback): OOM when allocating tensor with shape[90112,600]\n\t [[Node: training/Adam/mul_23 = Mul[T=DT_FLOAT, _device="/job:localhost/replica:0/task:0/device:GPU:0"](training/Adam/sub_18, training/Adam/Square_6)]]',
    /may use 9\.89 GiB, of which 9\.27 GiB was in use[^]*step of the optimizer/,
  ],
  [
    "another node is none of the optimizer's",
    'ResourceExhaustedError (see above for traceback): OOM when allocating tensor with shape[64,600,600,32]\n\t [[Node: conv1/convolution = Conv2D[T=DT_FLOAT, _device="/job:localhost/replica:0/task:0/device:GPU:0"](conv1/in, conv1/kernel)]]',
    /TensorFlow/,
    /step of the optimizer/,
  ],
  [
    'an evaluation of its own, in an old PyTorch',
    'epoch 1 loss 2.1\nTHCudaCheck FAIL file=/pytorch/aten/src/THC/generic/THCStorage.cu line=58 error=2 : out of memory\nTraceback (most recent call last):\n  File "run.py", line 200, in main\n    eval_loss = evaluate(model, losses)\n  File "run.py", line 157, in evaluate\n    out = model(x)\nRuntimeError: cuda runtime error (2) : out of memory at /pytorch/aten/src/THC/generic/THCStorage.cu:58',
    /validation: run it under torch\.no_grad\(\)/,
    /FSDP/,
  ],
  [
    'one that keeps no gradients',
    'epoch 1 loss 2.1\n  File "/opt/conda/lib/python3.11/site-packages/torch/utils/_contextlib.py", line 116, in decorate_context\n    return func(*args, **kwargs)\n  File "run.py", line 157, in evaluate\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.64 GiB of which 1.10 GiB is free.',
    /2\.00 GiB/,
    /run it under torch\.no_grad/,
  ],
  [
    "a large KV cache of Ollama's: the context first",
    'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 13432.05 MiB on device 0: cudaMalloc failed: out of memory\nllama_kv_cache_init: failed to allocate buffer for kv cache\ntime=2024-08-02T10:11:21.401Z level=ERROR source=sched.go:443 msg="error loading llama server" error="llama runner process has terminated: signal: aborted error:failed to create context with model \'/root/.ollama/models/blobs/sha256-aa\'"',
    /KV cache on GPU 0[^]*?shorter context[^]*OLLAMA_GPU_OVERHEAD/,
  ],
  [
    'not even one sample, in a harness that measures',
    '│ /srv/lighteval/src/lighteval/models/transformers/transformers_model.py:6 │\nRuntimeError: No executable batch size found, reached zero.',
    /quantized model, shorter prompts/,
    /LoRA|activation checkpointing/,
  ],
  [
    'SGLang is named where the text does not',
    'Exception: Capture cuda graph failed: CUDA out of memory. Tried to allocate 1.96 GiB. GPU 0 has a total capacity of 23.64 GiB of which 262.81 MiB is free.\nPossible solutions:\n1. disable cuda graph by --disable-cuda-graph\n2. set --mem-fraction-static to a smaller value (e.g., 0.8 or 0.7)',
    /PyTorch \(in SGLang\) asked for 1\.96 GiB[^]*Let SGLang leave more/,
  ],
])

rows('host memory', [
  [
    'a limit of Slurm in KiB, by its size',
    'slurmstepd: error: Job 7518 exceeded memory limit (626359956 > 512000000), being killed\nslurmstepd: error: Exceeded job memory limit',
    /Slurm ended job 7518: its processes held 597\.34 GiB, and it had asked for 488\.28 GiB/,
    /kernel kill/,
  ],
  ['one in bytes', 'slurmstepd: error: Job 81 exceeded memory limit (4335861760 > 4294967296), being killed', /held 4\.04 GiB, and it had asked for 4\.00 GiB/],
  [
    'one that may be either',
    'slurmstepd: error: Job 81 exceeded memory limit (300000000 > 268435456), being killed',
    /memory that the job asked for was used up/,
    /GiB|MiB/,
  ],
  [
    'a slice of systemd',
    'Feb 08 00:40:07 box2 systemd[1]: user-1021.slice: A process of this unit has been killed by the OOM killer.',
    /process of user-1021\.slice[^]*systemctl show user-1021\.slice/,
    /<UNIT>/,
  ],
])
