// The last look at remedies: each system, vendor and engine gets commands that it has, packages come by the installer that is in use.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { fitting } from '../../../agent/diagnosis/faults/remedies/fit.ts'
import { pipInstall } from '../../../agent/diagnosis/faults/remedies/pip.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import { readSituation } from '../../../agent/diagnosis/situation/situation.ts'

const WINDOWS = 'Platform: Windows\nD:\\app\\main.py'
const commandsIn = (text: string, remedies: readonly { readonly text: string; readonly command?: string }[]): readonly (string | undefined)[] =>
  fitting(remedies, 'cuda_oom', readSituation(text)).map(({ command }) => command)

describe('remedies that fit', () => {
  test('Windows sets variables in its own words and gets none of the tools of Linux', () => {
    expect(
      commandsIn(WINDOWS, [
        { text: 'a', command: 'export A=1 B=2' },
        { text: 'b', command: 'sudo dmesg -T | tail' },
        { text: 'c', command: 'nvidia-smi' },
      ]),
    ).toEqual(['set A=1\nset B=2', 'nvidia-smi'])
  })

  test('a sentence that says what to do stays where only the look beside it does not fit', () => {
    const resume = { text: 'Resume from the checkpoint before it.', command: 'df -h' }
    const look = { text: 'See how full the disk is.', command: 'df -h' }
    expect(fitting([resume, look, { text: 'a' }], 'checkpoint_mismatch', readSituation(WINDOWS))).toEqual([{ text: resume.text }, { text: 'a' }])
    const shown = readSituation('| NVIDIA-SMI 550.54.15 Driver Version: 550.54.15 CUDA Version: 12.4 |')
    const update = { text: 'Or update the driver of the host.', command: 'nvidia-smi' }
    expect(fitting([update, { text: 'a' }], 'cuda_version_mismatch', shown)).toEqual([{ text: update.text }, { text: 'a' }])
  })

  test('sentences stay where no command would be left', () => {
    expect(fitting([{ text: 'Look into the log.', command: 'sudo dmesg' }], 'cuda_oom', readSituation(WINDOWS))).toEqual([{ text: 'Look into the log.' }])
  })

  test('WSL 2 leaves driver and reset to Windows', () => {
    expect(
      commandsIn('Linux 5.15-microsoft-standard-WSL2', [
        { text: 'a', command: 'sudo modprobe nvidia' },
        { text: 'b', command: 'free -g' },
      ]),
    ).toEqual(['free -g'])
  })

  test("another vendor's GPU gets no tools of NVIDIA, but faults of NVIDIA's driver keep them", () => {
    const remedies = [{ text: 'a', command: 'nvidia-smi' }, { text: 'b' }]
    const amd = readSituation('torch.OutOfMemoryError: HIP out of memory.')
    expect(fitting(remedies, 'cuda_oom', amd)).toEqual([{ text: 'b' }])
    expect(fitting(remedies, 'xid', amd)).toEqual(remedies)
  })

  test('who starts the containers decides over the command', () => {
    const run = [{ text: 'a', command: 'docker run --gpus all app' }]
    expect(commandsIn('podman run app', run)).toEqual(['podman run --device nvidia.com/gpu=all app'])
    expect(commandsIn('docker run app', run)).toEqual(['docker run --gpus all app'])
    expect(commandsIn('srun python train.py', run)).toEqual([undefined])
  })

  test.each([
    ['python train.py', 'pip install --upgrade x'],
    ['uv run train.py', 'uv pip install --upgrade x'],
    [`${WINDOWS}\nE:\\ComfyUI_windows_portable\\run.bat`, '.\\python_embeded\\python.exe -m pip install --upgrade x'],
  ])('packages, where the text says %s', (text, command) => {
    expect(pipInstall(readSituation(text), 'x', '--upgrade')).toBe(command)
  })
})

const first = (text: string) => explainText(logScanner(), text)[0]
const reported = (text: string): string =>
  explainText(logScanner(), text)
    .flatMap(({ verdict, remedies }) => [verdict, ...remedies.flatMap((remedy) => [remedy.text, remedy.command ?? ''])])
    .join('\n')

describe('what a text says is used', () => {
  test("Slurm's words explain the shell's: the job is named", () => {
    const text = 'job.sh: line 9:  411 Killed                  python3 fit.py\nslurmstepd: error: Detected 1 oom-kill event(s) in StepId=77.batch cgroup.'
    expect(first(text)).toMatchObject({ kind: 'host_oom_kill', severity: 'critical' })
    expect(reported(text)).toContain('sacct -j 77 ')
  })

  test('a pod that only its uid names', () => {
    const text =
      'kubelet: x\nMemory cgroup out of memory: Killed process 9 (app) total-vm:9kB, anon-rss:9kB\nMemory cgroup stats for /kubepods/burstable/pod1b2c3d4e-0000-4111-8222-93a4b5c6d7e8:'
    expect(reported(text)).toContain('grep 1b2c3d4e-0000-4111-8222-93a4b5c6d7e8')
  })

  test('an address without a route is no peer that died', () => {
    const text =
      'torch.distributed.DistBackendError: NCCL error, unhandled system error\nncclSystemError: System call failed.\nLast error:\nsocketStartConnect: Connect to 10.9.8.7<4000> failed : No route to host'
    expect(reported(text)).toContain('ip route get 10.9.8.7')
    expect(reported(text)).not.toContain('its error came first')
  })

  test('the rank that is behind is named', () => {
    const line = (rank: number, number: number): string =>
      `[Rank ${rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=${number}, OpType=ALLREDUCE, Timeout(ms)=600000) ran for 600001 milliseconds before timing out.`
    expect(reported([line(0, 812), line(3, 790), line(1, 812)].join('\n'))).toContain('Look at rank 3 first')
  })

  test('shared memory grows beyond what df shows, and a process that cannot fit beside is the failing one', () => {
    const shm = 'tmpfs                 30G   29G  1.0G  97% /dev/shm\nRuntimeError: DataLoader worker (pid 13) is killed by signal: Bus error.'
    expect(reported(shm)).toContain('--shm-size=60g')
    const oom =
      'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 700.00 MiB. GPU 0 has a total capacity of 79.00 GiB of which 100.00 MiB is free. Process 4242 has 78.90 GiB memory in use. Of the allocated memory 68.00 GiB is allocated by PyTorch, and 300.00 MiB is reserved by PyTorch but unallocated.'
    expect(reported(oom)).not.toContain('4242')
  })

  test('a toolkit that finds no library although nvidia-smi works on the host', () => {
    const text =
      'nvidia-container-cli: initialization error: load library failed: libnvidia-ml.so.1: cannot open shared object file\n| NVIDIA-SMI 550.54              Driver Version: 550.54      CUDA Version: 12.4 |'
    expect(reported(text)).toContain('although nvidia-smi works on the host')
  })
})
