// The common kinds as other years and places print them: drivers, libraries, containers, clusters, and the lines of the kernel.
import { rows } from './advice-rows.ts'

const LOST = 'NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, GPU has fallen off the bus.'

rows('drivers and libraries', [
  [
    "Lua's Torch, and the driver by the name of its library",
    'THCudaCheck FAIL file=/home/me/torch/extra/cutorch/lib/THC/THCGeneral.c line=70 error=35 : CUDA driver version is insufficient for CUDA runtime version\n/home/me/torch/install/bin/luajit: /home/me/torch/install/share/lua/5.1/trepl/init.lua:389: loop\n$ ldconfig -p | grep libcud\nlibcudart.so.9.1 (libc6,x86-64) => /opt/cuda/lib64/libcudart.so.9.1\n$ ls -l /usr/lib/libcuda.so.1\n/usr/lib/libcuda.so.1 -> libcuda.so.384.59',
    /384\.59[^]*to release \d{3} or newer, for CUDA 9\.1/,
    /PyTorch/,
  ],
  [
    'packages that were updated by themselves',
    'Failed to initialize NVML: Driver/library version mismatch\n$ tail -4 /var/log/apt/history.log\nCommandline: /usr/bin/unattended-upgrade\nUpgrade: libnvidia-compute-535:amd64 (535.10-0ubuntu1, 535.20-0ubuntu1)',
    /by unattended-upgrades/,
  ],
  [
    'a driver that was installed in WSL by hand',
    '# apt install nvidia-utils-535\n# nvidia-smi\nFailed to initialize NVML: GPU access blocked by the operating system',
    /Remove nvidia-utils-535 from the distribution/,
  ],
  [
    'a TensorFlow for a CUDA that is not the installed one',
    'Traceback (most recent call last):\n  File "/env/lib/python3.6/site-packages/tensorflow/python/pywrap_tensorflow.py", line 58, in <module>\nImportError: libcublas.so.9.0: cannot open shared object file: No such file or directory\n$ cat /usr/local/cuda/version.txt\nCUDA Version 10.1.168',
    /CUDA 10\.1 is what is installed here[^]*built for CUDA 9\.0[^]*2\.1 to 2\.3/,
  ],
  [
    'who was linked with a library',
    'Traceback (most recent call last):\n  File "/env/lib/python3.7/site-packages/torch_cluster/knn.py", line 3, in <module>\n    import torch_cluster.knn_cuda\nImportError: libcusparse.so.10.0: cannot open shared object file: No such file or directory',
    /torch_cluster was linked with it/,
  ],
  [
    'bitsandbytes, in whose source nothing was compiled',
    'Could not find the bitsandbytes CUDA binary at PosixPath(\'/work/bitsandbytes/bitsandbytes/libbitsandbytes_cuda124.so\')\nCould not load bitsandbytes native library: /work/bitsandbytes/bitsandbytes/libbitsandbytes_cpu.so: cannot open shared object file: No such file or directory\nTraceback (most recent call last):\n  File "/work/bitsandbytes/bitsandbytes/cextension.py", line 85, in <module>\n    lib = get_native_library()',
    /ompile[^]*cmake/,
  ],
])

rows('containers and clusters', [
  [
    "the host's ldconfig",
    'docker: Error response from daemon: OCI runtime create failed: container_linux.go:349: starting container process caused "process_linux.go:449: container init caused \\"process_linux.go:432: running prestart hook 0 caused \\\\\\"error running hook: exit status 1, stdout: , stderr: nvidia-container-cli: ldcache error: process /sbin/ldconfig failed with error code: 127\\\\\\\\n\\\\\\"\\"": unknown.',
    /runs the host's ldconfig for the container, and that failed[^]*@\/sbin\/ldconfig\.real/,
  ],
  [
    'a device file without a GPU',
    '3m  Warning  Failed  Error: failed to create containerd task: OCI runtime create failed:\n  nvidia-container-cli: mount error: file creation failed:\n  /run/containerd/io.containerd.runtime.v2.task/k8s.io/abcd/rootfs/dev/nvidia1: no such device or address',
    /has no GPU behind it[^]*nvidia-smi -L/,
    /modprobe/,
  ],
  [
    'a container that has just been started',
    'me@node7:~$ docker run -it --gpus=all ubuntu:22.04\nroot@0123456789ab:/# nvidia-smi\nFailed to initialize NVML: Unknown Error',
    /just started: it was not given the right[^]*no-cgroups/,
    /lost access/,
  ],
  [
    'a node of Slurm without the toolkit',
    'slurmstepd: error: pyxis: container start failed with error code: 1\nslurmstepd: error: pyxis: printing enroot log file:\nslurmstepd: error: pyxis:     /etc/enroot/hooks.d/98-nvidia.sh: line 52: nvidia-container-cli: command not found\nslurmstepd: error: pyxis:     [ERROR] /etc/enroot/hooks.d/98-nvidia.sh exited with return code 127',
    /NVIDIA_VISIBLE_DEVICES=void/,
  ],
  [
    'a plugin that is not registered',
    'E0102 03:04:05.000000    7 pod_workers.go:186] Error syncing pod 0a1b ("fit_default(0a1b)"), skipping: failed to "StartContainer" for "fit" with CreateContainerConfigError: "endpoint not found in cache for a registered resource: nvidia.com/gpu"',
    /knows nvidia\.com\/gpu from before[^]*device-plugin[^]*kubectl delete pod/,
    /docker/,
  ],
])

rows('between GPUs and ranks', [
  ['which GPU had no memory for NCCL', "node3:88:90 [5] include/alloc.h:99 NCCL WARN Cuda failure 'out of memory'", /on GPU 5 of node3/],
  [
    'InfiniBand that is not there',
    'NCCL WARN NET/IB : No device found\nNCCL WARN Failed to open IB device',
    /found no InfiniBand or RoCE device[^]*ibv_devinfo[^]*NCCL_IB_DISABLE=1/,
  ],
  [
    'a rank that others waited for',
    '[rank1]:   File "/work/tune.py", line 700, in save_checkpoint\n[rank1]:     torch.distributed.barrier()\n[rank1]:   File "/env/lib/python3.10/site-packages/torch/distributed/distributed_c10d.py", line 4500, in barrier\n[rank1]:     work.wait()\n[rank1]: RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 600000ms for recv operation to complete',
    /waited in vain[^]*10 minutes in save_checkpoint[^]*writes the checkpoint[^]*longer timeout/,
    /could not keep|NCCL_|nc -zv/,
  ],
  [
    'what a stream says within itself',
    'Traceback (most recent call last):\n  File "/env/lib/python3.10/site-packages/anyio/streams/memory.py", line 98, in receive\n    return self.receive_nowait()\n  File "/env/lib/python3.10/site-packages/anyio/streams/memory.py", line 93, in receive_nowait\n    raise WouldBlock\nanyio.WouldBlock\nRuntimeError: CUDA error: an illegal memory access was encountered',
    /Illegal memory access/,
    /WouldBlock/,
  ],
])

rows('the kernel', [
  [
    'a slot that lost its link first',
    `pcieport 0000:00:1d.0: pciehp: Slot(7): Link Down\n${LOST}\nnvidia 0000:3b:00.0: Unable to change power state from D3cold to D0, device inaccessible`,
    /link of slot 7 down: the card lost its power or its contact/,
    /runtime power|D3/,
  ],
  ['the name that NVIDIA has for Xid 32', 'NVRM: Xid (PCI:0000:3b:00): 32, Channel ID 00000003 intr 00041000', /corrupted push buffer/],
])
