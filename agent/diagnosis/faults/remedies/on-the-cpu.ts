// Why a program looks in vain for a GPU and goes on on the CPU: by the program, and by what the lines around it say.
import { printTorch } from './environment.ts'
import { lessMemory } from '../cuda-oom/less/index.ts'
import { requestGpu } from '../gpu-not-visible/request.ts'
import type { Matched } from '../parts/rules.ts'
import { whoHolds } from './gpu.ts'
import { onnxProvider } from './onnx-provider.ts'
import { pipInstall } from './pip.ts'
import type { Piece } from './plan.ts'

export const NO_MEMORY = /out of memory|OutOfMemory|(?:not enough|insufficient|too little) (?:free )?(?:GPU |video )?(?:memory|vram)/i
const TOO_SHORT = ': file too short'
/** The file that the loader found too short. */
function cutFile(near: string): string | undefined {
  const end = near.indexOf(TOO_SHORT)
  return end < 0 ? undefined : /\/[^\s:]{1,200}$/.exec(near.slice(Math.max(0, end - 200), end))?.[0]
}

/** Ollama's reasons, discover/cuda_compat.go and its library's; another library may have the code, so they count only where the CPU was left. */
const OLD_GPU =
  /msg="NVIDIA driver too old"(?: device="(?<gpu>[^"\n]{1,80})")?[^\n]{0,60}? driver=(?<driver>\d{3})\S{0,12}(?: required_driver="(?<needed>\d{3}))?/
const NOT_BUILT =
  /skipping CUDA device[^\n]{1,6}compute capability not in compiled architectures[^\n]{0,60}? device="?(?<gpu>[^"\n]{1,80}?)"? cc=(?<cc>\d{3,4})/
function skippedByOllama({ groups = {} }: RegExpExecArray): readonly Piece[] {
  const { gpu = 'this GPU', driver, needed = '570', cc } = groups
  return driver === undefined
    ? [
        {
          text: `No CUDA library of this Ollama has code for ${gpu} (compute capability ${cc?.slice(0, -2)}.${cc?.at(-2)}). Install Ollama's own package, newest release: distributions build theirs for fewer GPUs.`,
          command: 'curl -fsSL https://ollama.com/install.sh | sh',
        },
        { text: 'See that it finds the libraries of CUDA 12, which know older GPUs.', command: 'ls /usr/local/lib/ollama /usr/lib/ollama' },
      ]
    : [
        {
          text: `Update the NVIDIA driver of the host to ${needed} or newer, then reboot: this Ollama does not use ${gpu} with the present one (${driver}).`,
          command: 'nvidia-smi --query-gpu=name,driver_version --format=csv',
        },
        { text: 'If the driver cannot be updated: Ollama before 0.30 still runs on it.' },
      ]
}

/** The plugin is there: JAX says the same when it does not start. */
const JAX_PLUGIN = /jax[-_]cuda1\d[-_](?:plugin|pjrt)|Jax plugin configuration error/
export function onTheCpu({ situation, message, text, at }: Matched): readonly Piece[] {
  const now = situation()
  const near = `${message}\n${text.slice(Math.max(0, at - 8), at + 4).join('\n')}`
  const { programs, vendor } = now
  if (NO_MEMORY.test(message)) return [lessMemory(now, {}), whoHolds(now)]
  const short = cutFile(near)
  if (short !== undefined)
    return [
      {
        text: `${short} is empty or cut: install the driver's libraries again, in the version of the kernel module.`,
        command: `ls -l ${short}; cat /proc/driver/nvidia/version`,
      },
    ]
  // Ollama's own words.
  const old = /old CUDA driver detected[^\n]{0,80}?\bversion=(\d{1,2}\.\d)/.exec(now.text)?.[1]
  if (old !== undefined)
    return [
      {
        text: `Update the NVIDIA driver of the host, then reboot: the present one runs CUDA up to ${old}, which is too old for this Ollama.`,
        command: 'nvidia-smi',
      },
      { text: 'If the driver cannot be updated: an older release of Ollama still runs on it.' },
    ]
  const skipped = OLD_GPU.exec(now.text) ?? NOT_BUILT.exec(now.text)
  if (skipped !== null && programs.has('ollama')) return skippedByOllama(skipped)
  if (/forward compatibility|COMPAT_NOT_SUPPORTED/i.test(now.text))
    return [
      {
        text: 'This GPU does not support the cuda-compat library: take /usr/local/cuda/compat out of LD_LIBRARY_PATH.',
        command: 'ldconfig -p | grep libcuda.so; nvidia-smi',
      },
      requestGpu(now),
    ]
  const see: Piece =
    vendor === 'amd'
      ? { text: 'See whether the driver shows the GPU.', command: 'rocminfo | grep -i gfx; ls -l /dev/kfd /dev/dri' }
      : vendor === 'intel'
        ? { text: 'See whether the driver shows a GPU here.', command: 'xpu-smi discovery; ls -l /dev/dri' }
        : { text: 'See whether the driver shows a GPU here.', command: 'nvidia-smi -L' }
  if (programs.has('onnxruntime')) return [onnxProvider(now, near), see]
  const own: Piece = programs.has('tensorflow')
    ? {
        text: 'See which GPUs TensorFlow finds; since 2.14 pip brings its CUDA libraries with tensorflow[and-cuda].',
        command: 'python -c "import tensorflow as tf; print(tf.config.list_physical_devices(\'GPU\'))"',
      }
    : programs.has('ollama')
      ? {
          text: 'See what Ollama says of its search for GPUs; after a driver update restart it (models are unloaded).',
          command: `${programs.has('docker') || programs.has('compose') || /^ollama {1,10}\|/m.test(now.text) ? `docker logs ${now.subject.container ?? 'ollama'} 2>&1` : 'journalctl -u ollama --no-pager'} | grep -iE "gpu|cuda|rocm" | tail -n 30`,
        }
      : programs.has('llamacpp')
        ? { text: 'See whether this build has a GPU backend: without one it lists no device.', command: 'llama-server --list-devices' }
        : programs.has('jax')
          ? { text: 'See which devices JAX finds; the GPU build is jax[cuda12].', command: 'python -c "import jax; print(jax.devices())"' }
          : programs.has('pytorch') || /\bCUDA not available|torch|FP16 is not supported on CPU/i.test(message)
            ? {
                text: 'See whether PyTorch is a build with CUDA (None: for the CPU only), and whether it sees the GPU.',
                command: printTorch('torch.__version__, torch.version.cuda, torch.cuda.is_available()'),
              }
            : { text: 'See whether the program is a build with GPU support: one for the CPU never finds a GPU.' }
  if (programs.has('jax') && /CUDA-enabled jaxlib is not installed|has no attribute 'GpuAllocatorConfig'/.test(now.text) && !JAX_PLUGIN.test(now.text))
    return [
      { text: 'Install JAX with its CUDA plugin: the jaxlib here is for the CPU only.', command: pipInstall(now, "'jax[cuda12]'", '--upgrade') },
      own,
      see,
    ]
  const noDevice: Piece = /no nvidia devices detected by library/.test(near) && {
    text: "The driver's library found no device: see whether the device files are there, and load nvidia_uvm.",
    command: 'ls -l /dev/nvidia*; sudo modprobe nvidia_uvm',
  }
  return [see, noDevice, own, requestGpu(now)]
}
