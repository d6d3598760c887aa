// What hosts, engines and hubs refuse: advice that follows from what the text itself shows, written for this test.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const nccl = (words: string): string => `node3:812:990 [2] NCCL WARN ${words}\nnode3:812:990 [2] NCCL INFO transport/p2p.cc:41 -> 1\n`
const asserted = 'RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at "/p/c10/cuda/CUDACachingAllocator.cpp":1016, please report a bug to PyTorch.\n'
const unknown = '$ nvidia-smi\nFailed to initialize NVML: Unknown Error\n'

test.each<readonly [name: string, text: string, kind: string, says: RegExp, never: RegExp]>([
  [
    'NCCL names the call that found no locked memory',
    nccl('Call to ibv_create_cq failed with error Cannot allocate memory'),
    'nccl_error',
    /ibv_create_cq/,
    /shm-size/,
  ],
  [
    'a GPU that cannot reach another',
    nccl('failed to peer with device 1(=4000): 711 peer mapping resources exhausted'),
    'nccl_error',
    /NCCL_P2P_DISABLE=1/,
    /SOCKET/,
  ],
  ['a libnccl without code for the GPU', nccl("Cuda failure 'named symbol not found'"), 'nccl_error', /built for other architectures/, /LAUNCH_BLOCKING/],
  [
    'EFA without locked memory',
    nccl('NET/OFI Unable to register memory (type = 2) for device 1. RC: -12, Error: Cannot allocate memory'),
    'nccl_error',
    /ulimit -l/,
    /fi_info/,
  ],
  ['any other warning', nccl('the thing failed'), 'nccl_error', /first error of any rank/, /shm-size/],
  [
    'a layer that containerd unpacks',
    'failed to extract layer sha256:aa: write /var/lib/containerd/x/fs/usr/lib/libx.so: no space left on device: unknown\n',
    'disk_full',
    /df -h \/var\/lib\/containerd/,
    /docker/i,
  ],
  [
    'a layer that K3s unpacks',
    'Failed to pull image "docker.io/acme/serve": failed to extract layer sha256:aa: mount callback failed on /var/lib/rancher/k3s/agent/containerd/tmpmounts/m1: write /var/lib/rancher/k3s/agent/containerd/tmpmounts/m1/x: no space left on device\n',
    'disk_full',
    /--data-dir/,
    /docker image prune/,
  ],
  [
    'a layer that Podman unpacks',
    'Error: writing blob: adding layer with blob "sha256:aa": processing tar file(write /opt/x.so: no space left on device): exit status 1\n',
    'disk_full',
    /podman system df/,
    /docker/i,
  ],
  ['the file over the quota', "OSError: [Errno 122] Disk quota exceeded: 'out/step_9.pt'\n", 'disk_full', /out\/step_9\.pt/, /docker/],
  [
    'a pod over its own limit',
    'Warning  Evicted  2m  kubelet  Container tune exceeded its local ephemeral storage limit "20Gi".\n',
    'job_killed',
    /of tune \(now 20Gi\)/,
    /node ran low/,
  ],
  [
    'a pod over the limit of all containers',
    'Warning  Evicted  2m  kubelet  Pod ephemeral local storage usage exceeds the total limit of containers 30Gi.\n',
    'job_killed',
    /30Gi/,
    /node ran low/,
  ],
  [
    "Ray's object store",
    'ValueError: The configured object store size (20.0 GB) exceeds /dev/shm size (9.5 GB). Increase its size with --shm-size in Docker.\n',
    'shm_exhausted',
    /--shm-size=22g/,
    /workers/,
  ],
  [
    'Ray on a disk',
    "WARNING: The object store is using /tmp instead of /dev/shm because /dev/shm has only 67108864 bytes available. Pass '--shm-size=9.2gb' to 'docker run'.\n",
    'shm_exhausted',
    /--shm-size=10g/,
    /workers/,
  ],
  [
    'commits by the hour',
    "429 Too Many Requests: you have reached your 'api' rate limit.\nRetry after 90 seconds (910/1000 requests remaining in current 300s window).\nUrl: https://huggingface.co/api/datasets/acme/clips/commit/main.\nYou have exceeded the rate limit for repository commits (128 per hour).\n",
    'hub_rate_limited',
    /128 commits/,
    /Wait 90 s|HF_HUB_OFFLINE/,
  ],
  [
    'the quota of an account',
    'batch response: We had to rate limit you, you hit the quota of 1000 api requests per 5 minutes period. See https://huggingface.co/docs/hub/rate-limits\n',
    'hub_rate_limited',
    /1000 api requests/,
    /Log in|docs\/hub|OFFLINE/,
  ],
  ['the assert of a training', `  File "train.py", line 7, in main\n    loss.backward()\n${asserted}`, 'nvml_allocator_assert', /batch/, /bug/],
  ['the assert on MIG', `MIG mode is enabled\n${asserted}`, 'nvml_allocator_assert', /privileged/, /DRIVER_CAPABILITIES/],
  [
    'an NVML that works on the host',
    `${unknown}$ exit\n$ nvidia-smi -L\nGPU 0: NVIDIA L4 (UUID: GPU-11111111-2222-3333-4444-555555555555)\n`,
    'nvml_unknown_error',
    /Restart the container/,
    /on the host/,
  ],
  ['an NVML of which no more is known', unknown, 'nvml_unknown_error', /works on the host/, /answers elsewhere/],
  [
    'a module for the kernel before',
    "nvidia: version magic '6.1.0-200.fc38.x86_64 SMP' should be '6.2.0-300.fc38.x86_64 SMP'\n",
    'driver_not_loaded',
    /akmods/,
    /dkms autoinstall/,
  ],
  [
    'a kernel without a module',
    'modprobe: FATAL: Module nvidia not found.\n$ uname -a\nLinux n1 5.4.0-99-generic #1 SMP x86_64\n',
    'gpu_not_visible',
    /kernel 5\.4\.0-99-generic/,
    /NVIDIA_VISIBLE/,
  ],
  [
    'a shared tensor that cannot be opened',
    'RuntimeError: unable to open shared memory object </torch_9_8> in read-write mode\n',
    'fd_limit',
    /file_system/,
    /ls -la/,
  ],
  [
    'a damaged file on Windows',
    'File "C:\\x\\torch\\serialization.py", line 7, in load\nRuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory\n',
    'checkpoint_mismatch',
    /delete/,
    /ls -lL|hf download/,
  ],
  ['a cache folder of all programs', "PermissionError: [Errno 13] Permission denied: '/.cache'\n", 'cache_permission', /XDG_CACHE_HOME/, /[Mm]odel cache/],
  [
    'a context that was reset',
    'i915 0000:00:02.0: [drm] GPU HANG: ecode 12:1:85, in tune [77]\ni915 0000:00:02.0: [drm] tune[77] context reset due to GPU hang\n',
    'gpu_reset',
    /Restart tune \(pid 77\)/,
    /reboot/,
  ],
  ['a kernel with too many threads', 'CUDA error: too many resources requested for launch\n', 'compile_error', /fewer threads/, /CUDA version/],
])('%s', (_, text, kind, says, never) => {
  const told = answer(text)
  expect(told.kind).toBe(kind)
  expect(told.all).toMatch(says)
  expect(told.all).not.toMatch(never)
})
