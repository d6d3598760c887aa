// A mixture of kinds as people paste them: scenes from photographs, sizes that no GPU has, ports that are down, programs in environments of their own.
import { rows } from './advice-rows.ts'

const ABSURD =
  'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 33554432.02 GiB. GPU 0 has a total capacity of 15.77 GiB of which 9.10 GiB is free. Including non-PyTorch memory, this process has 6.66 GiB memory in use. Of the allocated memory 6.10 GiB is allocated by PyTorch, and 20.00 MiB is reserved by PyTorch but unallocated.'
const FULL =
  'RuntimeError: CUDA out of memory. Tried to allocate 66.00 MiB (GPU 0; 7.79 GiB total capacity; 6.90 GiB already allocated; 20.00 MiB free; 7.10 GiB reserved in total by PyTorch)'
const NO_CUBLAS = 'RuntimeError: Library libcublas.so.12 is not found or cannot be loaded'
const TABLE = '[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name'
const IN_POD =
  'oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=user.slice,mems_allowed=0,oom_memcg=/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod11111111_2222_3333_4444_555555555555.slice,task_memcg=/kubelet.slice/x,task=server,pid=4711,uid=1000'

rows('out of GPU memory', [
  [
    'a size that no GPU has, from a compiled extension',
    `  File "/env/lib/python3.9/site-packages/diff_gaussian_rasterization/__init__.py", line 80, in forward\n    num_rendered, color, radii = _C.rasterize_gaussians(*args)\n${ABSURD}`,
    /No GPU has that much[^]*Build diff_gaussian_rasterization again[^]*nvcc/,
    /batch|resolution/,
  ],
  ['a size that no GPU has, elsewhere', ABSURD, /computed wrong[^]*Print the shapes/, /nvcc|smaller batch/],
  [
    'Gaussian splatting that reads its photographs',
    `(env) D:\\gaussian-splatting>python train.py -s D:\\yard\nLoading Training Cameras [01/02 03:04:05]\n${FULL}`,
    /--data_device cpu[^]*--resolution 4[^]*leave photographs out/,
    /LoRA|FSDP|sequence/,
  ],
  [
    'Gaussian splatting that trains',
    `Number of points at initialisation :  90000\nTraining progress:  41%|####  | 12300/30000\n  File "/g/gaussian-splatting/train.py", line 88, in training\n${FULL}`,
    /--resolution 4[^]*--densify_grad_threshold/,
    /LoRA|FSDP/,
  ],
  ['nerfstudio', `$ ns-train nerfacto --data yard\n${FULL}`, /--downscale-factor 4[^]*train-num-rays-per-batch/, /--densify|LoRA/],
  [
    'an old XGBoost, with bytes, of which enough were free',
    'xgboost.core.XGBoostError: [10:11:12] /w/device_helpers.cuh:414: Memory allocation error on worker 0: std::bad_alloc: cudaErrorMemoryAllocation: out of memory\n- Free memory: 8589934592\n- Requested memory: 65536',
    /allocate 64 KiB on the GPU; 8\.00 GiB was free\. That was enough[^]*one worker/,
    /What else holds/,
  ],
  [
    'Chainer, which trains with CuPy',
    'Exception in main training loop: Out of memory allocating 51,200,000 bytes (allocated so far: 3,221,225,472 bytes).\n  File "/e/site-packages/chainer/training/trainer.py", line 300, in run\ncupy.cuda.memory.OutOfMemoryError: Out of memory allocating 51,200,000 bytes (allocated so far: 3,221,225,472 bytes).',
    /49 MiB[^]*minibatch/,
  ],
])

