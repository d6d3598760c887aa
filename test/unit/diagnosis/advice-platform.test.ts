// Advice for drivers that do not install, clusters and hosts: the message's own figures and names.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const explained = (text: string) => explainText(logScanner(), text)
const said = (text: string): string =>
  explained(text)
    .map(({ kind, title, verdict, remedies }) => [kind, title, verdict, ...remedies.map((one) => `${one.text} ${one.command ?? ''}`)].join('\n'))
    .join('\n')
const raised = (error: string): string =>
  `Traceback (most recent call last):\n  File "/opt/venv/lib/python3.12/site-packages/vllm/config.py", line 7, in check\n    raise\n${error}\n`

test.each([
  [
    'a card of an old branch',
    'NVRM: The NVIDIA GeForce GTX 660 GPU installed in this system is\nNVRM:  supported through the NVIDIA 470.xx Legacy drivers. Please\n',
    'driver_not_loaded',
    /branch 470/,
  ],
  [
    'open modules on an old card',
    'NVRM: The NVIDIA GPU 0000:0a:00.0 (PCI ID: 10de:1b06)\nNVRM: installed in this system is not supported by open\nNVRM: nvidia.ko because it does not include the required GPU\n',
    'driver_not_loaded',
    /proprietary kernel modules/,
  ],
  [
    'an installer without headers',
    'ERROR: Unable to find the kernel source tree for the currently running kernel. On Red Hat Linux systems, for example, install kernel-devel.\n',
    'driver_not_loaded',
    /apt-get install -y linux-headers/,
  ],
  [
    'packages of two repositories',
    ' nvidia-driver-570 : Depends: libnvidia-gl-570 (= 570.10-1) but 570.08-1 is to be installed\n',
    'config_error',
    /apt-cache policy nvidia-driver-570 libnvidia-gl-570/,
  ],
  [
    'akmods',
    'akmods[7]: Building rpms failed; see /var/cache/akmods/nvidia/570.86-1-for-6.14.2-300.fc42.x86_64.failed.log for details\n',
    'driver_not_loaded',
    /driver 570\.86 for kernel 6\.14\.2-300/,
  ],
  [
    "a compiler older than the kernel's",
    "cc: error: unrecognized command-line option '-fzero-init'\nmake[3]: *** [/tmp/x/NVIDIA-Linux/kernel/nvidia/nv.o] Error 1\n",
    'driver_not_loaded',
    /does not know -fzero-init/,
  ],
  [
    'amdgpu-dkms',
    'Error! Bad return status for module build on kernel: 6.15.1-generic (x86_64)\nConsult /var/lib/dkms/amdgpu/6.9/build/make.log for more information.\n',
    'driver_not_loaded',
    /kernel's own amdgpu/,
  ],
  [
    'an Intel card',
    'xe 0000:04:00.0: [drm] *ERROR* GuC init failed with -ENOENT\nxe 0000:04:00.0: probe with driver xe failed with error -2\n',
    'driver_not_loaded',
    /first error was "GuC init failed/,
  ],
  [
    'a card held for virtual machines',
    'NVRM: GPU 0000:0b:00.0 is already bound to vfio-pci.\nNVRM: The NVIDIA probe routine was not called for 1 device(s).\n',
    'gpu_not_visible',
    /vfio-pci holds it/,
  ],
  [
    'a kernel without module',
    'modprobe: FATAL: Module nvidia not found in directory /lib/modules/6.14.1-arch1-1\n',
    'gpu_not_visible',
    /running kernel 6\.14\.1-arch1-1/,
  ],
  [
    'ROCm without its driver',
    'RuntimeError: No HIP GPUs are available\nROCk module is NOT loaded, possibly no GPU devices\n',
    'gpu_not_visible',
    /modprobe amdgpu/,
  ],
])('%s', (_, text, kind, advice) => {
  expect(explained(text)[0]?.kind).toBe(kind)
  expect(said(text)).toMatch(advice)
})

test.each([
  [
    'two shares of one GPU',
    "Allocate failed due to rpc error: code = Unknown desc = request for 'nvidia.com/gpu.shared: 3' too large: maximum request size for shared resources is 1, which is unexpected\n",
    'gpu_unschedulable',
    /Ask for 1 \(/,
  ],
  [
    'MIG without instances',
    'error starting plugins: invalid MIG mode: device 2 has an invalid MIG configuration\n',
    'gpu_unschedulable',
    /nvidia-smi -i 2 --query-gpu=mig/,
  ],
  [
    'a pod that crashes',
    'NAME  READY  STATUS  RESTARTS  AGE\nllm-6c9f7d5d8b-abcde    0/1     CrashLoopBackOff   4 (2m ago)    18m\n',
    'job_failed',
    /kubectl logs llm-6c9f7d5d8b-abcde --previous/,
  ],
  ['a secret that is not there', 'Warning  Failed  4s  kubelet  Error: secret "hub-key" not found\n', 'config_error', /create secret generic hub-key/],
  [
    'an export that refuses',
    'Warning  FailedMount  1s  kubelet  MountVolume.SetUp failed for volume "weights" : mount failed: exit status 32\nOutput: mount.nfs: access denied by server while mounting nas:/weights\n',
    'storage_error',
    /add the node's address/,
  ],
  [
    'a volume of another node',
    'Warning  FailedAttachVolume  3m  attachdetach-controller  Multi-Attach error for volume "pvc-9" Volume is already used by pod(s) old-0\n',
    'storage_error',
    /old-0 still has it/,
  ],
  ['a credential', 'srun: error: Task launch for StepId=5.0 failed on node n9: Invalid job credential\n', 'job_failed', /ssh n9 unmunge/],
  ['a prolog', 'srun: error: n9: Launch failed: Prolog failed\n', 'job_failed', /--exclude=n9/],
  ['WSL', 'The Windows Subsystem for Linux instance has terminated.\n', 'job_killed', /wslconfig/],
  [
    'a time that is too long',
    'sbatch: error: Batch job submission failed: Requested time limit is invalid (missing or exceeds some limit)\n',
    'job_failed',
    /sinfo -o/,
  ],
  ['threads', raised("RuntimeError: can't start new thread"), 'python_exception', /ulimit -u/],
  [
    'inodes',
    "OSError: [Errno 28] No space left on device: '/srv/cache/f1'\nFilesystem     Inodes  IUsed IFree IUse% Mounted on\n/dev/sdc1     500000 500000     0  100% /srv\n",
    'disk_full',
    /du --inodes -x/,
  ],
  ['locked memory', 'n1:12:12 [0] transport/net_ib.cc:812 NCCL WARN Call to ibv_reg_mr failed with error Cannot allocate memory\n', 'nccl_error', /memlock=-1/],
  [
    'systemd-oomd',
    'systemd-oomd[8]: Killed /user.slice/user-7.slice/run-u3.scope due to memory pressure for /user.slice being 61.10% > 50.00% for > 20s with reclaim activity\n',
    'host_oom_kill',
    /systemd-oomd killed run-u3\.scope[^]*pressure in its cgroup was 61\.10%/,
  ],
])('%s', (_, text, kind, advice) => {
  expect(explained(text)[0]?.kind).toBe(kind)
  expect(said(text)).toMatch(advice)
})
