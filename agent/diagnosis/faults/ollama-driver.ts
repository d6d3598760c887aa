// What Ollama says when it cannot use the driver or the GPU, when it is too old for a model, and when it does not have the model.
import { serverSteps } from '../ends/who-runs.ts'
import { lookup } from '../../text/lookup.ts'
import { KERNEL_LOG } from './host-oom/remedies.ts'
import { setVariables } from './remedies/environment.ts'
import { COMPUTE_MODE, whoHolds } from './remedies/gpu.ts'
import { ruleFamily, type Matched, type Seen } from './parts/rules.ts'
import type { Piece } from './remedies/plan.ts'

/** CUresult of cuInit. */
const INIT: Readonly<Record<string, string>> = {
  '3': 'the driver is not initialized',
  '35': 'the driver is too old, or its library is not there at all (a container that was given no GPU)',
  '46': 'the GPU is not available: another process may hold it alone',
  '100': 'the driver sees no GPU',
  '205': 'the memory of the driver could not be mapped: mostly the libraries in the container are not of the version of the driver on the host',
  '500': 'the libcuda that was found misses what it needs: on Windows (WSL, Docker Desktop) a known fault of some drivers',
  '802': 'the fabric manager has not finished, or does not run',
  '803': 'libraries and kernel module of the driver are of different versions',
  '804': 'the cuda-compat library does not support this GPU',
  '999': 'the driver is in a bad state, often after suspend',
}
const NVML: Readonly<Record<string, string>> = {
  '9': 'the kernel module of the driver is not loaded',
  '12': 'the library was not found',
  '18': 'libraries and kernel module of the driver are of different versions',
  '999': 'it could not talk to the driver, which is in a bad state, or whose device files this container lost',
}
const restart = ({ situation }: Matched): Piece =>
  situation().programs.has('kubernetes')
    ? { text: 'Delete the pod, so that it is made again with its devices (loaded models are unloaded).' }
    : {
        text: 'Restart the container: it gets its devices back (loaded models are unloaded).',
        command: `docker restart ${situation().subject.container ?? 'ollama'}`,
      }

/** Paths as Ollama prints them there; in Docker Desktop it runs on Linux. */
const WINDOWS = /[A-Z]:\\\\?(?:Users|Windows|Program Files)/
const RELOAD_UVM: Piece = {
  text: 'Reload the module for CUDA (nothing may use the GPU; after suspend it often hangs).',
  command: 'sudo rmmod nvidia_uvm; sudo modprobe nvidia_uvm',
}

