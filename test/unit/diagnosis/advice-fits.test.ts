// Advice that fits where it is read: distribution, container, the limits of an engine that depend on each other, and figures that are no figures.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const reported = (text: string) => {
  const [fault] = explainText(logScanner(), text)
  const remedies = fault?.remedies ?? []
  return { title: fault?.title, verdict: fault?.verdict ?? '', texts: remedies.map((one) => one.text), commands: remedies.map((one) => one.command ?? '') }
}
const NO_DRIVER = 'Error response from daemon: could not select device driver "nvidia" with capabilities: [[gpu]]'

describe('the place', () => {
  test.each([
    ['Fedora 41', 'sudo dnf install -y nvidia-container-toolkit '],
    ['openSUSE Leap', 'sudo zypper install -y nvidia-container-toolkit '],
    ['Manjaro', 'sudo pacman -S --noconfirm nvidia-container-toolkit '],
    ['Ubuntu 24.04', 'sudo apt-get install -y nvidia-container-toolkit '],
  ])('%s: its own package manager', (host, command) => {
    expect(reported(`${NO_DRIVER}\nhost: ${host}`).commands[0]).toContain(command)
  })
  test('a Mac has no NVIDIA GPU to give', () => {
    const { verdict, commands } = reported(`${NO_DRIVER}\non a MacBook Pro`)
    expect(verdict).toContain('on a Mac')
    expect(commands.join('')).toBe('')
  })
  test('a variable reaches a container from outside', () => {
    const refused = 'Cannot access gated repo for url https://huggingface.co/acme/big/resolve/main/config.json.'
    expect(reported(`docker run acme/serve:1\n${refused}`).texts.join(' ')).toContain('pass it with -e')
    expect(reported(refused).texts.join(' ')).not.toContain('pass it with -e')
  })
  test('the image of a command is its image, not the port that it publishes', () => {
    const { commands } = reported(
      'docker run --gpus all -p 9000:9000 acme/portrait:v2\nError: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all',
    )
    expect(commands.join('\n')).not.toContain('9000')
  })
})

describe('the engine', () => {
  test('the launcher of TGI takes no input that is longer than what is prefilled at once', () => {
    const { commands } = reported(
      'text-generation-launcher --max-input-tokens 6000 --max-total-tokens 6100\nNot enough memory to handle 8000 prefill tokens. You need to decrease `--max-batch-prefill-tokens`',
    )
    expect(commands[0]).toBe('--max-batch-prefill-tokens 4000 --max-input-tokens 4000')
  })
  test("ComfyUI's own figures", () => {
    const { title, verdict } = reported(
      'loaded partially; 4096.00 MB usable, 4000.00 MB loaded, 2048.00 MB offloaded, lowvram patches: 0\n!!! Exception during processing !!! Allocation on device \nTraceback (most recent call last):\n  File "/srv/ComfyUI/execution.py", line 9, in execute\ntorch.OutOfMemoryError: Allocation on device ',
    )
    expect(title).toBe('Out of GPU memory')
    expect(verdict).toContain('4.00 GiB was usable for the model, and 2.00 GiB of it stayed in host memory')
  })
  test('short options of llama.cpp', () => {
    const { commands } = reported(
      'llama-server -m m.gguf -c 32768 -ngl 40 -ub 1024\nggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 4294967296\ngraph_reserve: failed to allocate compute buffers',
    )
    expect(commands).toEqual(expect.arrayContaining(['--ctx-size 16384', '--ubatch-size 512 --flash-attn on', '--n-gpu-layers 30']))
  })
})

