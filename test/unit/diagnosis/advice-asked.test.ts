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
])('%s', (_, text, kind, says, not) => {
  const said = answer(text)
  expect(said.kind).toBe(kind)
  expect(said.all).toMatch(says)
  expect(said.all).not.toMatch(not)
})
