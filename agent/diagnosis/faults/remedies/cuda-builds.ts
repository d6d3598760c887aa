// What helps when a program was not built for this GPU, or brings a libcuda that the driver does not take.
import { architectureIn, namedArchitecture, capabilityText, kernelsIn, kernelsOf, oldArchitecture, usualGpu } from '../parts/architecture.ts'
import type { Matched } from '../parts/rules.ts'
import { compareVersions } from '../../situation/versions.ts'
import { setVariables } from './environment.ts'
import { COMPUTE_CAP, WHICH_GPU } from './gpu.ts'
import { SEE_TORCH, torchWheel, wheelFor } from './packages.ts'
import { pipInstall } from './pip.ts'
import type { Piece } from './plan.ts'

/** A program of its own in C++: nothing of Python is in its words. */
const COMPILED = /^(?![^]*(?:\.py\b|Traceback|c10::|\bat::|torch))[^]*(?:\bthrust::|\bTHRUST_\d|terminate called after|\.cu:\d)/
/** Nothing of Python, and not in PyTorch's words either. */
const OTHER_WORDS = /^(?![^]*(?:\.py\b|Traceback|RuntimeError|CUDA error: no kernel|c10::|\bat::|torch|python|-packages))/i

/** What a build supports, not which GPU it is. */
const GFX_LIST = /\bgfx\w{3,8}(?:[;,:] ?gfx\w{3,8}){1,40}/g
const PYTHONS = [
  'vllm',
  'sglang',
  'tgi',
  'jax',
  'tensorflow',
  'onnxruntime',
  'comfyui',
  'sd_webui',
  'transformers',
  'diffusers',
  'paddle',
  'cupy',
  'numba',
] as const