describe('figures', () => {
  test('"0 bytes" of a hidden process is none', () => {
    const { verdict } = reported(
      'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 64.00 MiB. GPU 0 has a total capacity of 24.00 GiB of which 8.00 MiB is free. Including non-PyTorch memory, this process has 0 bytes memory in use. Of the allocated memory 23.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.',
    )
    expect(verdict).not.toContain('outside this process')
    expect(verdict).toContain('this process holds 23.1')
  })
  test('what CUDA refuses is no full /dev/shm', () => {
    const { verdict, commands } = reported(
      "misc/shmutils.cc:103 NCCL WARN Cuda failure 'invalid argument'\nmisc/shmutils.cc:114 NCCL WARN Error while creating shared memory segment /dev/shm/nccl-aBcDeF (size 1048576)",
    )
    expect(verdict).not.toContain('too small')
    expect(commands[0]).toBe('export NCCL_SHM_DISABLE=1')
  })
  test('the memory limit of a pod, and what it is made by', () => {
    const { verdict, commands } = reported(
      'Name:         tune-5f6d7c8b9-abcde\nNamespace:    lab\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n    Limits:\n      memory:          24Gi\n      nvidia.com/gpu:  1',
    )
    expect(verdict).toContain('limit of 24.00 GiB')
    expect(commands).toContain('kubectl set resources deployment tune -n lab --limits=memory=48Gi')
  })
  test('a second kill is not mixed with the one before', () => {
    const kill = (job: number, kib: number, pid: number): string =>
      [
        'python invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0',
        `memory: usage ${kib}kB, limit ${kib}kB, failcnt 3`,
        `oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/system.slice/slurmstepd.scope/job_${job}/step_batch,task_memcg=/system.slice/slurmstepd.scope/job_${job}/step_batch,task=python,pid=${pid},uid=0`,
        `Memory cgroup out of memory: Killed process ${pid} (python) total-vm:${kib}kB, anon-rss:${kib}kB, file-rss:0kB`,
      ].join('\n')
    const titles = explainText(logScanner(), `${kill(71, 1_048_576, 5)}\n${kill(72, 2_097_152, 6)}`).map(({ title, facts }) => [title, facts.limit_bytes])
    expect(titles).toEqual(
      expect.arrayContaining([
        ['Slurm job 71 was killed at its memory limit (1 GiB)', 2 ** 30],
        ['Slurm job 72 was killed at its memory limit (2 GiB)', 2 ** 31],
      ]),
    )
  })
})

describe('the moment', () => {
  const failed = 'RuntimeError: CUDA error: unknown error'
  test('an unknown error in the middle of a run is no driver that cannot be used', () => {
    expect(reported(`step 900/4000 loss=0.41\n${failed}`).title).toBe('The GPU stopped working in the middle of a run')
    expect(reported(`step 900/4000 loss=0.41\n${failed}`).commands.join()).not.toContain('rmmod')
    expect(reported(`  File "torch/cuda/__init__.py", line 300, in _lazy_init\n${failed}`).title).toBe('CUDA cannot use the driver')
    expect(reported('lua: cuda runtime error (30) : unknown error at THCStorage.c:9').title).toBe('CUDA cannot use the driver')
  })
  test("a server that passes on an engine's failed start is not the process that died", () => {
    const { title, texts } = reported('(APIServer pid=77) RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}')
    expect(title).toBe("vLLM's engine did not start")
    expect(texts[0]).toContain('the first ERROR line')
    expect(reported('(EngineCore pid=8) Exception: WorkerProc initialization failed due to an exception in a background process.').title).toBe(title)
  })
  test('a driver that a newer kernel refuses', () => {
    const { title, verdict } = reported("ERROR: modpost: GPL-incompatible module nvidia-uvm.ko uses GPL-only symbol 'one_of_theirs'")
    expect(title).toBe('The NVIDIA driver does not fit this kernel')
    expect(verdict).toContain('one_of_theirs')
  })
  test('k3s brings its own containerd', () => {
    const path = '/run/k3s/containerd/io.containerd.runtime.v2.task/k8s.io/1f/log.json'
    const { commands } = reported(
      `OCI runtime create failed: unable to retrieve OCI runtime error (open ${path}): exec: "nvidia-container-runtime": executable file not found in $PATH`,
    )
    expect(commands.join()).toContain('systemctl restart k3s')
    expect(commands.join()).not.toContain('restart containerd')
  })
})

