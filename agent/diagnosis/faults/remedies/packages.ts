// Which pip package and which CUDA a library's file name means; which PyTorch wheel a GPU and a driver can run.
// Sources: PyPI (nvidia-*-cu11, -cu12; from CUDA 13 on without a suffix, except cuDNN and NCCL), NVIDIA's CUDA compatibility guide, PyTorch's release matrix.
import { printTorch } from './environment.ts'
import { PROGRAM_NAMES } from '../../situation/programs.ts'
import { generationIn } from '../parts/architecture.ts'
import { compareVersions, group } from '../../situation/versions.ts'
import type { Situation } from '../../situation/situation.ts'
import { installerOf, pipInstall } from './pip.ts'
import type { Advice, Piece } from './plan.ts'

export type CudaFile = { readonly stem: string; readonly version: string | undefined; readonly cuda: string | undefined; readonly windows: boolean }

/** Numbers of libraries that do not count as CUDA does: the major version of CUDA, where the file's number tells it. */
const CUDA_OF: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  cufft: { '11': '12', '12': '13' },
  cusparse: { '11': '11' },
  cusolver: { '10': '11', '12': '13' },
  cudart: { '11': '11', '12': '12', '13': '13', '10': '10' },
  cublas: { '10': '10', '11': '11', '12': '12', '13': '13' },
  cublasLt: { '10': '10', '11': '11', '12': '12', '13': '13' },
  nvrtc: { '11': '11', '12': '12', '13': '13' },
  nvJitLink: { '12': '12', '13': '13' },
  cupti: { '11': '11', '12': '12', '13': '13' },
}
/** The package of a library, without its suffix. */
const PACKAGE: Readonly<Record<string, string>> = {
  cudart: 'nvidia-cuda-runtime',
  cublas: 'nvidia-cublas',
  cublasLt: 'nvidia-cublas',
  cufft: 'nvidia-cufft',
  curand: 'nvidia-curand',
  cusolver: 'nvidia-cusolver',
  cusparse: 'nvidia-cusparse',
  nvrtc: 'nvidia-cuda-nvrtc',
  nvJitLink: 'nvidia-nvjitlink',
  cupti: 'nvidia-cuda-cupti',
  nccl: 'nvidia-nccl',
  cudnn: 'nvidia-cudnn',
}

/** libcublasLt.so.12, cudart64_110.dll, libcudnn_ops.so.9.1.0. */
export function cudaFile(name: string): CudaFile {
  const so = /^lib([A-Za-z]+)[\w-]*\.so(?:\.(\d{1,3}(?:\.\d{1,3})*))?/.exec(name)
  const dll = /^([A-Za-z]+?)(?:64)?(?:_[a-z_]+64)?_(\d{1,4})\.dll/.exec(name)
  const stem = (so?.[1] ?? dll?.[1] ?? name).replace(/^cudnn.*/, 'cudnn')
  const digits = dll?.[2]
  const version = so?.[2] ?? (digits === undefined ? undefined : digits.length === 3 ? `${digits.slice(0, 2)}.${digits.slice(2)}` : digits)
  const major = version?.split('.')[0]
  // Until CUDA 10.0 the libraries carried the whole version of CUDA; cudart did until 10.2.
  const whole = stem !== 'cudnn' && stem !== 'nccl' && /^(?:8|9|10)\.\d$/.test(version ?? '') ? version : undefined
  return { stem, version, cuda: whole ?? (major === undefined ? undefined : CUDA_OF[stem]?.[major]), windows: dll !== null || name.endsWith('.dll') }
}