const above = ({ text, at }: Seen): string => text.slice(Math.max(0, at - 80), at).join('\n')
/** What other families and kinds of ends tell. */
const CAUSE = /CUDA error|ROCm error|GGML_ASSERT|out of memory|error loading model/
const FAILED_CHECK = /([\w.-]{1,40}\.(?:cpp|cuh?|c|h|m)):\d{1,6}: (GGML_ASSERT\(.{1,80}\) failed)/
/** The server answers requests below the failed check: no end of its own, so that nobody else tells it. */
const goesOn = (seen: Seen): boolean => /GGML_ASSERT\([^]{0,20000}\n\[GIN\] /.test(above(seen))

/** It knows its GPUs already, and asks them again before it loads a model. */
const refreshed = ({ text, at }: Seen): boolean => text.slice(at, at + 6).some((line) => line.includes('unable to refresh free memory'))

export const ollamaDriver = ruleFamily({
  id: 'ollama-driver',
  kind: 'gpu_not_visible',
  literals: [
    'cuda driver library failed to get device context',
    'init failure: ',
    'cuInit err: ',
    'symbol lookup for cu',
    'your nvidia driver is too old or missing',
    'requires a newer version of Ollama',
    'model runner has unexpectedly stopped',
    'llama runner terminated',
    'llama-server terminated',
    'not found, try pulling it first',
    'failed to finish discovery before timeout',
  ],
  rules: [
    {
      // CUDA_ERROR_OUT_OF_MEMORY
      pattern: /cuda driver library failed to get device context 2(?!\d)/,
      kind: 'cuda_oom',
      severity: 'critical',
      title: 'No GPU memory is left for Ollama',
      verdict:
        'The GPU is so full that Ollama cannot even ask how much is free (CUDA error 2). Other programs, or models that Ollama still holds, use all of it.',
      remedies: ({ situation }) => [
        whoHolds(situation()),
        { text: 'Unload models that are not used.', command: 'ollama ps; ollama stop <MODEL>' },
        { text: 'Or keep Ollama off that card.', command: setVariables(situation(), { CUDA_VISIBLE_DEVICES: '<UUIDS>' }) },
      ],
    },
    {
      // CUDA_ERROR_DEVICE_UNAVAILABLE
      pattern: /cuda driver library failed to get device context 46(?!\d)/,
      kind: 'gpu_busy',
      severity: 'critical',
      title: 'The GPU accepts no other process',
      verdict:
        'The driver gives Ollama no context on the GPU (CUDA error 46, device unavailable): it is in exclusive mode and another program has it, or it needs a reset.',
      remedies: ({ situation }) => [
        COMPUTE_MODE,
        whoHolds(situation()),
        {
          text: 'If nothing uses it and the mode is Default: see what the kernel logged about the GPU.',
          command: "sudo dmesg -T | grep -iE 'NVRM|Xid' | tail -n 30",
        },
      ],
    },
    {
      pattern: /cuda driver library failed to get device context (\d{1,3})/,
      severity: 'critical',
      title: 'Ollama lost its access to the GPU',
      verdict: ({ match, situation }) =>
        `${WINDOWS.test(situation().text) ? `Ollama found the GPU, and the driver refuses it (CUDA error ${match[1]}): it was updated or reset while Ollama ran, or is in a bad state.` : `Ollama found the GPU when it started, and the driver now refuses it (CUDA error ${match[1]}). In a container: its access to the device files was taken away while it ran, mostly by systemctl daemon-reload on the host.`} Models then run on the CPU, or fail.`,
      remedies: (seen) => [
        WINDOWS.test(seen.situation().text) && [
          { text: 'Quit Ollama in the tray and start it again; if that is not enough, restart Windows.' },
          { text: 'Install the current driver of NVIDIA (as a clean installation), then update Ollama.', command: 'nvidia-smi' },
        ],
        !WINDOWS.test(seen.situation().text) && restart(seen),
        !WINDOWS.test(seen.situation().text) && {
          text: 'To keep it: let Docker manage control groups itself ("exec-opts": ["native.cgroupdriver=cgroupfs"] in /etc/docker/daemon.json), or request the GPUs by CDI.',
        },
        !WINDOWS.test(seen.situation().text) && {
          text: 'If the driver was updated while it ran, reboot the host.',
          command: 'nvidia-smi; cat /proc/driver/nvidia/version',
        },
      ],
    },
    {
      pattern: /(?:nvcuda|cuda driver library|cudart) init failure: (\d{1,3})|cuInit err: (\d{1,3})/,
      // It tries each library that it finds; one may do.
      unless: ({ text, at }) => text.slice(at + 1, at + 80).some((line) => /\blibrary=cuda\b|\bid=GPU-/.test(line)),
      severity: 'critical',
      title: ({ match }) => `The CUDA driver does not start for Ollama (error ${match[1] ?? match[2]})`,
      verdict: ({ match }) => {
        const code = match[1] ?? match[2] ?? ''
        const means = lookup(INIT, code)
        return `${/cudart init/.test(match[0]) ? 'The CUDA runtime' : 'cuInit'} answered ${code}${means === undefined ? '' : `: ${means}`}. Ollama does without the GPU, and works on the CPU.`
      },
      remedies: (seen) => {
        const { programs, system } = seen.situation()
        const windows = system === 'wsl' || system === 'windows' || /\/wsl\//.test(seen.message)
        return [
          !windows && (seen.match[1] ?? seen.match[2]) === '999' && RELOAD_UVM,
          windows
            ? { text: 'Update the NVIDIA driver of Windows (and Docker Desktop), then restart WSL; all its programs end.', command: 'wsl --shutdown' }
            : { text: 'See whether the driver works on the host; if it was updated since the last boot, reboot.', command: 'nvidia-smi' },
          !windows && !['999', '35'].includes(seen.match[1] ?? seen.match[2] ?? '') && RELOAD_UVM,
          !windows &&
            (seen.match[1] ?? seen.match[2]) === '35' &&
            !programs.has('docker') && { text: 'If it runs in a container: request the GPU.', command: 'docker run --gpus all ollama/ollama' },
          (programs.has('docker') || programs.has('compose')) && {
            text: 'See whether another container gets the GPU; if not, the container toolkit is at fault.',
            command: 'docker run --rm --gpus all ubuntu nvidia-smi',
          },
          { text: 'Restart Ollama: it looks for GPUs only when it starts.' },
        ]
      },
    },
    {
      // Releases of early 2024 ask NVML, in the numbers of nvmlReturn_t.
      pattern: /nvml(?: vram)? init failure: (\d{1,3})/,
      unless: ({ text, at }) => text.slice(at + 1, at + 80).some((line) => /\blibrary=cuda\b|\bid=GPU-|Compute Capability detected/.test(line)),
      severity: 'critical',
      title: ({ match }) => `NVML does not start for Ollama (error ${match[1]})`,
      verdict: ({ match }) => {
        const means = lookup(NVML, match[1] ?? '')
        return `NVML, the driver's library for management, answered ${match[1]}${means === undefined ? '' : `: ${means}`}. Ollama of that time looks for GPUs through it, so it works on the CPU.`
      },
      remedies: ({ match, situation }) => [
        { text: 'See whether the driver works on the host; if it was updated since the last boot, reboot.', command: 'nvidia-smi' },
        match[1] === '999' && {
          text: 'If it works there, and Ollama runs in a container: restart that, it gets its devices back.',
          command: `docker restart ${situation().subject.container ?? 'ollama'}`,
        },
        { text: 'Then restart Ollama, which looks for GPUs only when it starts, and update it: current releases ask CUDA itself.' },
      ],
    },
    {
      // ollama/ollama #13308, #14448, #17069: the search runs in a process of its own, and is given up.
      pattern: /failed to finish discovery before timeout/,
      severity: (seen) => (refreshed(seen) ? 'warning' : 'critical'),
      title: (seen) => (refreshed(seen) ? 'Ollama could not see in time how much GPU memory is free' : 'Ollama gave up its search for GPUs'),
      verdict: (seen) =>
        refreshed(seen)
          ? 'Before it loads a model, Ollama asks how much GPU memory is free. The answer came too late, so it counts with older figures: it may put fewer layers on the GPU than fit, or more. Setting the GPU up took too long, or the driver hangs.'
          : 'The process in which Ollama looks for GPUs did not answer in time: setting the GPU up took too long, or the driver hangs. Ollama goes on with what it found in time, mostly the CPU.',
      remedies: (seen) => [
        seen.situation().vendor !== 'amd' && {
          text: 'Keep the driver initialised: without persistence mode each start sets all GPUs up again.',
          command: 'sudo nvidia-smi -pm 1; time nvidia-smi',
        },
        !refreshed(seen) && { text: 'Then restart Ollama: it looks for GPUs only when it starts.' },
        seen.situation().system === 'windows'
          ? { text: 'See whether a virus scanner delays the start of its runners.' }
          : {
              text: 'Look for messages of the driver in the kernel log.',
              command: "sudo dmesg -T | grep -iE 'NVRM|Xid|amdgpu' | tail -n 30",
            },
        { text: 'Update Ollama: newer releases wait longer.' },
      ],
    },
    {
      // gpu.go: cudaErrorInsufficientDriver of the runtime's own library.
      pattern: /your nvidia driver is too old or missing/,
      kind: 'cuda_version_mismatch',
      severity: 'critical',
      title: 'Ollama finds no driver that is new enough',
      verdict: ({ message }) => {
        const cuda = /libcudart\.so\.(1[0-9])\b/.exec(message)?.[1]
        return `${cuda === undefined ? 'The CUDA runtime' : `The runtime of CUDA ${cuda}`} found no NVIDIA driver, or one that is too old for it (error 35). Models run on the CPU.`
      },
      remedies: ({ situation }) => [
        { text: 'See which driver there is, and which CUDA it supports at most.', command: 'nvidia-smi' },
        /\/nix\/store\//.test(situation().text)
          ? {
              text: 'On NixOS switch the driver on for the system (hardware.graphics.enable, and "nvidia" in services.xserver.videoDrivers), rebuild and reboot: libcuda comes from /run/opengl-driver.',
              command: 'ls -l /run/opengl-driver/lib/libcuda.so*',
            }
          : { text: 'Update the driver, then reboot.' },
        { text: 'Then restart Ollama: it looks for GPUs only when it starts.' },
      ],
      // One of several libraries that it tries.
      unless: ({ text, at }) => text.slice(at + 1, at + 80).some((line) => /\blibrary=cuda\b|\bid=GPU-/.test(line)),
    },
    {
      pattern: /symbol lookup for (cu\w{3,40}) failed/,
      kind: 'cuda_version_mismatch',
      severity: 'critical',
      title: ({ message }) => {
        const driver = /libcuda\.so\.(\d{3}\.[\d.]{1,12})/.exec(message)?.[1]
        return `The NVIDIA driver${driver === undefined ? '' : ` (${driver})`} is too old for Ollama`
      },
      verdict: ({ match }) =>
        `The driver's library has no ${match[1]}, which Ollama calls: the driver is older than it needs (531 or newer). Models run on the CPU.`,
      remedies: [
        { text: 'Update the NVIDIA driver of the host, then reboot.', command: 'nvidia-smi' },
        { text: 'Then restart Ollama: it looks for GPUs only when it starts.' },
      ],
    },
    {
      pattern: /model runner has unexpectedly stopped|msg="llama(?: runner|-server) terminated"/,
      kind: 'worker_died',
      severity: 'critical',
      unless: (seen) => CAUSE.test(above(seen)) && !goesOn(seen),
      title: "Ollama's runner ended while it computed",
      verdict: (seen) => {
        const [, file, check] = goesOn(seen) ? (FAILED_CHECK.exec(above(seen)) ?? []) : []
        return `The process that holds the model ended in the middle of a request; the next request loads the model again. ${check === undefined ? 'The log of the server says why: mostly it ran out of GPU or host memory, or its code fails on this model.' : `It stopped at a check of its own (${check} in ${file}): a bug of this release on this model or GPU, or a driver that does not fit.`}`
      },
      remedies: (seen) => [
        goesOn(seen) && { text: 'Update Ollama and the driver of the GPU; see whether the model works with the CPU alone (option num_gpu 0).' },
        serverSteps(seen.situation()),
        { text: 'Need less memory: a shorter context (num_ctx), a smaller model or quantization, fewer models at once.' },
        seen.situation().system !== 'windows' && seen.situation().system !== 'mac' && KERNEL_LOG,
      ],
    },
    {
      pattern: /requires a newer version of Ollama/,
      kind: 'config_error',
      severity: 'critical',
      title: 'The model asks for a newer Ollama',
      verdict: 'The library refuses the download (412): the model needs a newer release of Ollama than this one.',
      remedies: ({ situation }) => [
        situation().programs.has('docker')
          ? { text: 'Pull the newest image and start it again; the models stay in their volume.', command: 'docker pull ollama/ollama' }
          : {
              text: 'Update it: on Linux run the installer again; elsewhere the app updates itself.',
              command: 'curl -fsSL https://ollama.com/install.sh | sh',
            },
        { text: 'See which version the server is: it may be another than that of the command line.', command: 'ollama --version' },
      ],
    },
    {
      pattern: /model ["']?([\w./:-]{2,100})["']? not found, try pulling it first/,
      kind: 'file_missing',
      severity: 'critical',
      title: ({ match }) => `Ollama does not have ${match[1]}`,
      verdict: ({ match }) => `A request named ${match[1]}, which this server has not pulled: name and tag must be exactly those of its list.`,
      remedies: ({ match, situation }) => [
        {
          text: 'Pull it.',
          command: `${situation().programs.has('docker') ? `docker exec ${situation().subject.container ?? 'ollama'} ` : ''}ollama pull ${match[1]}`,
        },
        { text: 'Or use a name that is there; the service and a user keep their models in different folders.', command: 'ollama list' },
      ],
    },
  ],
})