describe('a GPU that is there and not used', () => {
  test('no layer on it', () => {
    const { title, commands } = reported('load_tensors: offloaded 0/33 layers to GPU')
    expect(title).toBe('No layer of the model is on the GPU')
    expect(commands).toEqual(['--n-gpu-layers 99'])
    expect(reported('load_tensors: offloaded 33/33 layers to GPU').title).toBeUndefined()
  })
  test('too little memory is no missing GPU', () => {
    const { verdict, commands } = reported('llm.go:87: INFO not enough vram available, falling back to CPU only')
    expect(verdict).toContain('GPU memory ran out')
    expect(commands.join()).not.toContain('nvidia-smi -L')
  })
  test('Triton: too old a GPU, and its own package on Windows', () => {
    const failed = 'RuntimeError: PassManager::run failed'
    expect(reported(`ptxas info    : Compiling entry function 'k' for 'sm_61'\n${failed}`).texts[0]).toContain('This GPU has compute capability 6.1')
    const windows = 'C:\\ComfyUI_windows_portable\\python_embeded\\python.exe main.py'
    expect(reported(`${windows}\nModuleNotFoundError: No module named 'triton'`).commands).toContain(
      '.\\python_embeded\\python.exe -m pip install triton-windows',
    )
  })
  test("TensorBoard's writer ends with the program", () => {
    expect(reported('Epoch 20/20 finished\nTensorBoard caught SIGTERM; exiting...').title).toBeUndefined()
  })
})

describe('what is seldom what it looks like', () => {
  test('NCCL without InfiniBand looks for its library and goes on', () => {
    expect(reported('node7:81:81 [0] misc/ibvwrap.cc:63 NCCL WARN Failed to open libibverbs.so[.1]').title).toBeUndefined()
    expect(reported('node7:81:81 [0] misc/socket.cc:63 NCCL WARN Failed to connect to 10.0.0.3').title).toBeDefined()
  })
  test('GGML_ABORT with words of its own, only above its stack', () => {
    const line = '/src/server.cpp:390: the slot has no tokens'
    expect(reported(`${line}\nlibggml-base.so(ggml_abort+0x152)[0x72ed]`).title).toBe('Process aborted (SIGABRT)')
    expect(reported(line).title).toBeUndefined()
  })
  test('PyTorch without NCCL', () => {
    expect(reported("Traceback (most recent call last):\nRuntimeError: Distributed package doesn't have NCCL built in").texts[0]).toContain('Use Gloo')
  })
  test("Slurm's batch script that is gone", () => {
    expect(reported('slurmstepd: error: execve(): /tmp/slurmd/job00012/slurm_script: No such file or directory').commands[0]).toBe(
      'sbatch --exclude=<NODE> <SCRIPT>',
    )
  })
})

describe('a message without a reason of its own', () => {
  test('CTranslate2 without CUDA is no matter of PyTorch', () => {
    const { commands } = reported('ValueError: This CTranslate2 package was not compiled with CUDA support')
    expect(commands.join()).toContain('ctranslate2')
    expect(commands.join()).not.toContain('torch')
  })
  test('cuDNN without a plan, and cuBLAS by number', () => {
    expect(reported('RuntimeError: cuDNN Frontend error: [cudnn_frontend] Error: No execution plans support the graph.').verdict).toContain(
      'no kernel for this operation',
    )
    expect(reported('InternalError: cuda_solvers.cc:80: cuBlas call failed status = 3').verdict).toContain('CUBLAS_STATUS_ALLOC_FAILED')
  })
  test("the kubelet's word of a container that crashes again and again", () => {
    const line =
      'E1103 pod_workers.go:191] Error syncing pod 1f, skipping: failed to "StartContainer" for "worker" with CrashLoopBackOff: "back-off 5m0s restarting failed container=worker pod=train-7d9-x2x4z_lab(1f)"'
    expect(reported(line).title).toBe('worker crashes again and again')
    expect(reported(line).commands[0]).toBe('kubectl logs train-7d9-x2x4z -n lab -c worker --previous --tail=100')
  })
  test('a LoRA that this Diffusers does not know', () => {
    expect(reported('Traceback (most recent call last):\nValueError: `original_state_dict` should be empty at this point but has keys').commands).toContain(
      'pip install --upgrade diffusers',
    )
  })
})