/** Numbers that a library kept over several versions of CUDA. */
const ONE_OF: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  cusparse: { '12': ['12', '13'] },
  cusolver: { '11': ['11', '12'] },
}
/** What the program itself says that it is for comes before libraries that are only named: bitsandbytes lists all that it would take. */
const CUDA_NEAR = [
  /libbitsandbytes_cuda(\d{2})\d|Detected CUDA version (\d{2})\d\b|\bRuntime API Version: (\d{2})\.\d/,
  /CUDA (\d{2})\.[\d*]|lib(?:cublas|cudart|cublasLt)\.so\.(\d{2})\b|\+cu(\d{2})\d|-cu(\d{2})\b/,
]
/** The major version of CUDA that the text speaks of beside this library. */
function cudaNear(situation: Situation, file: CudaFile): string | undefined {
  const near = CUDA_NEAR.map((pattern) => group(pattern.exec(situation.text)))
  const possible = ONE_OF[file.stem]?.[file.version?.split('.')[0] ?? '']
  const reported = [near[0], situation.versions.cuda?.split('.')[0], near[1]].filter((one) => one !== undefined)
  return possible === undefined ? reported[0] : (reported.find((one) => possible.includes(one)) ?? possible[0])
}

/** The module below `nvidia` in whose folder pip puts a library. */
const MODULE: Readonly<Record<string, string>> = {
  cudart: 'cuda_runtime',
  cublas: 'cublas',
  cublasLt: 'cublas',
  cufft: 'cufft',
  curand: 'curand',
  cusolver: 'cusolver',
  cusparse: 'cusparse',
  nvrtc: 'cuda_nvrtc',
  nvJitLink: 'nvjitlink',
  cupti: 'cuda_cupti',
  nccl: 'nccl',
  cudnn: 'cudnn',
}
/** The folder of pip's package, as a shell computes it; from CUDA 13 on the toolkit's packages share one. */
export function pipFolder(file: CudaFile): string | undefined {
  const module = file.cuda === '13' && file.stem !== 'cudnn' && file.stem !== 'nccl' ? 'cu13' : MODULE[file.stem]
  return module === undefined ? undefined : `$(python -c "import nvidia.${module} as m; print(list(m.__path__)[0])")/lib`
}

/** How pip installs it, or undefined where no package of that version is known. */
export function pipPackage(file: CudaFile, situation: Situation): string | undefined {
  const name = PACKAGE[file.stem]
  if (name === undefined) return undefined
  const cuda = file.cuda ?? cudaNear(situation, file)
  if (file.stem === 'cudnn') {
    const major = file.version?.split('.')[0]
    const suffix = cuda === '11' ? 'cu11' : cuda === '13' && major === '9' ? 'cu13' : 'cu12'
    return major === undefined ? undefined : Number(major) < 8 ? undefined : `'nvidia-cudnn-${suffix}==${major}.*'`
  }
  if (file.stem === 'nccl') return cuda === undefined ? undefined : `nvidia-nccl-cu${cuda}`
  if (cuda === undefined || Number(cuda) < 11) return undefined
  return cuda === '13' ? `'${name}>=13,<14'` : `${name}-cu${cuda}`
}

/** pip keeps an installed torch unless --force-reinstall or --upgrade is given; torchvision must be of the same release, where it is there. */
const reinstall = (situation: Situation, index: string): string => {
  const beside = ['torchvision', 'torchaudio'].filter(
    (name) => situation.programs.has('comfyui') || situation.programs.has('sd_webui') || situation.text.includes(name),
  )
  return pipInstall(situation, `${['torch', ...beside].join(' ')} --index-url https://download.pytorch.org/whl/${index}`, '--force-reinstall')
}

/**
 * The newest wheel that suits: architectures by release matrix, drivers by minor version compatibility (from CUDA 11 on).
 * cu126 has Maxwell to Hopper; cu128 (until PyTorch 2.11) Turing to Blackwell; cu130 the same, with a driver for CUDA 13; cu118 ends with 2.7.
 * https://github.com/pytorch/pytorch/blob/main/RELEASE.md, https://github.com/pytorch/pytorch/issues/178665,
 * https://docs.nvidia.com/deploy/cuda-compatibility/minor-version-compatibility.html
 */
