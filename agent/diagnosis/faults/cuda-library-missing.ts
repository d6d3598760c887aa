// A CUDA library that a program needs is not found, too short, or of another version than the one it was built for.
import type { Remedy } from '../../model/fault.ts'
import { CUDA_LIBRARY } from './parts/cuda-libraries.ts'
import { isNotice, mayBeIgnored, NOT_TENSORFLOW, skipsGpu, TENSORFLOW_NOTICE } from './parts/optional-libraries.ts'
import { ruleFamily, type Rule, type Seen } from './parts/rules.ts'
import { known } from './parts/window.ts'

const REMEDIES: readonly Remedy[] = [
  {
    text: 'See which version is installed, and whether the loader knows its folder.',
    command: "ldconfig -p | grep -E 'libcu|libnv'; pip list 2>/dev/null | grep -i nvidia",
  },
  {
    text: 'Install the library in the version that the program was built for (the number after .so.), for Python from pip.',
    command: 'pip install nvidia-cublas-cu12 nvidia-cudnn-cu12',
  },
  { text: 'If it is installed elsewhere, name its folder to the loader.', command: 'export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH' },
  { text: 'In a container: use an image that brings it (the -runtime or -cudnn-runtime variants; -base brings none of the CUDA libraries).' },
]
const DRIVER_REMEDIES: readonly Remedy[] = [
  {
    text: 'libcuda and libnvidia-* come with the driver, never with a CUDA package. On the host, install the driver; see that it works.',
    command: 'nvidia-smi',
  },
  { text: 'In a container they are mounted by the container toolkit: start it with the GPU.', command: 'docker run --gpus all …' },
  {
    text: 'Under WSL2 they lie in /usr/lib/wsl/lib: name that folder, and install no Linux driver inside WSL.',
    command: 'export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH',
  },
]
const tensorRtRemedies = (library: string): readonly Remedy[] => {
  const major = /\.so\.(\d{1,3})/.exec(library)?.[1]
  return [
    {
      text: `Install TensorRT${major === undefined ? '' : ` ${major}`}: the number after .so. is its major version.`,
      command: major === undefined ? 'pip install tensorrt' : `pip install 'tensorrt==${major}.*'`,
    },
    { text: 'If it is installed, name its folder to the loader.', command: "ldconfig -p | grep libnvinfer; find / -name 'libnvinfer*' 2>/dev/null" },
  ]
}
const TENSORRT = /^(?:lib)?(?:nvinfer|nvonnxparser|nvparsers)/
const DRIVERS_OWN = /^lib(?:cuda|nvidia-|nvcuvid)/
const file = (path: string): string => path.replace(/^.*[\\/]/, '')

/** A rule for a message whose first group is the library; what to do differs for those that come with the driver. */
const missing = (pattern: string, how: string, more: Partial<Rule> = {}): Rule => {
  const library = ({ match }: Seen): string => file(match[1] ?? '')
  return {
    pattern: new RegExp(pattern),
    severity: (seen) => (mayBeIgnored(seen) ? 'warning' : 'critical'),
    title: 'CUDA library cannot be loaded',
    verdict: (seen) =>
      `${library(seen)} ${how}, so the program cannot use ${TENSORRT.test(library(seen)) ? 'TensorRT' : 'the GPU'}${DRIVERS_OWN.test(library(seen)) ? '; it is part of the NVIDIA driver' : ''}.`,
    remedies: (seen) => (DRIVERS_OWN.test(library(seen)) ? DRIVER_REMEDIES : TENSORRT.test(library(seen)) ? tensorRtRemedies(library(seen)) : REMEDIES),
    facts: (seen) => known({ library: library(seen) }),
    ...more,
    unless: (seen) => isNotice(library(seen), seen) || more.unless?.(seen) === true,
  }
}

const L = `(${CUDA_LIBRARY})`
// The container toolkit's own refusal is told by gpu-not-visible.
const toolkit = ({ message }: Seen): boolean => message.includes('nvidia-container-cli') || message.includes('detected non-NVML platform')

