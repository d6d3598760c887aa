// One message in several situations: the remedy must be one that can be followed there, in that program and that release.
import { rows } from './advice-rows.ts'

const torchOom = (asked: string, total: string, free: string, held: string, cached = '212.00 MiB'): string =>
  `torch.OutOfMemoryError: CUDA out of memory. Tried to allocate ${asked}. GPU 0 has a total capacity of ${total} of which ${free} is free. Including non-PyTorch memory, this process has ${held} memory in use. Of the allocated memory ${held} is allocated by PyTorch, and ${cached} is reserved by PyTorch but unallocated.`
const COLAB = '/usr/local/lib/python3.10/dist-packages/torch/nn/modules/module.py in _call_impl(self, *args, **kwargs)\n'
const NO_DRIVER =
  'RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver from http://www.nvidia.com/Download/index.aspx'
const FORKED = "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method"

rows('GPU memory', [
  [
    'a notebook: variables are set in a cell, and the kernel keeps what earlier cells made',
    `${COLAB}${torchOom('1.25 GiB', '14.74 GiB', '1.02 GiB', '13.60 GiB', '700.00 MiB')}`,
    /Restart the kernel[^]*%env PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True/,
    /export |over several/,
  ],
  [
    'a Jetson has one GPU',
    `NvMapMemAllocInternalTagged: 1075072515 error 12\n${torchOom('256.00 MiB', '7.44 GiB', '110.00 MiB', '2.31 GiB')}`,
    /share the memory/,
    /CUDA_VISIBLE_DEVICES/,
  ],
  [
    'FSDP, where it is in use',
    `  File "/home/ana/run.py", line 9, in train\n    loss.backward()\n  File "/opt/py/torch/distributed/fsdp/_runtime_utils.py", line 604, in _root_pre_forward\n${torchOom('1.31 GiB', '39.39 GiB', '1.10 GiB', '38.00 GiB')}`,
    /FULL_SHARD/,
    /FSDP or ZeRO/,
  ],
  [
    'shards that were being loaded are no batch',
    `Loading checkpoint shards:  50%|█████     | 2/4 [00:12<00:12,  6.1s/it]\nTraceback (most recent call last):\n  File "/home/ana/chat.py", line 6, in <module>\n${torchOom('136.00 MiB', '15.77 GiB', '70.00 MiB', '15.60 GiB')}`,
    /in 16 bit, or a model in 8 or 4 bit/,
    /smaller batch/,
  ],
  [
    'a pipeline of diffusers that was moved has made no image',
    `  File "/home/ana/draw.py", line 5, in <module>\n  File "/opt/py/site-packages/diffusers/pipelines/pipeline_utils.py", line 440, in to\n${torchOom('18.00 MiB', '23.65 GiB', '9.00 MiB', '23.60 GiB')}`,
    /enable_model_cpu_offload/,
    /resolution/,
  ],
  [
    'a validation has no optimizer to split',
    `  File "/home/ana/train.py", line 120, in validate\n    pred = model(batch)\n${torchOom('800.00 MiB', '23.65 GiB', '512.00 MiB', '22.30 GiB')}`,
    /torch\.no_grad\(\)/,
    /optimizer/,
  ],
  [
    'a program sees one MIG instance',
    `MIG 1g.10gb     Device  0: (UUID: MIG-4c1f5b8a-0e0e-5c2d-9a3b-0d2a5f1b1e2c)\n${torchOom('512.00 MiB', '9.50 GiB', '301.00 MiB', '9.10 GiB')}`,
    /one with more memory/,
    /over several/,
  ],
  [
    'Unsloth trains',
    `==((====))==  Unsloth 2024.8: Fast Llama patching.\n${torchOom('1002.00 MiB', '14.74 GiB', '501.00 MiB', '14.20 GiB')}`,
    /Halve the batch size/,
  ],
  [
    "TGI's client names it too",
    `ERROR warmup{max_prefill_tokens=4096}:warmup: text_generation_client: router/client/src/lib.rs:33: Server error: CUDA out of memory. Tried to allocate 136.00 MiB. GPU 0 has a total capacity of 22.19 GiB of which 70.12 MiB is free.`,
    /--max-batch-prefill-tokens/,
    /smaller inputs/,
  ],
  [
    'llama.cpp of 2024: flash attention is a flag without a value',
    'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 16384.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_kv_cache_init: failed to allocate buffer for kv cache\nllama_new_context_with_model: llama_kv_cache_init() failed for self-attention cache',
    / -fa --cache-type-k/,
    /--flash-attn/,
  ],
  [
    'llama.cpp of today',
    'ggml_backend_cuda_buffer_type_alloc_buffer: allocating 16384.00 MiB on device 0: cudaMalloc failed: out of memory\nllama_kv_cache: failed to allocate buffer for kv cache',
    /--flash-attn on --cache-type-k/,
  ],
  ['the paged optimizer of bitsandbytes', 'Error out of memory at line 380 in file /src/csrc/pythonInterface.cpp', /needs host memory too/],
])