export function architecture({ situation, message, match, text, at: line }: Matched): readonly Piece[] {
  const at = situation()
  const arch = architectureIn(message) ?? architectureIn(at.text)
  const { programs, vendor } = at
  const triton = /Triton Error/i.test(message)
  const rebuild: Piece = arch !== undefined &&
    /extension|flash[-_]?attn|setup\.py|nvcc|TORCH_CUDA_ARCH_LIST/i.test(at.text) && {
      text: `Rebuild your own extensions for compute capability ${capabilityText(arch)}.`,
      command: `TORCH_CUDA_ARCH_LIST="${capabilityText(arch)}" pip install --no-build-isolation --force-reinstall <PACKAGE>`,
    }
  if (triton)
    return [
      {
        text: 'Update the driver, or set TRITON_PTXAS_PATH to a ptxas of a CUDA that the driver supports.',
      },
      {
        text: "Delete Triton's cache: it may hold kernels of another GPU or version (they are compiled again).",
        command: 'rm -rf ~/.triton/cache',
        destroys: true,
      },
    ]
  // The relatives of gfx1030 and gfx1100, for which PyTorch is built.
  const override = /\bgfx(?:103[1-6]|110[1-3])\b/.exec(at.text.replaceAll(GFX_LIST, '')) ?? undefined
  if (vendor === 'amd')
    return [
      { text: 'See which architecture the GPU has, and which the build supports.', command: 'rocminfo | grep gfx' },
      {
        text: `Install the build for your ROCm release${override === undefined ? '; some consumer GPUs run with the override of a supported neighbour (HSA_OVERRIDE_GFX_VERSION: 10.3.0 for RDNA 2, 11.0.0 for RDNA 3)' : ''}.`,
      },
      override !== undefined && {
        text: `Or let ${override[0]} run the code of its supported relative: nearly the same instructions.`,
        command: setVariables(at, { HSA_OVERRIDE_GFX_VERSION: override[0].startsWith('gfx11') ? '11.0.0' : '10.3.0' }),
      },
    ]
  if (programs.has('ollama'))
    return [
      {
        text: 'Update Ollama, and the driver: its releases hold code for the GPUs of their time, and a library of an older installation may be found first.',
        command: at.system === 'windows' ? 'ollama --version' : 'ollama --version; ls -d /usr/lib/ollama /usr/local/lib/ollama',
      },
      // docs.ollama.com/gpu: ROCm knows fewer cards than Vulkan does.
      /\brocm|\bHIP\b/i.test(at.text) && {
        text: 'An AMD GPU: its ROCm build holds code for few architectures (docs.ollama.com/gpu lists them). Current releases reach most others through Vulkan; on Linux HSA_OVERRIDE_GFX_VERSION lets a card run the code of its relative.',
      },
      !/\brocm|\bHIP\b/i.test(at.text) && WHICH_GPU,
    ]
  // opennmt.net/CTranslate2, installation: CUDA_ARCH_LIST.
  if (programs.has('ctranslate2') || /\bCUDA failed with error\b/.test(message))
    return [
      { text: 'Update CTranslate2: newer wheels hold code for newer GPUs.', command: pipInstall(at, 'ctranslate2', '--upgrade') },
      { text: `Or compile it for this GPU: -DWITH_CUDA=ON -DCUDA_ARCH_LIST=${arch === undefined ? 'Auto' : capabilityText(arch)}.` },
      WHICH_GPU,
    ]
  if (programs.has('llamacpp'))
    return [
      {
        text: `Use a build for this GPU${arch === undefined ? '' : ` (compute capability ${capabilityText(arch)})`}: llama.cpp is compiled for it with -DCMAKE_CUDA_ARCHITECTURES.`,
      },
      WHICH_GPU,
    ]
  const part = kernelsOf({ message, match })
  if (part !== undefined && at.jetson)
    return [
      {
        text: `It is ${part} that lacks the code, not PyTorch: its wheels are not built for boards. Take a wheel for the JetPack of the board, or compile it there (compute capability 8.7 on Orin, 7.2 on Xavier).`,
        command: 'cat /etc/nv_tegra_release',
      },
      { text: "Or run without it (PyTorch's own attention: sdpa)." },
    ]
  if (part !== undefined)
    return [
      {
        text: `It is ${part} that lacks the code, not PyTorch: install a release or build of it that lists this GPU${arch === undefined ? '' : ` (${capabilityText(arch)})`}, or run without it.`,
      },
      programs.has('sglang') && { text: 'Or let SGLang use other kernels.', command: '--attention-backend triton --sampling-backend pytorch' },
      programs.has('vllm') && { text: 'Or let vLLM use other kernels (--attention-backend; before 0.12 VLLM_ATTENTION_BACKEND).' },
      WHICH_GPU,
    ]
  const inOtherWords = OTHER_WORDS.test(at.text) && !PYTHONS.some((program) => programs.has(program))
  if ((COMPILED.test(at.text) || inOtherWords) && !programs.has('pytorch'))
    return [
      {
        text: `See which compute capability the GPU has, and compile the program for it (nvcc: -gencode, CMake: CMAKE_CUDA_ARCHITECTURES), or take a ${inOtherWords ? 'release or ' : ''}build that was.`,
        command: COMPUTE_CAP,
      },
      { text: 'See for which architectures a program or a library holds code.', command: 'cuobjdump --list-elf <FILE>' },
    ]
  if (programs.has('jax') && !programs.has('pytorch'))
    return [
      {
        text: 'Take a jaxlib that holds code for this GPU: newer releases know newer GPUs, and drop the oldest.',
        command: pipInstall(at, "'jax[cuda12]'", '--upgrade'),
      },
      WHICH_GPU,
      { text: 'See which release it is, and what it finds.', command: 'python -c "import jax; print(jax.__version__, jax.devices())"' },
    ]
  if (programs.has('onnxruntime') && !programs.has('pytorch'))
    return [
      {
        text: `Take a release of ONNX Runtime that holds code for this GPU${arch === undefined ? '' : ` (${capabilityText(arch)})`}; on a Jetson the wheel for the JetPack of the board.`,
        command: COMPUTE_CAP,
      },
      { text: 'Built from source: name the capability, without its point, to the build: --cmake_extra_defines CMAKE_CUDA_ARCHITECTURES=<CAPABILITY>.' },
    ]
  const named = namedArchitecture(at.text) ?? oldArchitecture(at.text) ?? usualGpu(at.text)?.architecture
  const built = at.versions.cuda
  // PyTorch's wheels for CUDA 12.6 end with Volta's time, those for 12.8 and newer hold Blackwell: RELEASE.md, "PyTorch CUDA support matrix".
  const has =
    named !== undefined &&
    built !== undefined &&
    (named >= 100 ? compareVersions(built, '12.8') >= 0 : named >= 75 ? compareVersions(built, '11.8') >= 0 : compareVersions(built, '12.8') < 0)
  if (has && programs.has('pytorch') && !programs.has('vllm') && !programs.has('sglang')) {
    const own = kernelsIn(text.slice(Math.max(0, line - 12), line + 8).join('\n'))
    return [
      {
        text: `PyTorch here is for CUDA ${built}, which has code for this GPU: ${own ?? (programs.has('comfyui') ? 'a custom node or another extension' : 'an extension')} lacks it${own === undefined ? ' (the traceback names it)' : ''}. Install a release or build of it for this GPU (compute capability ${capabilityText(named)}), or choose another one in its place (PyTorch's own attention: sdpa).`,
      },
      SEE_TORCH,
    ]
  }
  // It asks uv for a PyTorch that fits the GPU, with what belongs to it.
  if (named !== undefined && /\bUnsloth \d/.test(at.text))
    return [
      {
        text: `Install Unsloth with a PyTorch that has code for this GPU (sm_${named}); ${built === undefined ? 'see which one this is' : `this one is for CUDA ${built}`}. xFormers and vLLM must fit it too: an environment of its own is surest.`,
        command: 'uv pip install --upgrade unsloth --torch-backend=auto',
      },
      SEE_TORCH,
    ]
  // PyTorch adds this to its message.
  const wheel: Piece =
    named !== undefined &&
    (programs.has('pytorch') || /CUDA kernel errors might be/.test(at.text)) &&
    torchWheel(
      at,
      wheelFor(named, at.versions.driverCuda),
      `If sm_${named} is not in its list: install a build for CUDA ${named < 100 ? '12.6, which has it; newer ones have dropped it' : '12.8 or newer, which has it'}.`,
    )
  if (arch === undefined)
    return [
      (programs.has('vllm') || programs.has('sglang')) && {
        text: 'A newer GPU than the release: take a newer image or wheel of the server (for Blackwell one that is built for CUDA 12.8 or newer). An older one: vLLM needs compute capability 7.0, SGLang 7.5.',
      },
      SEE_TORCH,
      wheel,
      {
        text:
          wheel === undefined || wheel === false
            ? 'Then install a build that lists the capability of the GPU, or rebuild the extension whose kernel is missing.'
            : 'If it is: it is an extension that lacks the kernel (the traceback names it); rebuild that.',
      },
    ]
  const index = wheelFor(arch, at.versions.driverCuda)
  return [
    torchWheel(
      at,
      index,
      arch >= 100
        ? `Install a build with kernels for sm_${arch}: those for CUDA 12.8 and newer have them.`
        : `Install a build with kernels for sm_${arch}${arch < 75 ? ': newer ones for CUDA 12.8 and up have dropped it' : ''}.`,
    ),
    index === undefined &&
      (arch < 35
        ? { text: `No PyTorch of today can be built for sm_${arch}: use another GPU, or run on the CPU.` }
        : { text: `Current builds have no kernels for sm_${arch}: compile PyTorch for it, or use an old release.` }),
    rebuild,
    SEE_TORCH,
  ]
}

export function compatibility({ situation }: Matched): readonly Piece[] {
  const { programs, versions } = situation()
  return [
    {
      text: 'See which libcuda comes first. A cuda-compat library (/usr/local/cuda/compat) works on data-centre GPUs only: elsewhere take its folder out of LD_LIBRARY_PATH.',
      command: 'ldconfig -p | grep libcuda.so; printenv LD_LIBRARY_PATH',
    },
    {
      text: `Or update the driver of the host, or use an image or build for a CUDA that it runs (${versions.driverCuda ?? 'head line of nvidia-smi'}).`,
      ...(versions.driverCuda === undefined ? { command: 'nvidia-smi' } : {}),
    },
    {
      text: 'If the driver was updated since the last boot, reboot.',
      command: 'cat /proc/driver/nvidia/version',
    },
    programs.has('apt') && {
      text: "Remove the compatibility package where it is installed; programs then use the driver's own library.",
      command: "sudo apt-get remove 'cuda-compat-*'",
      destroys: true,
    },
  ]
}
