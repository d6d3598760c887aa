// What a text shows as known or tried is not advised again; what it asks for comes first. All texts are written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const TABLE = '| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |'
const MISMATCH = 'Failed to initialize NVML: Driver/library version mismatch'

test.each([
  [
    'the library that BNB_CUDA_VERSION chose',
    'BNB_CUDA_VERSION=118 environment variable detected; loading libbitsandbytes_cuda118.so.\nRuntimeError: Configured CUDA binary not found at /venv/lib/python3.11/site-packages/bitsandbytes/libbitsandbytes_cuda118.so',
    /unset BNB_CUDA_VERSION/,
    /export BNB_CUDA_VERSION/,
  ],
  [
    'a value that hides the GPU, set in Python',
    'os.environ["CUDA_VISIBLE_DEVICES"] = "3"\nRuntimeError: No CUDA GPUs are available',
    /CUDA_VISIBLE_DEVICES is 3: where no GPU has the number 3/,
    /rocm/,
  ],
  ['all GPUs hidden by -1', 'export CUDA_VISIBLE_DEVICES=-1\nRuntimeError: No CUDA GPUs are available', /is -1, which hides all GPUs: leave it out/, /rocm/],
  [
    'Ray, which gave the actor no GPU',
    'ray::Trainer.__init__() (pid=99, ip=10.0.0.5)\nRuntimeError: No CUDA GPUs are available',
    /in a worker of Ray[^]*num_gpus=1/,
    /HIP_VISIBLE/,
  ],
  [
    "NVIDIA's installer, whose libraries a reboot leaves as they are",
    `sudo sh NVIDIA-Linux-x86_64-550.54.14.run\n${MISMATCH}\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Jan  2 10:00:00 UTC 2024\nNVML library version: 550.54`,
    /NVIDIA-Linux-\$\(uname -m\)-550\.54\.15\.run --no-kernel-modules/,
    /sudo reboot/,
  ],
  [
    'NVML that stopped in a running container',
    'The pod works fine, and after about 3 hours of training:\nFailed to initialize NVML: Unknown Error\nkubectl exec trainer-0 -- nvidia-smi',
    /worked here before: most likely the container lost its access/,
    /reinstall/,
  ],
  [
    'what the driver asks for, before what the fault makes likely',
    'NVRM: Xid (PCI:0000:41:00): 119, pid=5, name=trainer, Timeout after 6s of waiting for RPC response from GPU0 GSP! Expected function 76 (GSP_RM_CONTROL).\nNVRM: Xid (PCI:0000:41:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)',
    /^[^]*?\n[^\n]*\nThe driver asks for it \(Xid 154: Node Reboot Required\)[^\n]*sudo reboot/,
    /gpu-reset/,
  ],
  [
    'a CentOS without dnf, and the driver that its table shows',
    `CentOS Linux release 7.9.2009 (Core)\n${TABLE}\ndocker: Error response from daemon: could not select device driver "" with capabilities: [[gpu]].`,
    /sudo yum install -y nvidia-container-toolkit/,
    /\bdnf |apt-get|\$ nvidia-smi/,
  ],
  [
    'graphs that SGLang captured',
    'python -m sglang.launch_server --model-path org/m\nRuntimeError: captures_underway.empty() INTERNAL ASSERT FAILED at "../c10/cuda/CUDACachingAllocator.cpp":3100, please report a bug to PyTorch.',
    /--disable-cuda-graph/,
    /--enforce-eager/,
  ],
  [
    'float16 on a CPU, which vLLM cast away',
    'WARNING float16 is not supported on CPU, casting to bfloat16.\nTraceback (most recent call last):\n  File "/x/site-packages/vllm/a.py", line 1, in f\n    f()\nValueError: torch.bfloat16 is not supported for quantization method awq. Supported dtypes: [torch.float16]',
    /has no float16 on the CPU/,
    /--dtype/,
  ],
  [
    'a missing GPU, where another number format does not help',
    'WARNING: CUDA not found, falling back to float32',
    /found no GPU that it can use; the program goes on in fp32/,
    /compute_cap/,
  ],
  [
    'a login that the hub was too busy to check',
    'ERROR Failed to request /api/whoami-v2 - 429\nERROR Invalid token (hf_x). Please login with a write token.',
    /429 \(too many requests\)[^]*Wait a few minutes/,
    /token is (?:wrong|invalid)/,
  ],
  [
    'pages that a GPU before Ampere retires',
    'Tesla V100-SXM2-16GB\nRuntimeError: CUDA error: uncorrectable ECC error encountered',
    /PAGE_RETIREMENT/,
    /ROW_REMAPPER/,
  ],
  [
    'a network interface of a container alone',
    '0a1b2c3d4e5f:101:150 [0] misc/socket.cc:400 NCCL WARN Net : Connect to fe80::1 failed : Address family not supported by protocol\nncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.',
    /--network host/,
    /NCCL_DEBUG=INFO/,
  ],
  [
    'which file system df shows full',
    'OSError: [Errno 28] No space left on device\nFilesystem      Size  Used Avail Use% Mounted on\n/dev/sda1       100G   40G   60G  40% /\n/dev/sdb1       2.0T  2.0T     0 100% /data\n/dev/loop1       56M   56M     0 100% /snap/core/1',
    /file system of \/data is full: df shows 100 % of 2\.0T in use[^]*du -xh --max-depth=1 \/data/,
    /df -h|\/snap/,
  ],
  [
    'that the disks which df shows have room',
    'ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\nFilesystem      Size  Used Avail Use% Mounted on\n/dev/sda1       100G   40G   60G  40% /',
    /df shows 60G free on \/: what ran out may be another file system/,
    /is full: df shows/,
  ],
  [
    'where Ray installs what a task asks for',
    'Failed to set up runtime_env for the actor\nERROR: Could not install packages due to an OSError: [Errno 28] No space left on device',
    /--temp-dir <FOLDER_WITH_SPACE>/,
    /docker/,
  ],
  [
    'the CUDA that the author uses',
    'I am using CUDA 12.4 here.\nImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory',
    /built for CUDA 11, and CUDA 12\.4 is what the rest here is for/,
    /for CUDA 12\.4, and/,
  ],
  [
    'that nothing can be deleted of Docker',
    'docker: failed to register layer: write /opt/tool/lib.so: no space left on device\nTYPE            TOTAL     ACTIVE    SIZE      RECLAIMABLE\nImages          0         0         0B        0B\nBuild Cache     0         0         0B        0B',
    /data-root/,
    /prune|docker system df/,
  ],
])('knows %s', (_name, text, says, never) => {
  const { all } = answer(text)
  expect(all).toMatch(says)
  expect(all).not.toMatch(never)
})
