// What operators ask by hand and paste with its answer: the events of an engine, states of containers, what a framework finds, for which kernel a module was built.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const EVENT = (what: string, more = ''): string => `2026-05-04T08:00:01.000000001Z container ${what} 0a1b2c3d4e5f (image=lab/fit:2, ${more}name=fit-main)`

test.each<[name: string, text: string, kind: string, says: RegExp, not: RegExp]>([
  [
    'a container whose end was asked for by a format',
    "$ docker inspect -f '{{.State.ExitCode}} {{.State.OOMKilled}}' fit\n137 false",
    'job_killed',
    /saw no kill for memory[^]*docker events [^\n]*container=fit$/m,
    /memory limit|dmesg/,
  ],
  [
    'a stop that took too long, by the events of the engine',
    `${EVENT('kill').replace(')', ', signal=15)')}\n${EVENT('kill').replace(')', ', signal=9)')}\n${EVENT('die', 'execDuration=90, exitCode=137, ')}`,
    'job_killed',
    /asked to stop container fit-main: it sent SIGTERM, and then SIGKILL[^]*docker stop -t 120 fit-main/,
    /dmesg|memory limit/,
  ],
  [
    'a kill that somebody asked for',
    `${EVENT('kill').replace(')', ', signal=9)')}\n${EVENT('die', 'execDuration=90, exitCode=137, ')}`,
    'job_killed',
    /asked to send SIGKILL to container fit-main/,
    /docker stop|dmesg/,
  ],
  [
    'a kill for memory among the events',
    `${EVENT('oom')}\n${EVENT('die', 'execDuration=90, exitCode=137, ')}`,
    'host_oom_kill',
    /reached its memory limit[^]*docker update --memory <SIZE> --memory-swap <SIZE> fit-main/,
    /sender/,
  ],
  [
    'a module for another kernel',
    "$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n$ dkms status\nnvidia/570.10, 6.1.0-20-amd64, x86_64: installed\n$ uname -r\n6.1.0-25-amd64",
    'gpu_not_visible',
    /built for kernel 6\.1\.0-20-amd64, and kernel 6\.1\.0-25-amd64 runs[^]*linux-headers-6\.1\.0-25-amd64 && sudo dkms autoinstall -k 6\.1\.0-25-amd64/,
    /Secure Boot|container/,
  ],
  [
    'a module for the kernel that runs',
    "$ nvidia-smi\nNVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n$ dkms status\nnvidia/570.10, 6.1.0-25-amd64, x86_64: installed\n$ uname -r\n6.1.0-25-amd64",
    'gpu_not_visible',
    /See whether the kernel module is loaded/,
    /was built for kernel/,
  ],
  [
    'PyTorch for the CPU, by its version',
    ">>> import torch\n>>> torch.cuda.is_available()\nFalse\n>>> torch.__version__\n'2.6.0+cpu'",
    'gpu_not_visible',
    /build for the CPU only[^]*--index-url https:\/\/download\.pytorch\.org\/whl\/cu/,
    /nvidia-smi -L/,
  ],
  [
    'PyTorch with CUDA',
    '$ python -c "import torch; print(torch.__version__, torch.cuda.is_available())"\n2.6.0+cu124 False',
    'gpu_not_visible',
    /built for CUDA 12\.4, sees no GPU[^]*nvidia-smi -L/,
    /build for the CPU|torch\.version\.cuda/,
  ],
  [
    'a card of which lspci reads only ones',
    '$ lspci | grep -i nvidia\n0a:00.0 3D controller: NVIDIA Corporation GA100 [A100 PCIe 40GB] (rev ff)',
    'gpu_lost',
    /The GPU at 0a:00\.0 does not answer on the bus[^]*dmesg/,
    /No fault/,
  ],
  [
    'a model of Ollama of which a part stands on the CPU',
    'NAME ID SIZE PROCESSOR UNTIL\nqwen:32b    0a1b2c3d4e5f    30 GB    40%/60% CPU/GPU    2 minutes from now',
    'precision_fallback',
    /keeps 40 % of qwen:32b[^]*hold about 18 GB of it/,
    /GPU_OVERHEAD|fewer layers/,
  ],
  [
    'a model of Ollama on the CPU',
    'NAME ID SIZE PROCESSOR UNTIL\nqwen:7b    0a1b2c3d4e5f    6.0 GB    100% CPU    2 minutes from now',
    'precision_fallback',
    /on the CPU only[^]*journalctl -u ollama/,
    /hold about/,
  ],
  ['CDI without devices', '$ nvidia-ctk cdi list\nINFO[0000] Found 0 CDI devices', 'gpu_not_visible', /nvidia-ctk cdi generate/, /--gpus all/],
  [
    'a node without GPUs to give',
    'Name:               node-7\nCapacity:\n  cpu:             16\n  nvidia.com/gpu:  4\nAllocatable:\n  cpu:             16\n  nvidia.com/gpu:  0\nSystem Info:\n  Kernel Version:  6.1',
    'gpu_unschedulable',
    /Node node-7 offers no GPU[^]*spec\.nodeName=node-7 \| grep -i device-plugin/,
    /<NODE>/,
  ],
  [
    'a job of Slurm by its table',
    '$ sacct -j 88 --format=JobID,State,ExitCode\nJobID             State ExitCode\n------------ ---------- --------\n88              TIMEOUT      0:0\n88.batch      CANCELLED     0:15',
    'time_limit',
    /job 88 [^]*sbatch --time/,
    /cancelled the job/,
  ],
  [
    'a node that failed, by the record of the job',
    'JobId=88 JobName=fit\n   UserId=ada(1000) GroupId=ada(1000)\n   JobState=NODE_FAIL Reason=NodeDown Dependency=(null)\n   Requeue=0 Restarts=0 ExitCode=0:0',
    'job_killed',
    /node on which the job ran failed/,
    /exit code/,
  ],
  ['a container that crashed, by the table', 'fit Exited (139) 2 minutes ago', 'segfault', /segmentation fault/, /No fault/],
  [
    'a container that asked for no GPU',
    '$ docker inspect llm | grep DeviceRequests\n            "DeviceRequests": null,',
    'gpu_not_visible',
    /started without a GPU[^]*--gpus all/,
    /modprobe/,
  ],
  [
    'a memory test of DCGM that failed',
    '$ dcgmi diag -r 1\n| Diagnostic                | Result     |\n| NVML Library              | Pass       |\n| Page Retirement/Row Remap | Fail       |',
    'ecc_error',
    /Page Retirement\/Row Remap[^]*nvidia-smi -q -d ROW_REMAPPER/,
    /NVML Library/,
  ],
  [
    'a configuration of Docker that is no JSON',
    "Mar 02 10:00:01 n1 dockerd[9]: unable to configure the Docker daemon with file /etc/docker/daemon.json: invalid character '}' looking for beginning of object key string",
    'config_error',
    /could not read \/etc\/docker\/daemon\.json[^]*python3 -m json\.tool \/etc\/docker\/daemon\.json[^]*dockerd --validate/,
    /flag/,
  ],
  [
    'a program without a GPU where the driver shows one',
    'RuntimeError: No CUDA GPUs are available\n$ nvidia-smi -L\nGPU 0: NVIDIA A10G (UUID: GPU-1a2b3c4d-0000-1111-2222-333344445555)',
    'gpu_not_visible',
    /CUDA also needs the module nvidia_uvm/,
    /whether a GPU is there at all/,
  ],
])('%s', (_, text, kind, says, not) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(says)
  expect(said.all).not.toMatch(not)
})

test.each([
  ['a card that answers', '$ lspci\n01:00.0 VGA compatible controller: NVIDIA Corporation AD102 (rev a1)'],
  ['a model on the GPU', 'NAME ID SIZE PROCESSOR UNTIL\nqwen:7b    0a1b2c3d4e5f    6.0 GB    100% GPU    2 minutes from now'],
  ['a node of which all GPUs are in use', 'Allocatable:\n  nvidia.com/gpu:  4\nAllocated resources:\n  Resource  Requests\n  nvidia.com/gpu:  0'],
  ['a container that needs none', '[{"Name": "/redis", "HostConfig": {\n            "DeviceRequests": null,\n'],
  ['several jobs', 'JobID             State ExitCode\n------------ ---------- --------\n88              TIMEOUT      0:0\n89            COMPLETED      0:0\n'],
  [
    'a job that completed',
    'JobID             State ExitCode\n------------ ---------- --------\n88            COMPLETED      0:0\n88.batch      COMPLETED      0:0',
  ],
  ['a container that ended days ago', 'fit Exited (139) 3 days ago'],
])('nothing is wrong with %s', (_, text) => {
  expect(answer(text).kind).toBeUndefined()
})
