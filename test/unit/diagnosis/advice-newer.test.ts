// Messages of software and hardware of 2025 and 2026: Blackwell, CUDA 13, vLLM V1, SGLang, DRA, CDI, Xet, Unsloth. All texts are written for this test.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { answer } from './answer.ts'

const NO_KERNEL =
  'RuntimeError: CUDA error: no kernel image is available for execution on the device\nCUDA kernel errors might be asynchronously reported at some other API call.'
const FREE = (device: string, free: string, asked: string): string =>
  `(EngineCore pid=12) ValueError: Free memory on device ${device}(${free} GiB) on startup is less than desired GPU memory utilization (0.9, ${asked} GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.`
const FULL = (gpu: string): string => `ggml_backend_cuda_buffer_type_alloc_buffer: allocating 5120.00 MiB on device ${gpu}: cudaMalloc failed: out of memory`

test.each([
  [
    'PTX that is older than the GPU: who wrote it is too old, not ptxas',
    'ptxas /tmp/tmpa1b2c3.ptx, line 5; error   : PTX .version 8.4 does not support .target sm_120a\nptxas fatal   : Ptx assembly aborted due to errors',
    /^Triton is older than this GPU[^]*sm_120a was written as PTX 8\.4[^]*2\.7 \(Triton 3\.3\)[^]*pip install --upgrade torch/,
    /Install a CUDA toolkit|nixpkgs/,
  ],
  [
    'the LLVM of Triton',
    "python main.py --use-sage-attention\n'sm_120' is not a recognized processor for this target (ignoring processor)\nLLVM ERROR: Cannot select: intrinsic %llvm.nvvm.shfl.sync.bfly.i32",
    /LLVM inside Triton does not know sm_120[^]*without --use-sage-attention/,
    /pdb/,
  ],
  [
    'an nvcc of the distribution before the toolkit that knows the GPU',
    "export PATH=$PATH:/usr/local/cuda-13.0/bin\n$ cmake --build build\nnvcc fatal   : Unsupported gpu architecture 'compute_120a'",
    /was found first does not know compute_120a[^]*-DCMAKE_CUDA_COMPILER=\/usr\/local\/cuda-13\.0\/bin\/nvcc[^]*CUDA 12\.8 or newer/,
    /pip install/,
  ],
  [
    'an architecture that CUDA 13 has dropped',
    "nvcc fatal   : Unsupported gpu architecture 'compute_61'\nCuda compilation tools, release 13.0, V13.0.48",
    /has dropped it[^]*up to CUDA 12\.9/,
    /or newer/,
  ],
  [
    'GB10, which needs a newer toolkit than other Blackwell GPUs',
    "ptxas fatal   : Value 'sm_121a' is not defined for option 'gpu-name'\nRepro command: /venv/lib/python3.12/site-packages/triton/backends/nvidia/bin/ptxas --gpu-name=sm_121a /tmp/t.ptx",
    /CUDA 12\.9 or newer[^]*TRITON_PTXAS_PATH/,
    /12\.8/,
  ],
  [
    'a PyTorch that has code for the GPU: an extension lacks it',
    `  File "/opt/n/attention.py", line 9, in forward\n    out = flash_attn.flash_attn_func(q, k, v)\n${NO_KERNEL}\npytorch version: 2.9.1+cu130\nDevice: cuda:0 NVIDIA GeForce RTX 5080 : cudaMallocAsync`,
    /PyTorch here is for CUDA 13\.0, which has code for this GPU: FlashAttention lacks it/,
    /whl\/cu/,
  ],
  [
    'a V100 with a wheel that has dropped it',
    `${NO_KERNEL}\nGPU: Tesla V100\nTorch version: 2.11.0+cu128`,
    /If sm_70 is not in its list: install a build for CUDA 12\.6[^]*whl\/cu126/,
    /whl\/cu128/,
  ],
  [
    "Unsloth's banner names vLLM: it is no server",
    `==((====))==  Unsloth 2025.6.1: Fast Llama patching. Transformers: 4.52.4. vLLM: 0.9.0.\n   \\\\   /|    NVIDIA GeForce RTX 5070. Num GPUs = 1.\nO^O/ \\_/ \\    Torch: 2.6.0+cu124. CUDA: 12.0. CUDA Toolkit: 12.4. Triton: 3.2.0\n${NO_KERNEL}`,
    /this one is for CUDA 12\.4[^]*uv pip install --upgrade unsloth --torch-backend=auto/,
    /image or wheel of the server/,
  ],
  [
    'a library of a CUDA that the driver does not run',
    '  File "/venv/lib/python3.12/site-packages/vllm/platforms/cuda.py", line 20, in <module>\n    import vllm._C\nImportError: libcudart.so.13: cannot open shared object file: No such file or directory\n| NVIDIA-SMI 550.90.07              Driver Version: 550.90.07      CUDA Version: 12.4     |',
    /driver here runs CUDA up to 12\.4: install its build for CUDA 12[^]*580 or newer/,
    /pip install --force-reinstall vllm|nvidia-cuda-runtime/,
  ],
  [
    "PyTorch's own files of another release than its compiled part",
    "  File \"/venv/lib/python3.10/site-packages/torch/cuda/__init__.py\", line 360, in <module>\n    AcceleratorError = torch._C.AcceleratorError\nAttributeError: module 'torch._C' has no attribute 'AcceleratorError'",
    /^Two releases of PyTorch are mixed[^]*pip uninstall -y torch/,
    /torch==<VERSION>/,
  ],
  [
    'a line that the terminal broke inside words',
    `(APIServer pid=2) RuntimeError: Engine core initialization failed.\n\n${FREE('cuda:0 ', '10.20/15.47', '13.92')
      .match(/.{1,85}/g)
      ?.join('\n')}`,
    /only 10\.20 GiB is free/,
    /pdb/,
  ],
  [
    'little of a small card is taken: that may be the desktop',
    FREE('', '3.22/4.0', '3.6'),
    /the other 799 MiB are with the desktop, the driver or another process/,
    /another process holds the rest/,
  ],
  [
    'memory that GPU and CPU share',
    `${FREE('cuda:0 ', '90.10/121.69', '109.52')}\n|   0  NVIDIA GB10                    On  |   0000000F:01:00.0 Off |                  N/A |`,
    /which GPU and CPU share[^]*drop_caches/,
    /another process holds the rest|query-compute-apps/,
  ],
  [
    'a DRA driver without its plugin on the node',
    'kubelet[77]: E0114 22:32:39.8 77 kuberuntime_manager.go:1323] "Failed to prepare dynamic resources" err="prepare dynamic resources: DRA driver gpu.nvidia.com is not registered" pod="ml/train-0"',
    /^The DRA driver does not run on the node[^]*plugin gpus of the DRA driver/,
    /device plugin/,
  ],
  [
    'a kubelet and a server of two releases',
    'Warning  FailedPrepareDynamicResources  3s  kubelet  Failed to prepare dynamic resources: failed to fetch ResourceClaim fit-0-gpu-x7k2p referenced by pod fit-0: the server could not find the requested resource',
    /ResourceClaim fit-0-gpu-x7k2p of the pod fit-0[^]*api-versions/,
    /pdb/,
  ],
  [
    'a claim that no node can serve',
    'Warning  FailedScheduling  12s  default-scheduler  0/3 nodes are available: 3 cannot allocate all claims. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.',
    /kubectl get resourceslices/,
    /pdb/,
  ],
  [
    'a claim that the driver on the node cannot prepare',
    'kubelet: "Failed to prepare dynamic resources" err="NodePrepareResources failed for claim ml/fit-0: error preparing devices for claim 1f2e: unable to create CDI spec file for claim: no space left on device" pod="ml/fit-0"',
    /claim ml\/fit-0: "error preparing devices for claim 1f2e/,
    /MIG/,
  ],
  [
    'a GPU that the device plugin has taken out',
    'I1025 02:19:08.1 1 health.go:186] XidCriticalError: Xid=94 on Device=GPU-0a1b2c3d-0000-1111-2222-333344445555; marking device as unhealthy.',
    /does not give it back by itself/,
    /<GPU>/,
  ],
  [
    'the device plugin of k3s: its own pod, not one that asks for a GPU',
    'k3s version v1.33.1+k3s1\nW0819 07:02:54.7 1 rm.go:109] NVML not detected: could not load NVML library: libnvidia-ml.so.1: cannot open shared object file: No such file or directory',
    /^The device plugin finds no GPU[^]*runtimeClassName: nvidia/,
    /In a pod, request the GPU/,
  ],
  [
    'Docker on a machine with graphics of Intel only',
    'docker: Error response from daemon: failed to discover GPU vendor from CDI: no known GPU vendor found\nGraphics: Intel Meteor Lake-P Iris Xe',
    /--device \/dev\/dri/,
    /nvidia-ctk/,
  ],
  [
    'a fatal error of ggml without words',
    'srv  update_slots: run slots completed\nmmq_x_best=0\nC:\\src\\llama.cpp\\ggml\\src\\ggml-cuda\\template-instances\\../mmq.cuh:4135: fatal error',
    /ended itself at mmq\.cuh:4135/,
    /DataLoader/,
  ],
  [
    'cuBLAS that does not know the GPU',
    '1.22.756.113 E CUDA error: the requested functionality is not supported\n1.22.756.116 E   current device: 0, in function ggml_cuda_mul_mat_cublas_impl at ggml/src/ggml-cuda/ggml-cuda.cu:1554\n1.22.756.117 E   cublasGemmEx(cublas_h, CUBLAS_OP_T)',
    /build for CUDA 12, since cuBLAS of CUDA 13[^]*GGML_CUDA_FORCE_MMQ=ON/,
    /NO_VMM/,
  ],
  ['the encoder of images', `${FULL('0')}\nalloc_compute_meta: failed to allocate compute buffers for CLIP`, /--no-mmproj-offload/, /ubatch/],
  [
    'layers that were set, so that llama.cpp did not fit them',
    `llama_params_fit: failed to fit params to free device memory: n_gpu_layers already set by user to 99, abort\n${FULL('1')}\nllama_model_load: error loading model: unable to allocate CUDA1 buffer`,
    /Leave -ngl \(--n-gpu-layers\)/,
    /--n-gpu-layers <LAYERS>/,
  ],
  [
    'ComfyUI and locked host memory',
    '!!! Exception during processing !!! HostBuffer.read_file_slice failed\nTraceback (most recent call last):\n  File "C:\\ComfyUI\\execution.py", line 540, in execute\nRuntimeError: HostBuffer.read_file_slice failed',
    /--disable-pinned-memory/,
    /DataLoader/,
  ],
  [
    'ComfyUI that Windows ended',
    'got prompt\nRequested to load WAN21\n[2025-08-23 13:04:35.411] [error] Python process exited with code 3221225477 and signal null.',
    /page file/,
    /DataLoader|fork/,
  ],
])('%s', (_, text, wanted, unwanted) => {
  const { all } = answer(text)
  expect(all).toMatch(wanted)
  expect(all).not.toMatch(unwanted)
})

test('a healthy start on a CPU, where vLLM does without NCCL, is no fault', () => {
  const text =
    'INFO 08-20 09:48:30 [__init__.py:235] Automatically detected platform cpu.\nERROR 08-20 09:48:31 [pynccl_wrapper.py:229] Failed to load NCCL library from libnccl.so.2 . It is expected if you are not running on NVIDIA/AMD GPUs.Otherwise, the nccl library might not exist.\nINFO 08-20 09:48:40 [api_server.py:1090] Starting vLLM API server'
  expect(explainText(logScanner(), text)).toEqual([])
})

test('a GPU that waits for its reset is not busy with another process', () => {
  const text =
    'NVRM: Xid (PCI:0000:a1:00): 95, pid=7, name=python, Uncontained: LTC TEX (0x14,0xd). RST: Yes, D-RST: No\ntorch.AcceleratorError: CUDA error: CUDA-capable device(s) is/are busy or unavailable'
  const busy = explainText(logScanner(), text).find(({ kind }) => kind === 'gpu_busy')
  expect(busy?.verdict).toMatch(/first needs the reset/)
  expect(busy?.verdict).not.toMatch(/exclusive/)
})