rows('no GPU here', [
  ['a folder called kaggle is no notebook', `  File "/home/ana/kaggle/input/run.py", line 3, in <module>\n${NO_DRIVER}`, /lsmod/, /Colab/],
  ['Colab', `${COLAB}${NO_DRIVER}`, /Change runtime type/, /dkms|lsmod|docker/],
  [
    'Colab, nvidia-smi',
    "/content/data\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
    /^The notebook has no GPU/,
    /dkms|Secure Boot/,
  ],
  ['a pod', `[pod/ft-0/trainer] ${NO_DRIVER}`, /In a pod: request the GPU/, /dkms|lsmod/],
  ['a job of Slurm: what was asked for comes first', 'srun python a.py\nRuntimeError: No CUDA GPUs are available', /hides it\.\nIn Slurm: request a GPU/],
  ['rocminfo', 'ROCk module is NOT loaded, possibly no GPU devices', /modprobe amdgpu/, /nvidia/],
  ['llama.cpp without a GPU backend', 'warning: not compiled with GPU offload support, --gpu-layers option will be ignored', /DGGML_CUDA=ON/, /nvidia-smi/],
  [
    'inotify of the node is no limit of files',
    'nvidia-device-plugin\nError: failed to create FS watcher: too many open files',
    /max_user_instances=1024/,
    /ulimit|Mount the folder/,
  ],
  [
    'a reset that is refused for one GPU',
    '$ sudo nvidia-smi --gpu-reset -i 0\nGPU 00000000:41:00.0 is currently in use by another process.',
    /The reset was refused: 00000000:41:00\.0 is in use/,
  ],
])

rows('packages', [
  [
    'vLLM names its PyTorch: not the same wheel again',
    'ImportError: /opt/py/lib/python3.12/site-packages/vllm/_C.abi3.so: undefined symbol: _ZN3c104cuda9SetDeviceEi',
    /pip install --force-reinstall --no-cache-dir vllm/,
    /--no-deps/,
  ],
  [
    "PyTorch's own start finds what pip installs",
    '  File "/home/ana/py/lib/python3.10/site-packages/torch/__init__.py", line 174, in _load_global_deps\nOSError: libcudart.so.12: cannot open shared object file: No such file or directory',
    /--force-reinstall nvidia-cuda-runtime-cu12/,
    /LD_LIBRARY_PATH/,
  ],
  [
    'torchvision for the CPU',
    "Traceback (most recent call last):\n  File \"/home/ana/a.py\", line 3, in <module>\nNotImplementedError: Could not run 'torchvision::nms' with arguments from the 'CUDA' backend. This could be because the operator doesn't exist for this backend",
    /build for the CPU[^]*whl\/<CUDA>/,
    /pdb/,
  ],
  [
    'Ninja',
    'Traceback (most recent call last):\n  File "/home/ana/a.py", line 3, in <module>\nRuntimeError: Ninja is required to load C++ extensions',
    /pip install ninja/,
  ],
  [
    'nvcc for kernels that are compiled when they are used',
    "Traceback (most recent call last):\n  File \"/opt/py/lib/python3.12/site-packages/flashinfer/jit/cpp_ext.py\", line 94, in get_cuda_path\nRuntimeError: Could not find nvcc and default cuda_home='/usr/local/cuda' doesn't exist",
    /ending in -devel/,
    /first error of the compiler/,
  ],
  [
    'the package that pip was asked for',
    "pip install flash-attn\n  error: subprocess-exited-with-error\n  × Getting requirements to build wheel did not run successfully.\n      ModuleNotFoundError: No module named 'torch'",
    /flash-attn --no-build-isolation/,
    /<PACKAGE>/,
  ],
  [
    'what pip installs in a notebook',
    `${COLAB}ImportError: Using \`bitsandbytes\` 4-bit quantization requires the latest version of bitsandbytes: \`pip install -U bitsandbytes\``,
    /%pip install --upgrade bitsandbytes/,
    /In a container/,
  ],
  [
    'an architecture that is newer than the server',
    "Traceback (most recent call last):\n  File \"/opt/vllm/engine.py\", line 3, in <module>\nValueError: Model architectures ['Lark3ForCausalLM'] are not supported for now. Supported architectures: dict_keys(['LarkForCausalLM'])",
    /pip install --upgrade vllm/,
    /Correct the setting/,
  ],
])

rows('files and hubs', [
  [
    'GGUF that is a page, before the colon came',
    "gguf_init_from_file: invalid magic characters '<!do'\nllama_model_load: error loading model: failed to load model from m.gguf",
    /an HTML page/,
    /git lfs/,
  ],
  [
    'offline mode is on already',
    'Traceback (most recent call last):\n  File "/home/ana/a.py", line 3, in <module>\nhuggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files in the disk cache and outgoing traffic has been disabled. To enable hf.co look-ups and downloads online, set \'HF_HUB_OFFLINE=0\'',
    /HF_HUB_OFFLINE=0 hf download/,
    /no way to the hub|export HF_HUB_OFFLINE=1/,
  ],
  [
    'whoami is no repository',
    'requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/whoami-v2',
    /refused the login[^]*not valid/,
    /terms of/,
  ],
])

rows('processes', [
  ['a notebook can only fork', `${COLAB}${FORKED}`, /Restart the kernel/, /set_start_method/],
  ['a script can spawn', FORKED, /set_start_method/],
  ['WSL 2: half of the memory', 'ana@DESKTOP-8SK2LQ1:~/a$ python train.py\nKilled', /\.wslconfig/],
  [
    'Killed behind a bar that had not ended',
    'Loading checkpoint shards:  33%|███▎      | 1/3 [00:22<00:44, 22.1s/it]Killed',
    /host memory ran out[^]*straight to the GPU/,
  ],
  [
    'Gloo between hosts',
    'Traceback (most recent call last):\n  File "/opt/a.py", line 3, in <module>\nRuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error',
    /GLOO_SOCKET_IFNAME/,
    /proxy|curl/,
  ],
  ["an address of Docker's bridge", 'NCCL WARN socketStartConnect: Connect to 172.17.0.3<43217> failed : Connection refused', /--network host/],
])
