// What to do when a program sees no GPU: what is there, what it may see, what it was built for.
import { printTorch } from '../remedies/environment.ts'
import { generationIn } from '../parts/architecture.ts'
import type { Matched } from '../parts/rules.ts'
import { torchWheel, wheelFor } from '../remedies/packages.ts'
import { pipInstall } from '../remedies/pip.ts'
import type { Piece } from '../remedies/plan.ts'
import { settingOf } from '../../situation/settings.ts'
import type { Situation } from '../../situation/situation.ts'
import { HOST_DRIVER, inContainer, inJob } from './driver-remedies.ts'
import { requestGpu, SEE_VISIBLE } from './request.ts'

/** `nvidia-smi -L`, in the same text. */
const SHOWN = /^GPU \d{1,2}: NVIDIA [^\n]{3,60} \(UUID: GPU-/m
/** rocminfo's first line. */
export const NO_ROCK = /ROCk module is NOT loaded/
/** In a container, by its prompt, or by the command or the prefix with which it was started. */
const started = (at: Situation): boolean =>
  inContainer(at) || BY_COMPOSE.test(at.text) || /\b(?:docker|podman) run\b|\b(?:apptainer|singularity) (?:exec|run|shell)\b/.test(at.text)
/** A program sees none: what is there, what it may see, what it was built for. */
export function program(matched: Matched): readonly Piece[] {
  const { vendor, system, programs, text } = matched.situation()
  // rocm.docs.amd.com, "Use ROCm on Radeon GPUs": under WSL the driver is Adrenalin on Windows, and only the Radeons of its list work.
  if (vendor === 'amd' && system === 'wsl')
    return [
      {
        text: "WSL passes an AMD GPU on only for the Radeons and with the Adrenalin driver that AMD's list for ROCm on WSL names: compare both, and update the driver on Windows.",
        command: 'ls -l /dev/dxg; rocminfo | grep -i gfx',
      },
      {
        text: 'If rocminfo shows the GPU: PyTorch must use the libhsa-runtime64 of ROCm for WSL. Wheels from pytorch.org bring one of their own, which does not know WSL; install the wheels that AMD publishes for WSL.',
      },
    ]
  if (vendor === 'amd')
    return [
      NO_ROCK.test(text) && {
        text: 'Load the driver, and see what it says of the card (blacklisted, firmware missing, or too new for the kernel).',
        command: 'sudo modprobe amdgpu; sudo dmesg | grep -i amdgpu | tail -n 30',
      },
      notInGroup(text),
      { text: 'See whether the machine shows a GPU here at all.', command: 'rocminfo | grep -i gfx; ls -l /dev/kfd /dev/dri' },
      { text: 'See what the program may see: an empty or wrong value hides all GPUs.', command: "env | grep -E 'HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES'" },
      (programs.has('docker') || programs.has('compose')) && {
        text: 'In a container: pass the devices.',
        command: 'docker run --device=/dev/kfd --device=/dev/dri <IMAGE>',
      },
    ]
  if (system === 'windows')
    return [
      { text: 'See whether Windows shows the GPU.', command: 'nvidia-smi' },
      { text: 'See whether CUDA_VISIBLE_DEVICES hides it.', command: 'set CUDA_VISIBLE_DEVICES' },
    ]
  return [
    programs.has('ray') && {
      text: 'Ray hides all GPUs from a task or actor that asked for none: num_gpus=1 (Tune: tune.with_resources; Serve: ray_actor_options). See what the cluster has to give.',
      command: 'ray status',
    },
    programs.has('jax') &&
      /no platforms that are instances of|Platforms present are: cpu/.test(text) && {
        text: 'If nvidia-smi shows the GPU: most likely the JAX that is installed is for the CPU only. Install the one with CUDA.',
        command: pipInstall(matched.situation(), "'jax[cuda12]'", '--upgrade'),
      },
    // Nothing else is to be looked at where none was asked for.
    (started(matched.situation()) || matched.situation().hosted || inJob(matched.situation())) && requestGpu(matched.situation()),
    renumbered(text),
    hides(matched.situation()),
    SHOWN.test(text)
      ? {
          text: 'nvidia-smi lists the GPU, but CUDA also needs the module nvidia_uvm: check that it is loaded, that a GPU in MIG mode has an instance, and that no other process holds the GPU in exclusive mode.',
          command: 'sudo nvidia-modprobe -u -c 0; ls -l /dev/nvidia-uvm; nvidia-smi --query-gpu=index,mig.mode.current,compute_mode --format=csv',
        }
      : system === 'wsl'
        ? {
            text: 'See whether WSL passes the GPU on. Its driver is that of Windows: a driver or a libcuda of Linux beside it hides it.',
            command: 'nvidia-smi -L; ls -l /dev/dxg; ldconfig -p | grep libcuda.so',
          }
        : { text: 'See whether a GPU is there at all, where the program runs.', command: 'nvidia-smi -L; ls -l /dev/nvidia*' },
    SEE_VISIBLE,
    /\bMIG\b/.test(text) && {
      text: 'With MIG a CUDA program sees one instance: name it by its UUID (MIG-…) in CUDA_VISIBLE_DEVICES.',
      command: 'nvidia-smi -L',
    },
    requestGpu(matched.situation()),
  ]
}
/** ls names the group of the device, id those of the user. */
function notInGroup(text: string): Piece {
  const group = /^crw-rw---- {1,4}\d{1,3} root (render|video) [^\n]{3,60}\/dev\/kfd/m.exec(text)?.[1]
  const groups = /\buid=\d{1,10}\([^\n]{3,200}\bgroups=([^\n]{1,300})/.exec(text)?.[1]
  return (
    group !== undefined &&
    groups?.includes(`(${group})`) === false && {
      text: `Add the user to the group ${group}, which owns /dev/kfd: it is not in it. It takes effect at the next login.`,
      command: `sudo usermod -aG ${group} "$USER"`,
    }
  )
}
/** A container that was given one GPU numbers it 0, and CUDA_VISIBLE_DEVICES still names it by its number on the host. */
function renumbered(text: string): Piece {
  const given = /--gpus[ =]["']{0,2}(?:\\?")?device=(\d{1,2})(?![\d,])/.exec(text)?.[1]
  const named = /CUDA_VISIBLE_DEVICES[=:] ?["']?(\d{1,2})(?![\d,])/.exec(text)?.[1]
  return (
    given !== undefined &&
    named !== undefined &&
    named !== '0' && { text: `Leave CUDA_VISIBLE_DEVICES=${named} out: the container has only GPU ${given} of the host, and inside it counts from 0.` }
  )
}
/** The text shows the value of CUDA_VISIBLE_DEVICES; an index that does not exist hides every GPU. */
function hides({ settings, text }: Situation): Piece {
  const value = settingOf(settings, 'CUDA_VISIBLE_DEVICES')
  if (value === undefined || !/^-?\d{1,2}$/.test(value) || /--gpus[ =]/.test(text)) return undefined
  return {
    text:
      value === '-1'
        ? 'CUDA_VISIBLE_DEVICES is -1, which hides all GPUs: leave it out.'
        : `CUDA_VISIBLE_DEVICES is ${value}: where no GPU has the number ${value}, it hides all (they count from 0). Leave it out, or name one that this lists.`,
    command: 'nvidia-smi -L',
  }
}
/** PyPI's wheels of CTranslate2 have CUDA for x86-64 on Linux and Windows only. */
const CTRANSLATE2 = (at: Situation): readonly Piece[] => [
  {
    text: 'On x86-64 with Linux or Windows install the wheel from PyPI again: it has CUDA.',
    command: pipInstall(at, 'ctranslate2', '--upgrade --force-reinstall'),
  },
  {
    text: "On ARM (Jetson, Grace, a Mac; see uname -m) there is no wheel with CUDA: build CTranslate2 with -DWITH_CUDA=ON, or use device='cpu' with compute_type='int8'.",
  },
]
const ON_A_MAC: readonly Piece[] = [
  {
    text: 'Let the program use another device: its own option for it (often --device), or in its code the device "mps" (the GPU of an Apple Mac) or "cpu" instead of "cuda" and of .cuda().',
    command: 'python -c "import torch; print(torch.backends.mps.is_available())"',
  },
  { text: 'Operations that Metal lacks then run on the CPU.', command: 'export PYTORCH_ENABLE_MPS_FALLBACK=1' },
  { text: 'What needs CUDA itself (kernels of its own, bitsandbytes, FlashAttention) needs another machine.' },
]
const rocmBuild = (at: Situation): readonly Piece[] => [
  at.system === 'windows'
    ? {
        text: 'On Windows AMD gives wheels of its own, for some cards only: rocm.docs.amd.com lists both. The wheels of pytorch.org with ROCm are for Linux.',
      }
    : torchWheel(at, `rocm${at.versions.rocm ?? '6.4'}`, 'Install the build with ROCm: the one that is installed is for the CPU or for CUDA.'),
  { text: 'See which build is installed: without ROCm the last word is None.', command: printTorch('torch.__version__, torch.version.hip') },
]
/** `conda list`: name, version, build. */
export const CONDA_CPU = /^pytorch(?:-cpu)? {2,40}[\d.]{3,12} {2,40}(?:cpu_|py[\d.]{2,6}_cpu)\S{0,40}/m
export function build({ situation, message }: Matched): readonly Piece[] {
  const at = situation()
  if (/CTranslate2 package/.test(message)) return CTRANSLATE2(at)
  if (at.system === 'mac') return ON_A_MAC
  if (at.vendor === 'intel')
    return [
      torchWheel(at, 'xpu', 'Install the build for Intel GPUs: the one that is installed is for the CPU or for CUDA.'),
      {
        text: 'Check which build is installed: the version of an XPU build ends in +xpu.',
        command: printTorch('torch.__version__, torch.xpu.is_available()'),
      },
    ]
  if (at.vendor === 'amd') return rocmBuild(at)
  return [
    at.hosted && requestGpu(at),
    CONDA_CPU.test(at.text) && {
      text: 'The text shows the build of conda-forge for the CPU: let conda install the one for the GPU in its place.',
      command: 'conda install -y -c conda-forge pytorch-gpu',
    },
    // Of the wheels cu128 runs on most: Turing to Blackwell, with a driver for CUDA 12 or newer.
    torchWheel(
      at,
      wheelFor(generationIn(at.text), at.versions.driverCuda) ?? 'cu128',
      'Install the build with CUDA: the one that is installed is for the CPU only.',
    ),
    {
      text: 'See which build is installed: without CUDA the last word is None.',
      command: printTorch('torch.__version__, torch.version.cuda'),
    },
  ]
}

const BY_COMPOSE = /^[a-z][\w.-]{1,40}[-_]\d{1,3} {1,10}\| /m
/** nvidia-smi answers in the same text: PyTorch says so where it cannot load libcuda.so.1. */
const shownDriver = ({ text, system }: Situation): string | undefined =>
  system === 'windows' ? undefined : /NVIDIA-SMI \d{3}\.[\d.]{2,8} {1,20}Driver Version: (\d{3}\.[\d.]{2,8}\d)/.exec(text)?.[1]
/** The machine shows a card of AMD and none of NVIDIA: the words of PyTorch itself name NVIDIA. */
const amdCard = ({ text }: Situation): boolean =>
  /\bRadeon\b|\bamdgpu\b|\bInstinct MI\d/.test(text) && !/GeForce|Quadro|\bTesla\b|\bRTX ?\d|NVIDIA Corporation|\b10de:|\bNVRM\b|\b[AHB]\d00\b/.test(text)
export function noDriver({ situation }: Matched): string {
  if (amdCard(situation())) return 'This PyTorch is a build for NVIDIA GPUs, so it looks for the driver of NVIDIA; the text shows a GPU of AMD.'
  const shown = shownDriver(situation())
  return shown === undefined
    ? situation().hosted
      ? 'PyTorch finds no NVIDIA driver: the runtime of this notebook was started without a GPU.'
      : 'PyTorch finds no NVIDIA driver: it is not loaded on the host, or the container was started without the GPU.'
    : `nvidia-smi shows the driver ${shown}, and PyTorch finds none where it runs: its library libcuda.so.1 is not found there, as in a container without the GPU.`
}
export function withoutLibcuda({ situation }: Matched): readonly Piece[] | undefined {
  const at = situation()
  // What a container prints says nothing of the modules of its host.
  if (amdCard(at)) return rocmBuild(at)
  if (shownDriver(at) === undefined && at.hosted) return [requestGpu(at)]
  if (shownDriver(at) === undefined) return inContainer(at) || BY_COMPOSE.test(at.text) ? [requestGpu(at), HOST_DRIVER, SEE_VISIBLE] : undefined
  return [
    {
      text: 'See, where the program runs, whether libcuda.so.1 is found: the package with it (libnvidia-compute, libcuda1) may be missing, or a stub of the toolkit comes first.',
      command: 'ldconfig -p | grep libcuda.so; printenv LD_LIBRARY_PATH',
    },
    requestGpu(situation()),
    SEE_VISIBLE,
  ]
}

/** The job or process asks for a number that it does not have. */
/** What the process was given, not what the host has. */
export const ONE_INSTANCE = /(?:CUDA|NVIDIA)_VISIBLE_DEVICES\b[^\n]{0,4}\s{0,4}=?["']?MIG-|CUDA_VISIBLE_DEVICES\s{1,4}MIG-/
/** Where the command shows both. */
function counts(text: string): string {
  const shown = /\bCUDA_VISIBLE_DEVICES=["']?(\d{1,2}(?:,\d{1,2}){0,15})["']?[\s;]/.exec(text)?.[1]?.split(',').length
  const ranks = Number(/--?n(?:proc|um)[-_](?:per[-_]node|processes)[= ](\d{1,3})\b/.exec(text)?.[1])
  return shown === undefined || !(ranks > shown) ? '' : `: the command starts ${ranks}, and CUDA_VISIBLE_DEVICES shows ${shown}`
}
/** Each task gets GPUs of its own, and counts them from 0. */
const BOUND = /--accel-bind=\w{0,3}g|--gpu-bind|--gpus-per-task|--ntasks-per-node=(?!1\b)\d/
/** The prefix of the line tells which process asked; without one any. */
export const asker = ({ text, at }: Matched): string => {
  const rank = /^[^\n]{0,60}\[rank ?(\d{1,6})\]/i.exec(text[at] ?? '')?.[1]
  return rank === undefined ? 'The program' : `Rank ${rank}`
}
export const ordinal = (matched: Matched): readonly Piece[] => {
  const { text } = matched.situation()
  if (ONE_INSTANCE.test(text))
    return [
      { text: 'Let it use one GPU: number 0, one process (torchrun --nproc_per_node=1).' },
      { text: 'Or give it more: a larger instance, or the whole card without MIG.', command: 'nvidia-smi -L; nvidia-smi mig -lgip' },
    ]
  if (matched.situation().vendor === 'amd')
    return [
      {
        text: 'Use only indexes that are visible: they count from 0 within HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES.',
        command: "env | grep -E 'HIP_VISIBLE_DEVICES|ROCR_VISIBLE_DEVICES'",
      },
      { text: 'See which GPUs there are.', command: 'rocm-smi -i' },
    ]
  const asked = /device index "(\d{1,3})"/.exec(text)?.[1]
  const visible = /there are (\d{1,3}) visible/.exec(text)?.[1]
  return [
    {
      text: `Use only indexes that are visible${asked === undefined || visible === undefined ? '' : ` (${asked} was asked for, ${visible} ${visible === '1' ? 'is' : 'are'} visible)`}: they count from 0 within CUDA_VISIBLE_DEVICES, and of MIG instances a process sees only one.`,
    },
    matched.situation().programs.has('slurm') &&
      BOUND.test(text) && {
        text: 'Where srun gives each task GPUs of its own (--gpus-per-task, --gpu-bind, --accel-bind=g), a task sees its GPU as number 0, whatever its local rank is: leave that out, or use number 0 in each.',
        command: 'srun bash -c \'echo "task $SLURM_LOCALID: $CUDA_VISIBLE_DEVICES"; nvidia-smi -L\'',
      },
    (matched.situation().distributed || /local_rank|\baccelerate\b/.test(text)) && {
      text: `Start no more ranks on a node than it has GPUs${counts(text)} (torchrun --nproc_per_node, accelerate launch --num_processes).`,
    },
    { text: 'See which GPUs and instances there are.', command: 'nvidia-smi -L' },
    SEE_VISIBLE,
    !/--gpus all/.test(text) && requestGpu(matched.situation()),
  ]
}

/** PyTorch's `No CUDA GPUs are available`. */
export const noneFor = ({ situation }: Matched): string =>
  situation().vendor === 'amd' && situation().system === 'wsl'
    ? 'PyTorch finds no AMD GPU under WSL, which passes on only some Radeons, and to a ROCm that knows WSL.'
    : NO_ROCK.test(situation().text)
      ? "PyTorch finds no GPU: the kernel's driver amdgpu is not loaded."
      : /\bray::|RayTaskError|RayWorker/.test(situation().text)
        ? 'PyTorch finds no GPU in a worker of Ray, which hides all GPUs from a task or actor that asked for none.'
        : situation().hosted
          ? 'PyTorch finds no GPU: the runtime of this notebook was started without one, or CUDA_VISIBLE_DEVICES hides it.'
          : `PyTorch finds no GPU: none was given to this container or process, or ${situation().vendor === 'amd' ? 'HIP_VISIBLE_DEVICES' : 'CUDA_VISIBLE_DEVICES'} hides it.`
