// The common kinds as other years and places print them: memory of the GPU and of the host, in broken and in shortened messages.
import { rows } from './advice-rows.ts'

const OLD =
  'CUDA out of memory. Tried to allocate 2.30 GiB (GPU 0; 11.99 GiB total capacity; 7.44 GiB already allocated; 200.00 MiB free; 9.59 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation.'
const NEW =
  'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 15.70 GiB of which 800.00 MiB is free. Process 4711 has 14.80 GiB memory in use. Of the allocated memory 14.00 GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated.'

rows('inference', [
  [
    "vLLM's estimate in a message that the terminal broke within a word",
    "(EngineCore pid=7) ValueError: To serve at least one request with the model's max seq len (65536), (9.00 GiB KV cach\ne is needed, which is larger than the available KV cache memory (4.00 GiB). Based on the available memory, the estimated\n maximum model length is 29120. Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
    /By vLLM's estimate 29120 tokens fit[^]*--max-model-len 29120/,
  ],
  [
    "vLLM's word at its start, quoted without its end",
    'Anything above that fails:\n\n```\nValueError: Free memory on device cuda:1 (22.50/23.50 GiB)\n```',
    /wants more of the card's 23\.50 GiB[^]*only 22\.50 GiB is free[^]*--gpu-memory-utilization 0\.95/,
    /exception that nothing caught|unknown amount/,
  ],
  [
    'a decoder of images that works in tiles already',
    'Error occurred when executing VAEDecode:\n\nAllocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated : 7.10 GiB\nRequested : 96.00 MiB\nDevice limit : 8.00 GiB\nFree (according to CUDA): 0 bytes\n\n  File "/srv/ComfyUI/comfy/sd.py", line 300, in decode\n    pixel_samples = self.decode_tiled_(samples_in)\n  File "/srv/ComfyUI/comfy/sd.py", line 270, in decode_tiled_\n    comfy.utils.tiled_scale(samples, decode_fn)',
    /in tiles already/,
    /a tiled VAE decode/,
  ],
  [
    'FP8 weights on a card that current releases run them on',
    'ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 90. Current capability: 80.',
    /Update vLLM[^]*from compute capability 8\.0 on[^]*--upgrade vllm/,
  ],
  [
    'FP8 weights on a card that is too old for them',
    'ValueError: The quantization method fp8 is not supported for the current GPU. Minimum capability: 80. Current capability: 70.',
    /this GPU has 7\.0/,
    /Update vLLM/,
  ],
  [
    'Ollama, which has a GPU and no library for it',
    'time=2025-01-02T03:04:05.000Z level=INFO source=server.go:175 msg=offload library=cuda layers.requested=-1 layers.model=33 layers.offload=33\ntime=2025-01-02T03:04:05.010Z level=DEBUG source=server.go:291 msg="compatible gpu libraries" compatible=[]\nload_backend: loaded CPU backend from /apps/ollama/lib/ollama/libggml-cpu-haswell.so',
    /sees a GPU and finds none of its own libraries/,
  ],
])

rows('PyTorch', [
  ['what an older message holds unused', OLD, /2\.15 GiB that it holds unused|holds 2\.15 GiB unused/],
  ['Windows in another language', `${OLD}\nDrücken Sie eine beliebige Taste . . .`, /\$ set PYTORCH_CUDA_ALLOC_CONF/, /export PYTORCH/],
  [
    'training that is mixed already, of images',
    `$ python train.py --data-path /data/birds/images --batch-size 32 --use-amp\n${NEW}`,
    /now 32[^]*use smaller images/,
    /16-bit|sequences/,
  ],
  [
    'a capture that was broken off before',
    'RuntimeError: info.status != cudaStreamCaptureStatusInvalidated INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":2100',
    /memory pools of CUDA graphs: the capture was broken off before/,
    /memory was freed during/,
  ],
  [
    'AutoBatch, which tried every size',
    'MemoryError: AutoBatch: every candidate batch size failed to profile (tried batch=[1, 2, 4, 8]; see the\nper-candidate error(s) logged above for the exact cause of each). With 3.50G free CUDA:1 memory, this usually\nmeans not even batch=1 fits: free up GPU memory',
    /not even 1, with 3\.50 GiB free[^]*imgsz=[^]*batch=1/,
    /host memory/,
  ],
])

rows('host memory', [
  [
    'a limit in megabytes that was meant in gigabytes',
    '#!/bin/bash\n#SBATCH --mem=48\nsrun python index.py\n\nslurmstepd: error: Detected 1 oom_kill event in StepId=1234.batch. Some of the step tasks have been OOM Killed.',
    /--mem=48 is 48 MB[^]*write 48G[^]*--mem=48G/,
    /--mem=96/,
  ],
  [
    'a limit that docker run set',
    '$ docker run -it --gpus all --rm --memory=24g --ipc=host trainer bash\nroot@0123456789ab:/work# python fit.py\nloading features\nKilled',
    /the container reached the 24\.00 GiB that docker run gave it/,
    /because host memory ran out/,
  ],
  [
    "the kernel's lines, shortened by hand",
    '    python invoked oom-killer: gfp_mask=0xcc0, order=0\n    constraint=CONSTRAINT_MEMCG\n    Memory cgroup out of memory: Killed process (python)\n      total-vm:4000000kB  anon-rss:2097152kB',
    /killed python while it held 2 GiB, because the memory limit/,
    /stands in later lines/,
  ],
])

rows('disks', [
  [
    'a checkpoint that the trainer had named',
    '[INFO|trainer.py:2900] >> Saving model checkpoint to out/run7/checkpoint-500\nTraceback (most recent call last):\n  File "/env/lib/python3.9/site-packages/torch/serialization.py", line 423, in save\n    _save(obj, opened_zipfile, pickle_module, pickle_protocol)\nRuntimeError: [enforce fail at inline_container.cc:445] . PytorchStreamWriter failed writing file data/12: file write failed',
    /\(checkpoint out\/run7\/checkpoint-500\)[^]*df -h out\/run7/,
  ],
  [
    "a step of an image's build",
    '90.1 ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n------\nDockerfile:9\n--------------------\n   8 |     COPY . /opt/app\n   9 | >>> RUN pip install big-package\n  10 |     \n--------------------\nERROR: failed to solve: process "/bin/sh -c pip install big-package" did not complete successfully: exit code: 1',
    /in the build of an image \(step "pip install big-package"\)/,
  ],
  [
    'df in a comment',
    "# notes: the run ended at step 900\n#   OSError: [Errno 28] No space left on device: '/scratch/me/ckpt/step_900/model.bin'\n#   Filesystem      Size  Used Avail Use% Mounted on\n#   filer:/scratch  4.0T  4.0T     0 100% /scratch",
    /file system of \/scratch is full: df shows 100 % of 4\.0T/,
  ],
])
