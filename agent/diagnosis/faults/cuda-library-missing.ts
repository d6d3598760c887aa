// A CUDA library that a program needs is not found, too short, or of another version than the one it was built for.
import type { Piece } from './remedies/plan.ts'
import { noToolkit, toolkitToBuildWith } from './remedies/cuda-home.ts'
import { pipInstall } from './remedies/pip.ts'
import { CUDA_LIBRARY } from './parts/cuda-libraries.ts'
import { besides, isNotice, mayBeIgnored, NOT_TENSORFLOW, noticedBefore, skipsGpu, takesAnother, TENSORFLOW_NOTICE } from './parts/optional-libraries.ts'
import { joinedFrom } from '../joining.ts'
import { ruleFamily, type Rule, type Seen } from './parts/rules.ts'
import { known } from './parts/window.ts'
import { windowsProvider } from './remedies/onnx-provider.ts'
import { NVRTC, nvrtcRemedies } from './remedies/nvrtc.ts'
import { tensorRtRemedies, toolkitRemedies } from './remedies/cuda-library.ts'
import { oneOfTwo } from './remedies/two-releases.ts'
import { linkerRemedies } from './remedies/linker.ts'
import { ownerOf, symbolRemedies } from './remedies/cuda-symbol.ts'
import { l4tLibrary } from './parts/l4t-libraries.ts'
import { jaxPackages } from './parts/jax-libraries.ts'
import { driverRemedies } from './remedies/driver-reach.ts'
import { TORCH_OWN } from './remedies/torch-own.ts'

const TENSORRT = /^(?:lib)?(?:nvinfer|nvonnxparser|nvparsers)/
const DRIVERS_OWN = /^lib(?:cuda\.|cuda$|nvidia-|nvcuvid)/
const DEPENDENCY = new RegExp(`Could not load dynamic library '[^']{1,80}'; dlerror: (${CUDA_LIBRARY}): cannot open`)
const file = (path: string): string => path.replace(/^.*[\\/]/, '')

/** From CUDA 12 on cuSOLVER and cuSPARSE need nvJitLink, and cuSOLVER kept its number 11: programs for CUDA 11 then meet the newer one. */
const newerNamesake = (found: string, needs: string, { situation }: Seen): readonly Piece[] | undefined =>
  found.startsWith('libcusolver.so.11') && needs.startsWith('libnvJitLink.so.12') && /libcudart\.so\.11/.test(situation().text)
    ? [
        {
          text: `The ${found} that was found is that of CUDA 12, which kept the name, and the program is for CUDA 11: let the folder of CUDA 11 come first.`,
          command: 'ldconfig -p | grep -E "libcusolver|libcudart"; printenv LD_LIBRARY_PATH',
        },
        { text: 'Or take a build of the program for CUDA 12.' },
      ]
    : undefined
const lacks = ({ message }: Seen): string | undefined => {
  const owner = ownerOf(message)
  return owner === undefined ? undefined : `needs ${owner.symbol}, which the ${owner.name} that was loaded does not have`
}
/** A file of the toolkit's compiler, which the driver and most wheels do not bring. */
const compilerOfXla = ({ situation }: Seen): readonly Piece[] => [
  {
    text: 'Name the folder of a CUDA toolkit to XLA: it holds nvvm/libdevice and bin/ptxas.',
    command:
      'find / \\( -name "libdevice*.bc" -o -name ptxas \\) 2>/dev/null\nexport XLA_FLAGS=--xla_gpu_cuda_data_dir=/usr/local/cuda PATH=/usr/local/cuda/bin:$PATH',
  },
  {
    text: 'If there is none: install the compiler of CUDA alone, and name its folder (the one that holds nvvm).',
    command: pipInstall(situation(), 'nvidia-cuda-nvcc-cu12'),
  },
]

