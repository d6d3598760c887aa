// Who printed the line of a fault, what is shown beside it, and memory that GPU and CPU share by its size.
import { rows } from './advice-rows.ts'

rows('the host of the line', [
  [
    'in the head of a line of the kernel',
    'Feb 11 03:12:07 gpu-r4-02 kernel: [ 518.050606] Out of memory: Killed process 4711 (python3) total-vm:91196412kB, anon-rss:64288120kB, file-rss:3028kB, shmem-rss:0kB',
    /pid 4711[^]*Host gpu-r4-02 logged it\./,
  ],
  [
    'behind the file that grep names',
    '/var/log/kern.log:Feb 11 03:12:07 lab-box kernel: [ 1683.797227] Memory cgroup out of memory: Killed process 815 (feeder) total-vm:1211812kB, anon-rss:205140kB, file-rss:872kB, shmem-rss:0kB, UID:1000 pgtables:524kB oom_score_adj:0',
    /Host lab-box logged it\./,
  ],
  [
    'with a date in the form of ISO, where the text has lines of two',
    '2027-02-11T03:11:00-0400 node-a1 kernel: usb 1-1: new high-speed USB device\n2027-02-11T03:12:07-0400 node-c7 kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=0, GPU has fallen off the bus.',
    /Host node-c7 logged it\./,
  ],
  [
    'at the head of a line of NCCL',
    'gpu-r4-09:51230:51402 [2] NCCL WARN NET/IB : Got completion from peer 172.16.7.24<41035> with error 12, opcode 0, len 0, vendor err 129',
    /172\.16\.7\.24[^]*Host gpu-r4-09 logged it\./,
  ],
  [
    'not twice',
    'Feb 11 03:12:07 gpu07 kernel: NVRM: GPU 0000:09:00.0: RmInitAdapter failed! (0x22:0x56:894)\nFeb 11 03:12:07 gpu07 kernel: NVRM: GPU 0000:09:00.0: rm_init_adapter failed, device minor number 0',
    /the host gpu07/,
    /Host \S+ logged it/,
  ],
  [
    'not a word that stands for any',
    'Feb 11 03:12:07 localhost kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=0, GPU has fallen off the bus.',
    /Xid 79/,
    /Host \S+ logged it/,
  ],
])

rows('the rank of the line', [
  [
    'of a watchdog that passes on what a kernel did',
    '  what():  [PG ID 2 PG GUID 3 Rank 5] Process group watchdog thread terminated with exception: CUDA error: an illegal memory access was encountered',
    /Illegal memory access[^]*Rank 5 reported it\./,
  ],
])

rows('what is shown beside a fault', [
  [
    "the driver's package and the loaded module",
    '$ nvidia-smi\nFailed to initialize NVML: Driver/library version mismatch\n$ cat /proc/driver/nvidia/version\nNVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Thu Jan 23 06:04:47 UTC 2025\n$ dpkg -l | grep nvidia-driver-570\nii  nvidia-driver-570   570.124.06-0ubuntu1   amd64   NVIDIA driver metapackage',
    /libraries are 570\.124\.06, the loaded kernel module is 570\.86\.15/,
    /cat \/proc\/driver\/nvidia\/version/,
  ],
  [
    'the sizes that the hub client prints below its error',
    'RuntimeError: Data processing error: CAS service error : IO Error: No space left on device (os error 28)\nUserWarning: Not enough free disk space to download the file. The expected file size is: 4974.35 MB. The target location /data/hf/hub/models--lab--large/blobs only has 812.06 MB free disk space.',
    /needs 4974\.35 MB, and \/data\/hf\/hub\/models--lab--large\/blobs has only 812\.06 MB free/,
  ],
  [
    'the image that was pulled',
    '1.4-gpu: Pulling from lab/segmenter\n5616e23b2d3c: Extracting [=====>]  12.31GB/12.31GB\nfailed to register layer: Error processing tar file(exit status 1): write /opt/env/lib/libtorch_cuda.so: no space left on device',
    /image layer of lab\/segmenter:1\.4-gpu/,
  ],
  [
    'the pod that waits, in a table with tabs',
    'NAME\t\t\tREADY\tSTATUS\tRESTARTS\tAGE\nsegment-gpu-0\t0/1\tPending\t0\t\t15m\nWarning  FailedScheduling  15m (x12 over 15m)  default-scheduler  0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: 0/4 nodes are available: 4 No preemption victims found for incoming pod.',
    /cannot place pod segment-gpu-0:[^]*kubectl describe pod segment-gpu-0/,
  ],
  [
    'no pod where several wait',
    'NAME READY STATUS RESTARTS AGE\nsegment-gpu-0 0/1 Pending 0 15m\nsegment-gpu-1 0/1 Pending 0 15m\nWarning  FailedScheduling  15m  default-scheduler  0/4 nodes are available: 4 Insufficient nvidia.com/gpu.',
    /cannot place the pod:/,
  ],
  [
    "the connection that NCCL's helper could not make",
    'gpu-a:39964:40075 [0] misc/socket.cc:483 NCCL WARN socketStartConnect: Connect to 10.0.7.2<45763> failed : Software caused connection abort\ngpu-a:39964:40075 [0] NCCL INFO misc/socket.cc:564 -> 2\ngpu-a:39964:40075 [0] proxy.cc:1519 NCCL WARN [Proxy Service 0] Failed to execute operation Connect from rank 0, retcode 2',
    /could not connect to 10\.0\.7\.2: software caused connection abort\./,
  ],
  [
    'the neighbour that holds most',
    'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 86.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 264.00 MiB is free. Process 20862 has 419.48 MiB memory in use. Including non-PyTorch memory, this process has 8.04 GiB memory in use. Process 27973 has 14.85 GiB memory in use. Of the allocated memory 7.63 GiB is allocated by PyTorch, and 40.11 MiB is reserved by PyTorch but unallocated.',
    /2 other processes \(20862, 27973\) hold 15\.26 GiB[^.]*\.64 GiB on the same GPU, most of it process 27973 \(14\.85 GiB\)/,
  ],
  [
    'a mirror of the hub',
    'huggingface_hub.errors.HfHubHTTPError: 429 Client Error: Too Many Requests for url: https://hf-mirror.com/lab-org/small-embedder/resolve/main/config.json',
    /Download lab-org\/small-embedder once/,
  ],
])

rows('memory at the start of vLLM', [
  [
    'on an Intel GPU, over two lines',
    'ValueError: Free memory on device xpu:1 (18.79/28.57 GiB) on startup\nis less than desired GPU memory utilization (0.7, 20.0 GiB).',
    /wants 20\.00 GiB of the card's 28\.57 GiB[^]*only 18\.79 GiB[^]*--gpu-memory-utilization 0\.65/,
  ],
  [
    'of a size that only shared memory has',
    'ValueError: Free memory on device cuda:0 (2.6/121.63 GiB) on startup is less than desired GPU memory utilization (0.08, 9.73 GiB)',
    /which GPU and CPU share[^]*drop that cache/,
    /another process holds the rest/,
  ],
])

rows('a GPU without its VBIOS', [
  [
    'which the driver could not read',
    'Feb 11 03:12:07 lab-box kernel: NVRM: failed to copy vbios to system memory.\nFeb 11 03:12:07 lab-box kernel: NVRM: RmInitAdapter failed! (0x30:0xffffffff:720)\nFeb 11 03:12:07 lab-box kernel: NVRM: rm_init_adapter failed for device bearing minor number 0',
    /could not read the GPU's VBIOS[^]*BIOS[^]*romfile=/,
    /reseat/,
  ],
])
