// Advice for what the host, its engine and its drivers say: it fits who starts containers there, names them, and leaves out what was tried.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

test.each([
  [
    'a container of Apptainer that was started without the GPU',
    'apptainer exec tool.sif python train.py\nRuntimeError: No CUDA GPUs are available\n',
    'gpu_not_visible',
    /^(?![^]*Docker)[^]*With apptainer: pass the GPU and its driver in \(--nv; AMD: --rocm\)\.[^]*apptainer exec --nv <IMAGE>/,
  ],
  [
    'Singularity that finds no driver on the host',
    'singularity run --nv model.simg\nINFO:    Could not find any nv files on this host!\n',
    'gpu_not_visible',
    /started with --nv, and none of the driver's libraries[^]*ldconfig -p \| grep -E "libcuda\.so/,
  ],
  [
    'a loaded driver without GPUs, which is not to be loaded again',
    '$ nvidia-smi\nNo devices were found\n',
    'gpu_not_visible',
    /^(?![^]*modprobe)[^]*whether the card is on the bus[^]*lspci -nnk -d 10de:[^]*RmInitAdapter/,
  ],
  [
    'the same in a pod, which may have asked for none',
    '[pod/trainer-0/main] nvidia-smi: No devices were found\n',
    'gpu_not_visible',
    /^(?![^]*RmInitAdapter)[^]*In a pod: request the GPU/,
  ],
  [
    'a prompt of WSL, whose driver is that of Windows',
    "ana@DESKTOP-4KQ2ZZ9:~$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n",
    'gpu_not_visible',
    /^(?![^]*modprobe)[^]*Update the NVIDIA driver in Windows/,
  ],
  [
    'the container that the engine could not start, by its name',
    'Error response from daemon: failed to start container "frigate": OCI runtime create failed: error running prestart hook #0: exit status 1, stderr: nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown\n',
    'gpu_not_visible',
    /the container frigate was not started/,
  ],
  [
    'a lost GPU of Windows, which has no kernel log of Linux',
    'Event 153, nvlddmkm\nnvidia-smi: GPU is lost. Reboot the system to recover this GPU\n',
    'gpu_lost',
    /^(?![^]*(?:sudo|dmesg))[^]*Restart Windows/,
  ],
  [
    'a library of CUDA that is older than JAX wants',
    'Found cuBLAS version 120100, but JAX was built against version 120304, which is newer. The copy of cuBLAS that is installed must be at least as new.\n',
    'cuda_version_mismatch',
    /JAX found cuBLAS 120100 and needs 120304 or newer/,
  ],
  [
    'an interface of NCCL that this host does not have',
    'node:311:402 [0] NCCL INFO NCCL_SOCKET_IFNAME set by environment to ib3\nnode:311:402 [0] misc/socket.cc:50 NCCL WARN ncclSocketInit: connecting to address  with family 0 is neither AF_INET(2) nor AF_INET6(10)\n',
    'nccl_error',
    /NCCL_SOCKET_IFNAME is ib3, which this host or container does not have/,
  ],
  [
    'the peer that closed, by its name',
    'gpu1:88:97 [2] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer worker-5.cluster<48110>\n',
    'nccl_error',
    /log of the peer \(worker-5\.cluster<48110>\)[^]*NCCL_SOCKET_IFNAME=<INTERFACE>/,
  ],
  [
    'a module that akmods could not compile, and why',
    'akmodsbuild: nvidia/nv-dma.c:88:5: error: too few arguments to function ‘dma_buf_attach’\nakmodsbuild: make[3]: *** [nvidia/nv-dma.o] Error 1\nLog: /var/cache/akmods/nvidia/565.77-1-for-6.12.9-200.fc41.x86_64.failed.log\n',
    'driver_not_loaded',
    /driver 565\.77 for kernel 6\.12\.9-200\.fc41\.x86_64[^]*"too few arguments[^]*too old for it/,
  ],
  [
    'a cache on Windows, as the file is written there',
    String.raw`PermissionError: [Errno 13] Permission denied: 'D:\\models\\huggingface\\hub\\refs\\main'`,
    'cache_permission',
    /^(?![^]*(?:chown|namei))[^]*D:\\models\\huggingface\\hub\\refs\\main[^]*set HF_HOME=[^]*another program has open/,
  ],
  [
    'the folder above a cache, which is refused for it',
    "There was a problem when trying to write in your cache folder (/srv/app/.cache/huggingface/hub). You should set the environment variable TRANSFORMERS_CACHE to a writable directory.\nPermissionError: [Errno 13] Permission denied: '/srv/app'\n",
    'cache_permission',
    /The model cache \/srv\/app\/\.cache\/huggingface\/hub cannot be written/,
  ],
  [
    'a reboot that was tried',
    'Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.90\nI rebooted twice, it did not help. dpkg -l: nvidia-driver-550\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12\n',
    'nvml_driver_mismatch',
    /^(?![^]*sudo reboot)[^]*A reboot did not help[^]*dkms status/,
  ],
  [
    "hashcat's own count of GPUs",
    'Driver temperature threshold met on GPU #2. Expect reduced performance.\n',
    'thermal_or_power',
    /GPU #2 \(hashcat counts from 1\)[^]*nvidia-smi -q -i 1 -d TEMPERATURE/,
  ],
  [
    'the heat that a miner reads',
    '[warning] core | Device #3 is running too hot! Performance is degraded!\n[warning] core | Device #3 GPU temp: 71 C\n[warning] core | Device #3 MEM temp: 104 C\n',
    'thermal_or_power',
    /device 3 is too hot \(GPU 71 °C, MEM 104 °C\)/,
  ],
  [
    'a page fault that a reset left behind',
    'amdgpu 0000:0a:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=55, emitted seq=58\namdgpu 0000:0a:00.0: amdgpu: GPU reset begin!\namdgpu 0000:0a:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:0 pasid:0)\namdgpu 0000:0a:00.0: amdgpu: GPU reset(1) succeeded!\n',
    'gpu_reset',
    /^(?![^]*Page fault on)/,
  ],
  [
    'a game whose GPU hung: nobody drains a desktop',
    'amdgpu 0000:0a:00.0: amdgpu: ring gfx_0.1.0 timeout, signaled seq=900, emitted seq=902\namdgpu 0000:0a:00.0: amdgpu:  Process Cyberpunk2077.exe pid 6001 thread vkd3d_queue pid 6007\namdgpu 0000:0a:00.0: amdgpu: GPU reset begin!\n',
    'gpu_reset',
    /^(?![^]*Drain)[^]*Reboot\. If the GPU does not come back, switch the computer off/,
  ],
  [
    'the pod that a command names',
    '$ kubectl -n ml exec -it trainer -- nvidia-smi\nFailed to initialize NVML: Unknown Error\n',
    'nvml_unknown_error',
    /kubectl delete pod trainer/,
  ],
  [
    'the pod as the kubelet names it',
    '"Eviction manager: pod is evicted successfully" pod="ml/embedder-x"\nThe node was low on resource: ephemeral-storage. Threshold quantity: 1012038753, available: 916673Ki.\n',
    'job_killed',
    /kubectl describe pod embedder-x/,
  ],
  [
    'a driver in a bad state: first the module for CUDA',
    'time=2026-02-01 level=INFO source=gpu.go:630 msg="Unable to load cudart library" error="cudart init failure: 999"\n',
    'gpu_not_visible',
    /^[^]*sudo rmmod nvidia_uvm[^]*works on the host/,
  ],
  [
    'a job of Slurm that was given no GPU',
    "srun: job 88 has been allocated resources\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n",
    'gpu_not_visible',
    /^No GPU in the job\n(?![^]*modprobe)[^]*sbatch --gpus=1/,
  ],
  [
    'a kernel of AITER, by its readable name',
    ':0:rocdevice.cpp            :3006: 5123 us:  Callback: Queue 0x7f aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016\nKernel Name: _ZN5aiter12fmha_fwd_v3bEv\n',
    'illegal_memory_access',
    /aiter::fmha_fwd_v3b raised an exception[^]*The kernel is of AITER/,
  ],
  [
    'a GPU that is newer than the libraries of CUDA',
    'RTX 5090, CUDA 11.8\nRuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle, opa, opb, m, n, k)`\n',
    'cublas_cudnn_error',
    /RTX 5090\) is newer than CUDA 11\.8[^]*CUDA 12\.8 or newer/,
  ],
  [
    'an image that the node has no room to unpack',
    'Failed to pull image "nvcr.io/nvidia/pytorch:24.05-py3": failed to register layer: write /usr/lib/x.so: no space left on device\n',
    'disk_full',
    /could not unpack an image layer of nvcr\.io\/nvidia\/pytorch:24\.05-py3/,
  ],
  [
    "the limits of Karpenter's NodePool",
    '  Warning  FailedScheduling  2m  default-scheduler  0/2 nodes are available: 2 Insufficient nvidia.com/gpu.\n  Warning  FailedScheduling  1m  karpenter  Failed to schedule pod, all available instance types exceed limits for nodepool "gpu"\n',
    'gpu_unschedulable',
    /limits of its NodePool gpu are reached[^]*kubectl get nodepool gpu -o yaml/,
  ],
  [
    'an autoscaler at its largest size',
    "  Normal   NotTriggerScaleUp  1m  cluster-autoscaler  pod didn't trigger scale-up: 1 max node group size reached, 2 in backoff after failed scale-up\n",
    'gpu_unschedulable',
    /1 node group is at its largest size; for 2 node groups the provider just refused a node[^]*quota/,
  ],
  [
    'a page fault of an AMD card before Vega',
    'amdgpu 0000:09:00.0: amdgpu: GPU fault detected: 146 0x0000480c for process blender pid 900 thread blender:cs0 pid 911\n',
    'gpu_page_fault',
    /blender \(pid 900\) accessed an invalid address on the GPU at 0000:09:00\.0/,
  ],
  [
    'Podman with a runtime that it does not need',
    'Error: requested OCI runtime "nvidia" not found: invalid argument\n',
    'gpu_not_visible',
    /^(?![^]*systemctl restart docker)[^]*Podman needs no runtime for GPUs[^]*podman run --device nvidia\.com\/gpu=all/,
  ],
  [
    'a hook of the CDI description',
    'Error: crun: {"msg":"error executing hook `/usr/bin/nvidia-cdi-hook` (exit code: 127)","level":"error"}\n',
    'gpu_not_visible',
    /^(?![^]*needs no hook)[^]*hook of the CDI description \(nvidia-cdi-hook\) failed[^]*nvidia-ctk cdi generate/,
  ],
  ['what cuInit answered', '[bench] cuInit(0) returned 3\n', 'gpu_not_visible', /CUDA could not be started \(error 3\)/],
  [
    'the cache that all users of a host share',
    "PermissionError: [Errno 13] Permission denied: '/scratch/triton/5fe1.lock'\n",
    'cache_permission',
    /cache of compiled kernels \/scratch\/triton[^]*TRITON_CACHE_DIR=/,
  ],
  [
    'the line of the own program at which a kernel was found to have failed',
    'CUDA error at src/solve.cu:88 code=700(cudaErrorIllegalAddress) "cudaMemcpy(h, d, n)"\n',
    'illegal_memory_access',
    /the call at solve\.cu:88 is often not the one at fault/,
  ],
] as const)('%s', (_about, text, kind, expected) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(expected)
})