const BUILT_FOR_ANOTHER = 'was built against another version of a CUDA library than the one that was loaded'
/** A rule for a message whose first group is the library; what to do differs for those that come with the driver. */
const missing = (pattern: string, how: string, more: Partial<Rule> = {}): Rule => {
  // The loader's reason names a library that this one needs.
  const library = ({ match, message }: Seen): string => file(DEPENDENCY.exec(message.slice(match.index))?.[1] ?? match[1] ?? '')
  return {
    pattern: new RegExp(pattern),
    severity: (seen) => (mayBeIgnored(seen) ? 'warning' : 'critical'),
    title: 'CUDA library cannot be loaded',
    verdict: (seen) =>
      `${library(seen) === file(seen.match[1] ?? '') ? library(seen) : `${file(seen.match[1] ?? '')} needs ${library(seen)}, which`} ${lacks(seen) ?? how}${besides(seen)}, so ${NVRTC.test(library(seen)) ? 'kernels cannot be compiled while the program runs' : `the program cannot use ${TENSORRT.test(library(seen)) ? 'TensorRT' : 'the GPU'}`}${DRIVERS_OWN.test(library(seen)) ? '; it is part of the NVIDIA driver' : TORCH_OWN.test(library(seen)) && lacks(seen) === undefined ? '; it is part of PyTorch, and what looks for it was built for another one' : ''}.`,
    remedies: (seen) => {
      const owner = ownerOf(seen.message)
      if (/^libdevice$|^ptxas$/.test(library(seen))) return compilerOfXla(seen)
      return owner !== undefined
        ? symbolRemedies(owner, seen)
        : DRIVERS_OWN.test(library(seen))
          ? driverRemedies(library(seen), seen)
          : TENSORRT.test(library(seen))
            ? tensorRtRemedies(library(seen), seen)
            : (newerNamesake(file(seen.match[1] ?? ''), library(seen), seen) ?? nvrtcRemedies(library(seen), seen) ?? toolkitRemedies(library(seen), seen))
    },
    facts: (seen) => known({ library: library(seen) }),
    ...more,
    unless: (seen) => isNotice(library(seen), seen) || takesAnother(seen) || more.unless?.(seen) === true,
  }
}