export const cudaLibraryMissing = ruleFamily({
  id: 'cuda-library-missing',
  kind: 'cuda_library_missing',
  literals: [
    'cannot open shared object file',
    'Could not load dynamic library',
    'ould not load library',
    'Unable to load any of {',
    'could not be loaded',
    'cannot be loaded',
    'which is missing',
    'undefined symbol: ',
    'file too short',
    'Could not locate cu',
    'Cannot load symbol cu',
    'cannot find -lcu',
    'cannot find -lnv',
    'libcuda.so cannot found',
    'libNVVM cannot be found',
    "Can't find libdevice",
    'libdevice not found',
    'Cannot dlopen some GPU libraries',
    'CUDA_HOME environment variable is not set',
    'Could not find module',
    'failed to load libcu',
    'Failed to load libcu',
    'Unable to load libcu',
    'Unable to load cu',
    'No libcudart.so found',
    'WinError 126',
    'failed to open libnv',
    '=> not found',
    "' not found (required by",
    'CUDA driver library cannot be found',
    "CUDA wasn't able to be loaded",
  ],
  rules: [
    missing(TENSORFLOW_NOTICE, 'is not installed, or not where the loader looks', { severity: (seen) => (skipsGpu(seen) ? 'critical' : 'warning') }),
    missing(`TryGetProviderInfo_TensorRT\\b[^\\n]{0,300}?${L}: cannot open`, 'is not installed, or not where the loader looks', { severity: 'warning' }),
    missing(`${NOT_TENSORFLOW}${L}"?'?: cannot open shared object file`, 'is not installed, or not where the loader looks', { unless: toolkit }),
    missing(`[Cc]ould not load library (?:\\S{0,200}[\\\\/])?${L}`, 'is not installed, or not where the loader looks'),
    missing(`Unable to load any of \\{${L}`, 'is not installed in any of the versions that the program accepts'),
    missing(`${L}"?'? (?:could not be loaded|is not found or cannot be loaded|cannot be loaded)`, 'is not installed, or not where the loader looks'),
    missing(`depends on ["']?${L}["']? which is missing`, 'is not installed, or not in PATH'),
    missing(`${L}: file too short`, 'is an empty or cut file'),
    missing(`Could not locate ${L}`, 'is not installed, or not in PATH'),
    missing(`(?:[Ff]ailed|Unable|Cannot) to load ${L}`, 'cannot be loaded'),
    missing(`Could not find module ['"]?[^'"]{0,200}?${L}`, 'is not installed, or not in PATH'),
    missing(`WinError 126\\][^"']{0,80}["'](?:[^"']{0,200}[\\\\/])?${L}`, 'or a library that it needs is not installed'),
    // A symbol of CUDA's: the library that was loaded is older or newer than the one that was linked.
    missing(`${L}: undefined symbol: \\S`, 'was built against another version of a CUDA library than the one that was loaded'),
    missing(
      // From the beginning of a name only: tried from each of its letters, a long line takes 140 times as long.
      `(?<![\\w.-])([\\w.-]{1,120}\\.so(?:\\.\\d{1,6}){0,3}): undefined symbol: (?:_{0,2}(?:cu[dbsfr]\\w|nv\\w|nccl)|_ZN?K?(?:3c10|2at|5torch))`,
      'was built against another version of CUDA or PyTorch than the one that was loaded',
      { unless: ({ match }) => (match[1] ?? '').includes('bitsandbytes') },
    ),
    missing(`${L} (?:=> not found|was not found|not found\\b)`, 'is not installed, or not where the loader looks'),
    missing(`failed to open ${L}`, 'is not installed, or not where the loader looks'),
    missing(`version [\`'](${CUDA_LIBRARY})' not found`, 'was found in another version than the program was linked with'),
    missing('CUDA driver (library) cannot be found', 'of CUDA was not found', { facts: () => ({ library: 'libcuda.so' }) }),
    missing('Cannot load symbol (cudnn)\\w{1,60}', 'is not installed in the version that the program was built for'),
    missing('cannot find -l(cuda|cudart|cublas|cudnn|nvrtc|curand|cusolver|cusparse|cufft|nccl|nvToolsExt)\\b', 'is not where the linker looks'),
    missing('(libcuda\\.so) cannot found', 'is not where Triton looks'),
    missing('(libNVVM) cannot be found', 'is not installed'),
    missing("(?:Can't find|Couldn't find) (libdevice) directory", 'is not where XLA looks'),
    missing('(libdevice) not found at', 'is not where XLA looks'),
    missing('No (libcudart\\.so) found', 'is not installed'),
    {
      pattern: /Cannot dlopen some GPU libraries/,
      severity: 'critical',
      title: 'CUDA libraries cannot be loaded',
      verdict: 'TensorFlow did not find all CUDA libraries that it was built for, so it leaves the GPU out and computes on the CPU.',
      remedies: [{ text: 'Install TensorFlow with its CUDA libraries.', command: "pip install 'tensorflow[and-cuda]'" }, ...REMEDIES],
    },
    {
      pattern: /CUDA_PATH is set but CUDA wasn't able to be loaded/,
      severity: 'critical',
      title: 'CUDA libraries cannot be loaded',
      verdict: 'ONNX Runtime found a CUDA folder, and could not load CUDA or cuDNN from it: they are not those of the version that it was built for.',
      remedies: REMEDIES,
    },
    {
      pattern: /CUDA_HOME environment variable is not set/,
      severity: 'critical',
      title: 'No CUDA toolkit to build with',
      verdict: 'A CUDA extension is to be compiled, and there is no CUDA toolkit (nvcc) here, or CUDA_HOME does not name it.',
      remedies: [
        { text: 'Install the toolkit in the version of your PyTorch, or use a -devel image, and name it.', command: 'export CUDA_HOME=/usr/local/cuda' },
        { text: 'Or install a wheel that is already compiled for your versions.' },
      ],
    },
  ],
})
