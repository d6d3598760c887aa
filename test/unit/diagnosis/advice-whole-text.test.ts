// Advice that follows from what is beside the message: greetings of images, sizes, versions, who built what. Texts written for this test.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { answer } from './answer.ts'

const requirement = (condition: string): string => `nvidia-container-cli: requirement error: unsatisfied ${condition}, please update your driver\n`
const kernel = (lines: string): string => `${lines}\n[ 9.1] NVRM: GPU 0000:0a:00.0: RmInitAdapter failed! (0x22:0x56:894)\n`
const trainer = (message: string, before = ''): string =>
  `${before}Traceback (most recent call last):\n  File "/w/train.py", line 7, in <module>\n    import lab_ops\n  File "/v/lib/python3.11/site-packages/lab_ops/__init__.py", line 2, in <module>\n    from lab_ops import _C\nImportError: ${message}: cannot open shared object file: No such file or directory\n`

test.each<readonly [name: string, text: string, kind: string, says: RegExp, never: RegExp]>([
  [
    "the greeting of NVIDIA's image, under Compose",
    'web-1 | ERROR: This container was built for NVIDIA Driver Release 570.86 or later, but\nweb-1 |        version 535.129.03 was detected and compatibility mode is UNAVAILABLE.\nweb-1 |        [[CUDA Driver UNAVAILABLE (cuInit(0) returned 803)]]\n',
    'cuda_version_mismatch',
    /^Driver too old for this image\n[^\n]*driver 570\.86 or newer, and the host has 535\.129\.03[^]*Update the NVIDIA driver/,
    /kernel driver|pip/,
  ],
  [
    'an image that has no code for the GPU',
    'WARNING: Detected NVIDIA GeForce GTX 980 GPU, which is not supported by this container\nERROR: No supported GPU(s) detected to run this container\n',
    'cuda_version_mismatch',
    /no code for the GeForce GTX 980/,
    /Update the NVIDIA driver/,
  ],
  [
    "TensorFlow's check of libcuda against the module",
    'E tensorflow/compiler/xla/cuda/cuda_diagnostics.cc:312] kernel version 550.120.0 does not match DSO version 560.35.5 -- cannot find working devices in this configuration\n',
    'nvml_driver_mismatch',
    /libraries are 560\.35\.5, the loaded kernel module is 550\.120\.0[^]*Reboot/,
    /--gpus all/,
  ],
  [
    'a condition on the driver itself',
    requirement('condition: driver >= 410'),
    'cuda_version_mismatch',
    /driver of the host to release 410 or newer/,
    / {3}410/,
  ],
  [
    'a condition that the terminal cut, on Windows',
    `PS C:\\w> docker run --gpus all lab/image\n${requirement('condi\ntion: cuda>=12.8')}`,
    'cuda_version_mismatch',
    /driver of Windows, which containers there use too, to one that gives CUDA 12\.8/,
    /driver of the host/,
  ],
  [
    "a library of PyTorch's own, of a split build",
    trainer('libtorch_cuda_cu.so'),
    'cuda_library_missing',
    /part of PyTorch[^]*Build lab_ops again[^]*--no-build-isolation lab-ops[^]*up to 1\.13/,
    /NVIDIA's CUDA|ldconfig/,
  ],
  [
    'the same that holds no CUDA',
    trainer('libtorch.so'),
    'missing_dependency',
    /It is part of PyTorch[^]*Build lab_ops again/,
    /apt-file|not installed where the job runs/,
  ],
  [
    'the same of a program in C++',
    './infer: error while loading shared libraries: libc10.so: cannot open shared object file: No such file or directory\n',
    'missing_dependency',
    /<LIBTORCH>\/lib/,
    /apt-file|pip/,
  ],
  [
    'a GPU that the driver cannot attach',
    kernel('[ 9.0] NVRM: osInitNvMapping: *** Cannot attach gpu'),
    'gpu_lost',
    /could not attach the GPU[^]*poweroff/,
    /sudo reboot/,
  ],
  [
    'a GPU in a guest',
    kernel('[ 8.0] Hardware name: QEMU Standard PC (Q35 + ICH9, 2009), BIOS 1.16'),
    'gpu_lost',
    /in a virtual machine[^]*vfio-pci[^]*Power the guest off and on/,
    /reseat/,
  ],
  [
    'a tensor above all that the allocator may use',
    'I bfc_allocator.cc:1] Stats:\nLimit:                  3157432729\nInUse:                        9984\nOOM when allocating tensor with shape[1474944849] and type int32 on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc\n  File "fit.py", line 8, in <module>\n    model.fit(x)\n',
    'cuda_oom',
    /more than the 2\.94 GiB which its allocator may use in all[^]*compute it in pieces/,
    /nvidia-smi|ALLOW_GROWTH/,
  ],
  [
    'a quota that counts files',
    'pip install -r requirements.txt\nOSError: [Errno 122] Disk quota exceeded\nThe home folder has a quota of files: 100k inodes.\n',
    'disk_full',
    /du --inodes[^]*PIP_CACHE_DIR=<SCRATCH>\/pip TMPDIR/,
    /HF_HOME/,
  ],
  [
    "Ollama's own estimate, beside the peak of its unit",
    'time=x level=INFO source=server.go:135 msg="system memory" total="62.6 GiB" free="59.1 GiB" free_swap="0 B"\ntime=x level=INFO source=server.go:168 msg=offload memory.required.full="172.7 GiB" memory.required.partial="10.9 GiB"\nsystemd[1]: ollama.service: Failed with result \'oom-kill\'.\nsystemd[1]: ollama.service: Consumed 3.2s CPU time, 61.5G memory peak.\n',
    'host_oom_kill',
    /61\.5 GiB at its peak[^]*172\.70 GiB for the whole model, of which 10\.90 GiB[^]*59\.10 GiB free/,
    /cannot happen/,
  ],
  [
    'the node of a worker of Ray',
    '(raylet) A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, check the logs for the dead worker. Worker IP address: 10.0.9.8 Worker port: 10015 Worker PID: 153 Worker exit type: SYSTEM_ERROR\n',
    'worker_died',
    /on the node of that worker \(10\.0\.9\.8\)/,
    /num_workers/,
  ],
  [
    "JAX's plugin that fails for a reason of its own",
    'ERROR:jax._src.xla_bridge:473: Jax plugin configuration error: Exception when calling jax_plugins.xla_cuda13.initialize()\nTraceback (most recent call last):\n  File "/v/jax/_src/xla_bridge.py", line 471, in discover_pjrt_plugins\nRuntimeError: the table of devices is empty\n',
    'gpu_not_visible',
    /The plugin xla_cuda13[^]*"the table of devices is empty"[^]*jax\[cuda13\]/,
    /CUDA-enabled jaxlib/,
  ],
  [
    'a launch that waits already',
    'export CUDA_LAUNCH_BLOCKING=1\npython train.py\n  File "/w/train.py", line 40, in <module>\nRuntimeError: CUDA error: an illegal memory access was encountered\n',
    'illegal_memory_access',
    /compute-sanitizer/,
    /\$ export CUDA_LAUNCH_BLOCKING/,
  ],
  [
    'CTranslate2 without code for the GPU',
    'RuntimeError: CUDA failed with error no kernel image is available for execution on the device\n',
    'cuda_version_mismatch',
    /Update CTranslate2/,
    /pytorch\.org/,
  ],
  [
    'cuBLAS on a GPU that is newer than PyTorch',
    'GPU: NVIDIA GeForce RTX 4090, torch==1.4.0+cu101\nRuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm( handle, opa, opb, m, n, k)`\n',
    'cublas_cudnn_error',
    /RTX 4090\) is newer than PyTorch 1\.4\.0[^]*PyTorch 1\.7 or newer/,
    /smaller batch/,
  ],
  [
    'two cuDNN, with the versions of both',
    'RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (9, 10, 2) but found runtime version (9, 1, 0).\n',
    'python_exception',
    /Take the other cuDNN out of the way/,
    /smaller/,
  ],
  [
    'one buffer above the limit of Vulkan, for computing',
    'llama-server -m m.gguf -ngl 99 -ub 2048\nggml_vulkan: Device memory allocation of size 5033164800 failed.\nggml_vulkan: Requested buffer size exceeds device buffer size limit: ErrorOutOfDeviceMemory\nggml_gallocr_reserve_n: failed to allocate Vulkan0 buffer of size 5033164800\n',
    'cuda_oom',
    /--ubatch-size 1024/,
    /token_embd/,
  ],
  [
    'ZeRO-3 whose modules ran in another order',
    'Invalidate trace cache @ step 1: expected module 25, but got module 323\n[E ProcessGroupNCCL.cpp:467] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=21, OpType=_ALLGATHER_BASE, NumelIn=9, NumelOut=72, Timeout(ms)=1800000) ran for 1800001 milliseconds before timing out.\n',
    'nccl_error',
    /module 323 for 25[^]*set_z3_leaf_modules/,
    /SOCKET_IFNAME/,
  ],
  [
    'a model of Triton for a GPU that is not there',
    "| plan | 1 | UNAVAILABLE: Invalid argument: unable to load model 'plan', TensorRT backend supports only GPU device |\n",
    'config_error',
    /instance_group says KIND_CPU/,
    /Correct what the message names/,
  ],
  [
    'a page fault of a process whose name is lost',
    'amdgpu 0000:83:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:88 vmid:6 pasid:32809, for process  pid 1641209 thread solver:cs0 pid 1642246)\n',
    'gpu_page_fault',
    /solver \(pid 1641209\)/,
    /A program/,
  ],
  [
    'a reset after which the rings do not answer',
    'amdgpu 0000:03:00.0: GPU reset succeeded, trying to resume\n[drm:amdgpu_device_gpu_recover [amdgpu]] *ERROR* VRAM is lost!\n[drm:gfx_v9_0_ring_test_ring [amdgpu]] *ERROR* amdgpu: ring 1 test failed (scratch(0xC040)=0xCAFEDEAD)\n',
    'gpu_reset',
    /0000:03:00\.0[^]*ring 1 did not answer the test[^]*sudo reboot/,
    /its driver reset it/,
  ],
  [
    'which memory an uncorrectable error was in',
    "NVRM: Xid (PCI:0000:07:00): 48, pid='<unknown>', name=<unknown>, An uncorrectable double bit error (DBE) has been detected on GPU\n",
    'xid',
    /nvidia-smi -q -i 0000:07:00\.0 -d ROW_REMAPPER/,
    /rocm-smi/,
  ],
  [
    'a library of another CUDA that is there',
    'panicked at src/main.rs:6:8: Failed to load library /w/libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open shared object file: No such file or directory\n/usr/local/cuda-13.1/targets/x86_64-linux/lib/libcublasLt.so.13\n',
    'cuda_library_missing',
    /libcublasLt\.so\.13, of CUDA 13: what loads libcublasLt\.so\.12 was built for CUDA 12/,
    /pip install/,
  ],
  [
    'a transfer that failed beside a port that went down',
    'n1:2:3 [2] NCCL WARN NET/IB : mlx5_3:1 Got async event : port error\nn1:2:4 [2] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.3.0.61<39430> with error 12, opcode 129, len 0, vendor err 129 (Recv)\n',
    'nccl_error',
    /Port 1 of mlx5_3 reported an error here too[^]*ibstat mlx5_3/,
    /SOCKET_IFNAME/,
  ],
  [
    'weights that PaddlePaddle reads onto the GPU',
    '  File "run.py", line 25, in <module>\n    state = paddle.load(path)\nOut of memory error on GPU 0. Cannot allocate 50.000000MB memory on GPU 0, 11.999512GB memory has been allocated and available memory is only 0.000000B.\n',
    'cuda_oom',
    /return_numpy=True/,
    /smaller batch/,
  ],
  [
    'a block of an old PaddlePaddle',
    'paddle.fluid.core.EnforceNotMet: enforce allocating <= available failed, 10513462067 > 1369702144\n',
    'cuda_oom',
    /9\.79 GiB on the GPU; 1\.28 GiB was free/,
    /PYTORCH/,
  ],
  [
    'arrays that Julia still holds',
    'ERROR: LoadError: CUDA error: out of memory (code #2, ERROR_OUT_OF_MEMORY)\n [1] alloc at /h/.julia/packages/CUDAdrv/LC5XS/src/memory.jl:161\n',
    'cuda_oom',
    /CUDA\.unsafe_free!/,
    /PYTORCH/,
  ],
  [
    'a container of Singularity without nvidia-smi',
    '$ singularity exec --nv lab.sif nvidia-smi\n/.singularity.d/actions/exec: line 9: exec: nvidia-smi: not found\n',
    'gpu_not_visible',
    /the host has no driver, or keeps it in a folder of its own[^]*nvliblist\.conf/,
    /docker|dkms/,
  ],
  [
    'older words of Singularity for a host without a driver',
    'WARNING: Could not find any NVIDIA libraries on this host!\n',
    'gpu_not_visible',
    /started with --nv[^]*ldconfig -p/,
    /docker/,
  ],
  [
    'a number of the driver, of a GPU that is not there',
    "Cuda driver error 100 in call at file 'nvd_device.h' in line 33.\n",
    'gpu_not_visible',
    /GPU/,
    /pip install/,
  ],
  ['the same of a bad address', "Cuda driver error 700 in call at file 'nvd_device.h' in line 33.\n", 'illegal_memory_access', /by its number/, /pip install/],
  ['the same of no memory', "Cuda driver error 2 in call at file 'nvd_device.h' in line 33.\n", 'cuda_oom', /Out of GPU memory/, /pip install/],
  [
    'the same of a compatibility library',
    "Cuda driver error 804 in call at file 'nvd_device.h' in line 33.\n",
    'cuda_version_mismatch',
    /cuda-compat/,
    /pip install/,
  ],
  ["atoms that do not fit LAMMPS's GPU", 'ERROR: Insufficient memory on accelerator (src/GPU/gpu_extra.h:38)\n', 'cuda_oom', /neigh no/, /PYTORCH/],
])('%s', (_, text, kind, says, never) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(says)
  expect(said.all).not.toMatch(never)
})

test('three processes that one limit killed are one fault', () => {
  const killed = (pid: number): string =>
    `Memory cgroup out of memory: Killed process ${pid} (pt_data_worker) total-vm:9000kB, anon-rss:1048576kB, file-rss:0kB`
  const faults = explainText(logScanner(), `${[31, 32, 33].map(killed).join('\n')}\n`)
  expect(faults.map((fault) => fault.kind)).toEqual(['host_oom_kill'])
  expect(faults[0]?.verdict).toContain('It killed 2 more: pt_data_worker (pid 32), pt_data_worker (pid 33).')
})