export function wheelFor(architecture: number | undefined, driverCuda: string | undefined): string | undefined {
  const byDriver =
    driverCuda === undefined
      ? undefined
      : compareVersions(driverCuda, '13.0') >= 0
        ? 'cu130'
        : compareVersions(driverCuda, '12.0') >= 0
          ? 'cu126'
          : compareVersions(driverCuda, '11.0') >= 0
            ? 'cu118'
            : 'none'
  if (architecture !== undefined && architecture >= 100)
    return byDriver === 'cu118' || byDriver === 'none' ? undefined : byDriver === 'cu130' ? 'cu130' : 'cu128'
  if (architecture !== undefined && architecture < 50) return undefined
  if (architecture !== undefined && architecture < 75) return byDriver === 'cu118' ? 'cu118' : byDriver === 'none' ? undefined : 'cu126'
  if (byDriver === 'none') return undefined
  return byDriver ?? (architecture === undefined ? undefined : 'cu128')
}

/** cu126 and newer need PyTorch 2.6 (Python 3.9); Python 3.8 ends with 2.4, which has cu118, Python 3.7 with 1.13, which has cu117. */
function forPython(index: string, { versions, text }: Situation): string | undefined {
  const { python } = versions
  if (python === undefined || compareVersions(python, '3.9') >= 0 || Number(index.slice(2)) < 120) return index
  if ((generationIn(text) ?? 0) >= 100) return undefined
  return python === '3.8' ? 'cu118' : python === '3.7' ? 'cu117' : undefined
}
export function torchWheel(situation: Situation, index: string | undefined, why: string): Piece {
  // These bring a torch of their own: another wheel breaks them.
  const pinned = ['vllm', 'sglang', 'tgi', 'tensorrt_llm'] as const
  const owner = pinned.find((program) => situation.programs.has(program))
  const cuda = index?.startsWith('cu') === true ? ` for CUDA ${index.slice(2, -1)}.${index.slice(-1)}` : ''
  if (owner !== undefined)
    return {
      text: `Install a build or image of ${PROGRAM_NAMES[owner] ?? 'the server'}${cuda}: it needs exactly the PyTorch that it was built with, so another torch wheel would break it.`,
    }
  if (situation.programs.has('jax'))
    return index?.startsWith('cu') === true ? { text: why, command: pipInstall(situation, `'jax[cuda${index.slice(2, 4)}]'`, '--upgrade') } : undefined
  if (situation.programs.has('tensorflow') || situation.programs.has('llamacpp') || situation.programs.has('ollama') || situation.programs.has('onnxruntime'))
    return undefined
  if (index === undefined) return undefined
  const own = forPython(index, situation)
  if (own !== index)
    return own === undefined
      ? { text: `${why} They need Python 3.9 or newer.` }
      : {
          text: why.replace(/(?::.*)?\.$/, ` for Python ${situation.versions.python}: those for CUDA ${own === 'cu118' ? '11.8' : '11.7'} have them.`),
          command: reinstall(situation, own),
        }
  if (/\/opt\/pytorch\/|nvcr\.io\/nvidia\/pytorch/.test(situation.text))
    return { text: `It is the PyTorch of NVIDIA's image (nvcr.io), which no wheel replaces: take a release of the image${cuda}.` }
  if (situation.jetson) return { text: 'Install the PyTorch that NVIDIA builds for your JetPack release: the wheels of pytorch.org are for other hosts.' }
  const installer = installerOf(situation)
  if (installer === 'nix')
    return {
      text: `${why.replace(/^Install/, 'Use')} It is in the Nix store, where pip changes nothing: take a nixpkgs with such a PyTorch.`,
    }
  const text = installer === 'uv' ? `${why} Name this index in pyproject.toml too: uv run restores what uv.lock says.` : why
  return { text, command: reinstall(situation, index) }
}

export const SEE_TORCH: Advice = {
  text: 'See which GPU it is, and for which architectures this PyTorch was built.',
  command: printTorch('torch.__version__, torch.cuda.get_device_capability(), torch.cuda.get_arch_list()'),
}
/** The libraries of an older CUDA have no kernels for it, and say only that one failed. */
export const GPU_TOO_NEW: Advice = {
  text: 'If it fails at the first use of the GPU: a PyTorch that was built for an older CUDA than the GPU needs fails so (RTX 30 and 40: CUDA 11, RTX 50: CUDA 12.8). See both.',
  command: printTorch('torch.version.cuda, torch.cuda.get_device_name(), torch.cuda.get_device_capability()'),
}