rows('libraries and packages', [
  [
    "a decoder's library that ffmpeg does not find",
    '[h264_cuvid @ 0x55d0] Cannot load libnvcuvid.so.1\n[h264_cuvid @ 0x55d0] Failed loading nvcuvid.\nError while opening decoder for input stream #0:0 : Operation not permitted',
    /libnvcuvid\.so\.1 cannot be loaded[^]*NVIDIA_DRIVER_CAPABILITIES=all/,
    /ls -ld/,
  ],
  [
    'ONNX Runtime, asked within a container',
    `$ docker exec photos bash -c "python3 -c \\"import onnxruntime as o; print(o.get_available_providers())\\""\n['AzureExecutionProvider', 'CPUExecutionProvider']`,
    /no provider for a GPU[^]*onnxruntime-gpu/,
  ],
  [
    'a program that uv installed as a tool',
    `  File "/home/ana/.local/share/uv/tools/captions/lib/python3.12/site-packages/faster_whisper/transcribe.py", line 9, in encode\n${NO_CUBLAS}`,
    /VIRTUAL_ENV=\/home\/ana\/\.local\/share\/uv\/tools\/captions uv pip install nvidia-cublas-cu12[^]*tools\/captions\/bin\/python -c/,
    /\$ pip install/,
  ],
  [
    'a program that pipx installed',
    `  File "/home/ana/.local/share/pipx/venvs/captions/lib/python3.12/site-packages/faster_whisper/transcribe.py", line 9, in encode\n${NO_CUBLAS}`,
    /pipx runpip captions install nvidia-cublas-cu12/,
  ],
  [
    "an image's own Python that its user may not read",
    '$ docker run --user 1001 registry.example/serve:2\n/usr/bin/serve: error while loading shared libraries: libpython3.11.so.1.0: cannot open shared object file: No such file or directory',
    /is in the image[^]*without --user/,
    /apt-get|sysconfig/,
  ],
  [
    "FlashAttention, by the path of its launcher's source",
    'CUDA error (/tmp/flash-attn/flash_fwd_launch_template.h:180): no kernel image is available for execution on the device\ntorch 2.8.0+cu128',
    /FlashAttention holds no code/,
  ],
  [
    'the same on a Jetson',
    'Jetson AGX Orin, JetPack 6\nCUDA error (/tmp/flash-attn/flash_fwd_launch_template.h:180): no kernel image is available for execution on the device',
    /not built for boards[^]*8\.7 on Orin/,
    /nvidia-smi/,
  ],
])

rows('network, hub and host', [
  [
    'a port that ibstat shows down',
    "h1:10:20 [0] misc/ibvwrap.cc:284 NCCL WARN Call to ibv_modify_qp failed with error Invalid argument\n$ ibstat\nCA 'rocep1s0f0'\n\tNumber of ports: 1\n\tPort 1:\n\t\tState: Down\n\t\tPhysical state: Disabled",
    /port of rocep1s0f0 down/,
  ],
  [
    'another port that is up',
    "h1:10:20 [0] misc/ibvwrap.cc:284 NCCL WARN Call to ibv_modify_qp failed with error Invalid argument\nCA 'mlx5_0'\n\tPort 1:\n\t\tState: Down\nCA 'mlx5_1'\n\tPort 1:\n\t\tState: Active",
    /InfiniBand/,
    /down: bring/,
  ],
  [
    'a peer that does not answer',
    '[2026-01-02 03:04:05] h1:10:20 [5] ibvwrap.c:262 NCCL WARN Call to ibv_modify_qp failed with 110 Connection timed out, on dev bnxt_re3:1, curr state INIT, next state RTR, local GID index 3, local GID ::ffff:10.0.5.1, remote GID ::ffff:10.0.6.2',
    /10\.0\.6\.2"[^]*port bnxt_re3[^]*NCCL_CROSS_NIC=0/,
  ],
  [
    'a data set without an owner',
    'huggingface_hub.utils.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://huggingface.co/api/datasets/squad/paths-info/0123456789abcdef',
    /snapshot_download\('squad', repo_type='dataset'\)/,
    /squad\/paths-info/,
  ],
  [
    'a model without an owner',
    '429 Client Error: Too Many Requests for url: https://huggingface.co/gpt2/resolve/main/config.json',
    /snapshot_download\('gpt2'\)/,
  ],
  [
    'a process of a pod, in the list of a newer kernel',
    `${TABLE}\n[   4711]  1000  4711  9000000   600000   524288    14081         0  4608000        0           992 server\n${IN_POD}`,
    /killed server \(pid 4711\) while it held 2 GiB, because the memory limit of a pod/,
  ],
  [
    'Torch 7 on a full disk',
    'saving checkpoint to cv/a.t7\n/h/torch/install/bin/luajit: /h/torch/install/share/lua/5.1/torch/File.lua:210: write error: wrote 1200 blocks instead of 4800 at /tmp/torch7/lib/TH/THDiskFile.c:340',
    /Torch could not write a file to its end[^]*df -h; df -i/,
    /THDiskFile|save_total_limit/,
  ],
])