/** "Possible files are located at ['/lib/x86_64-linux-gnu/libcuda.so.1']". */
const listed = ({ text, at }: Pick<Seen, 'text' | 'at'>): string | undefined =>
  /located at \['(\/[\w./-]{1,120}libcuda\.so[.\d]{0,12})'/.exec(joinedFrom(text, at, 3))?.[1]

const OF_TORCH = /[\\/]torch[\\/]{1,2}lib[\\/]/
/** The file is there: the wheel brings it. What it needs is not, or comes from another place. */
const torchOnWindows = ({ situation }: Seen): readonly Piece[] => [
  { text: 'Install the current runtime of Visual C++ (x64), then open a new terminal.', command: 'winget install --exact --id Microsoft.VCRedist.2015+.x64' },
  {
    text: 'Install PyTorch again, in an environment with one package manager: its wheel brings this library and those that it needs. Name the index of your CUDA version (cu126, cu128 …).',
    command: pipInstall(situation(), 'torch --index-url https://download.pytorch.org/whl/<CUDA>', '--force-reinstall'),
  },
]
const L = `(${CUDA_LIBRARY})`
// The refusals of the container toolkit and of the device plugin are found by gpu-not-visible.
const toolkit = ({ message }: Seen): boolean =>
  message.includes('nvidia-container-cli') || /detected non-NVML platform|could not load NVML library/i.test(message)

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
    'with link time reference',
    'file too short',
    'Could not locate cu',
    'Cannot load symbol cu',
    'Cannot load libn',
    'Cannot load libcuda',
    'cannot find -lcu',
    'cannot find -lnv',
    'libcuda.so cannot found',
    'libNVVM cannot be found',
    "Can't find libdevice",
    'libdevice not found',
    'Failed to launch ptxas',
    'No PTX compilation provider is available',
    'Cannot dlopen some GPU libraries',
    'CUDA_HOME environment variable is not set',
    'Could not find module',
    'failed to load libcu',
    'Failed to load libcu',
    'Unable to load libcu',
    'Unable to load cu',
    ' library was not found',
    'No libcudart.so found',
    'WinError 126',
    'LoadLibrary failed with error',
    'CUDA_PATH is set but CUDA',
    'failed to open libnv',
    'ailed to dlopen lib',
    '=> not found',
    "' not found (required by",
    'CUDA driver library cannot be found',
    "CUDA wasn't able to be loaded",
  ],
  rules: [
    missing(TENSORFLOW_NOTICE, 'was not found where the loader looks', {
      severity: (seen) => (skipsGpu(seen) ? 'critical' : 'warning'),
      unless: noticedBefore,
    }),
    missing(`TryGetProviderInfo_TensorRT\\b[^\\n]{0,300}?${L}: cannot open`, 'was not found where the loader looks', { severity: 'warning' }),
    missing(`${NOT_TENSORFLOW}${L}"?'?: cannot open shared object file`, 'was not found where the loader looks', { unless: toolkit }),
    // What was loaded before it is of another version.
    missing(
      `[Cc]ould not load library (?:\\S{0,200}[\\\\/])?${L}\\. (?:Error: [^\\n]{0,200}(?:undefined symbol: \\S|: symbol \\w{3,400}, version \\S{1,80} not defined)|Error code 127\\b)`,
      BUILT_FOR_ANOTHER,
      {
        remedies: (seen) => oneOfTwo(file(seen.match[1] ?? ''), seen.message),
      },
    ),
    missing(`[Cc]ould not load library (?:\\S{0,200}[\\\\/])?${L}`, 'was not found where the loader looks'),
    missing(`Unable to load any of \\{${L}`, 'was not found in any of the versions that the program accepts'),
    missing(`${L}"?'? (?:could not be loaded|is not found or cannot be loaded|cannot be loaded)`, 'was not found where the loader looks'),
    missing(`["' ]${L}["']? which is missing`, 'was not found in PATH'),
    {
      // The images of L4T hold empty files, over which the runtime mounts those of the host.
      pattern: /\/usr\/lib\/aarch64-linux-gnu\/(?:\S{0,80}\/)?(lib[\w.+-]{1,60}): file too short/,
      severity: 'critical',
      title: 'CUDA library cannot be loaded',
      verdict: ({ match }) => `${match[1]} is an empty file. In a container on a Jetson that is the place where the runtime mounts the file of the host.`,
      remedies: ({ situation }) => [
        {
          text: 'On a Jetson: start the container with the runtime of NVIDIA, from an image for the JetPack of the board.',
          command: `docker run --runtime nvidia ${situation().subject.image ?? '<IMAGE>'}`,
        },
        {
          text: 'See which JetPack the board has, and whether the file is whole there.',
          command: 'cat /etc/nv_tegra_release; ls -lL /usr/lib/aarch64-linux-gnu/nvidia',
        },
        { text: 'On another machine: install the package again that brings the file.' },
      ],
      facts: ({ match }) => known({ library: match[1] }),
    },
    missing(`${L}: file too short`, 'is an empty or cut file'),
    missing(`Could not locate ${L}`, 'was not found in PATH'),
    missing(`(?:(?:[Ff]ailed|Unable|Cannot) to|Cannot) load ${L}`, 'cannot be loaded'),
    missing('Unable to load (cu[A-Z]{3,8}|CUPTI)\\. Is it installed\\?', 'was not found by JAX', { remedies: jaxPackages }),
    missing('operation cu\\w{3,40}\\([^\\n]{0,80}?\\) failed: The (cu[A-Z]{2,8}|CUPTI|CUDA) library was not found', 'was not found by JAX', {
      remedies: jaxPackages,
    }),
    l4tLibrary,
    missing(`Could not find module ['"]?[^'"]{0,200}?${L}`, 'was not found in PATH'),
    missing(`WinError 126\\][^"']{0,80}["'](?:[^"']{0,200}[\\\\/])?${L}`, 'or a library that it needs is not installed', {
      remedies: (seen) => (OF_TORCH.test(seen.message) ? torchOnWindows(seen) : toolkitRemedies(file(seen.match[1] ?? ''), seen)),
    }),
    missing(
      'LoadLibrary failed with error (?:126|127|1114)\\b[^\\n]{0,20} when trying to load ["\']?(?:[^"\'\\n]{0,240}[\\\\/])?(onnxruntime_providers_(?:cuda|shared)\\.dll)',
      'could not be loaded',
      {
        verdict: ({ match }) =>
          `Windows could not load ${match[1]}: a DLL of CUDA or cuDNN, in the version that this ONNX Runtime was built for, is not found in PATH, so the program cannot use the GPU.`,
        remedies: windowsProvider,
      },
    ),
    {
      pattern: /CUDA_PATH is set but CUDA was ?n[o']?t able to be loaded/,
      severity: 'critical',
      title: 'CUDA library cannot be loaded',
      verdict: 'ONNX Runtime found CUDA_PATH, but not the libraries of CUDA and cuDNN in the versions that it was built for, so it cannot use the GPU.',
      remedies: windowsProvider,
    },
    // A symbol of CUDA's: the library that was loaded is older or newer than the one that was linked.
    // The driver's own library lacks what is newer than it: that is reported as a driver that is too old.
    missing(`(?!libcuda\\.so)${L}: (?:undefined symbol: \\S|symbol \\w{3,120}, version \\S{1,80} not defined in file)`, BUILT_FOR_ANOTHER),
    missing(
      // From the beginning of a name only: tried from each of its letters, a long line takes 140 times as long.
      `(?<![\\w.-])([\\w.-]{1,120}\\.so(?:\\.\\d{1,6}){0,3}): undefined symbol: _{0,2}(?:cu[dbsfr]\\w|nv\\w|nccl)`,
      'was built against another version of CUDA or PyTorch than the one that was loaded',
      { unless: ({ match }) => (match[1] ?? '').includes('bitsandbytes') },
    ),
    missing(`${L} (?:=> not found|was not found|not found\\b)`, 'was not found where the loader looks'),
    missing(`[Ff]ailed to dlopen ${L}`, 'was not found where the loader looks'),
    missing(`failed to open ${L}`, 'was not found where the loader looks'),
    missing(`version [\`'](${CUDA_LIBRARY})' not found`, 'was found in another version than the program was linked with'),
    missing('CUDA driver (library) cannot be found', 'of CUDA was not found', {
      facts: () => ({ library: 'libcuda.so' }),
      verdict: "Numba did not find the driver's library libcuda.so: the driver is not installed here, or this container was given no GPU.",
      remedies: (seen) => driverRemedies('libcuda.so', seen),
    }),
    missing('Cannot load symbol (cudnn)\\w{1,60}', 'is not installed in the version that the program was built for', {
      // The line before names the file.
      unless: ({ text, at }) => /Unable to load any of \{|ould not (?:load library|locate cu)/.test(`${text[at - 1] ?? ''}${text[at - 2] ?? ''}`),
    }),
    missing('cannot find -l(cuda|cudart|cublas|cudnn|nvrtc|curand|cusolver|cusparse|cufft|nccl|nvToolsExt)\\b', 'is not where the linker looks', {
      verdict: ({ match }) => `The linker did not find lib${match[1]}.so, so code for the GPU could not be compiled.`,
      remedies: (seen) => linkerRemedies(seen.match[1] ?? '', seen),
    }),
    missing('(libcuda\\.so) cannot found', 'is not where Triton looks', {
      verdict: ({ text, at }) =>
        `Triton did not find libcuda.so of the driver${listed({ text, at }) === undefined ? '' : `; ${listed({ text, at })} is there, only the name without a number is missing`}.`,
      remedies: (seen) => {
        const there = listed(seen)
        return there === undefined
          ? [
              {
                text: 'See whether libcuda.so.1 is there. If so, only the unversioned name is missing: make a link to it in the same folder.',
                command: 'ldconfig -p | grep libcuda; ls -l /usr/lib/x86_64-linux-gnu/libcuda.so* /usr/lib/wsl/lib/libcuda.so*',
              },
              driverRemedies('libcuda.so', seen),
            ]
          : [{ text: 'Make the link beside it.', command: `sudo ln -s ${there} ${there.replace(/\.so[.\d]*$/, '.so')}` }]
      },
    }),
    missing('(libNVVM) cannot be found', 'is not installed'),
    missing("(?:Can't find|Couldn't find) (libdevice) directory", 'is not where XLA looks'),
    missing('(libdevice) not found at', 'is not where XLA looks'),
    missing('Failed to launch (ptxas)', 'could not be started: it is not installed where XLA looks, or the temporary folder is full'),
    missing('No PTX compilation provider is available\\. Neither (ptxas)', 'of the CUDA toolkit is not where XLA looks'),
    missing('No (libcudart\\.so) found', 'is not installed'),
    {
      pattern: /Cannot dlopen some GPU libraries/,
      // It goes on without the GPU: what an exception below it says is another matter.
      severity: ({ text, at }) => (text.slice(at).some((line) => line.startsWith('Traceback (most recent call last)')) ? 'warning' : 'critical'),
      title: 'CUDA libraries cannot be loaded',
      verdict: 'TensorFlow did not find all CUDA libraries that it was built for, so it ignores the GPU and computes on the CPU.',
      remedies: [
        { text: 'Install TensorFlow with its CUDA libraries.', command: "pip install --upgrade 'tensorflow[and-cuda]'" },
        { text: 'The lines before it name the libraries that were not found: an installed CUDA must have exactly those versions.' },
      ],
    },
    {
      pattern: /CUDA_PATH is set but CUDA wasn't able to be loaded/,
      severity: 'critical',
      title: 'CUDA libraries cannot be loaded',
      verdict: 'ONNX Runtime found a CUDA folder, and could not load CUDA or cuDNN from it: they are not those of the version that it was built for.',
      remedies: (seen) => toolkitRemedies('libcudnn.so', seen),
    },
    {
      pattern: /CUDA_HOME environment variable is not set/,
      severity: 'critical',
      title: 'No CUDA toolkit to build with',
      verdict: noToolkit,
      remedies: toolkitToBuildWith,
    },
  ],
})
