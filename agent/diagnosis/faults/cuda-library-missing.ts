// A CUDA library that a program needs is not found, too short, or of another version than the one it was built for.
import type { Situation } from '../situation/situation.ts'
import { CUDA_LIBRARY } from './parts/cuda-libraries.ts'
import { isNotice, mayBeIgnored, NOT_TENSORFLOW, skipsGpu, TENSORFLOW_NOTICE } from './parts/optional-libraries.ts'
import { ruleFamily, type Rule, type Seen } from './parts/rules.ts'
import { known } from './parts/window.ts'
import { cudaFile, type CudaFile, pipFolder, pipPackage } from './remedies/packages.ts'
import { pipInstall } from './remedies/pip.ts'
import type { Piece } from './remedies/plan.ts'

const inPythonText = ({ programs }: Situation, text: string): boolean =>
  programs.has('pytorch') ||
  programs.has('tensorflow') ||
  programs.has('onnxruntime') ||
  programs.has('vllm') ||
  programs.has('ctranslate2') ||
  /\bpython|OSError|ImportError|site-packages|dist-packages/i.test(text)

/** Where the loader looks, in the words of its system. */
function loaderPath(situation: Situation, file: CudaFile, name: string): Piece {
  if (file.windows || situation.system === 'windows')
    return {
      text: `Windows finds DLLs by PATH: add the folder that holds the file (CUDA's bin folder, or the bin folder of the pip package; in Python os.add_dll_directory).`,
    }
  return {
    text: `If ${name} is installed elsewhere, name its folder to the loader.`,
    command:
      file.cuda === undefined
        ? 'export LD_LIBRARY_PATH=<FOLDER>:$LD_LIBRARY_PATH'
        : `export LD_LIBRARY_PATH=/usr/local/cuda-${file.cuda}/lib64:$LD_LIBRARY_PATH`,
  }
}

function toolkitRemedies(name: string, seen: Seen): readonly Piece[] {
  const situation = seen.situation()
  const file = cudaFile(name)
  const which =
    file.version === undefined
      ? name
      : `${name} (${file.stem === 'cudnn' ? `cuDNN ${file.version.split('.')[0]}` : file.cuda === undefined ? `version ${file.version}` : `CUDA ${file.cuda}`})`
  const windows = file.windows || situation.system === 'windows'
  const pip = pipPackage(file, situation)
  const folder = pipFolder(file)
  const { programs } = situation
  const python = inPythonText(situation, situation.text)
  const look: Piece = windows
    ? { text: 'See which copies Windows finds.', command: `where ${name}` }
    : {
        text: 'See which versions are installed, and whether the loader knows their folder.',
        command: python
          ? `ldconfig -p | grep ${file.stem === name ? 'libcu' : `lib${file.stem}`}; pip list | grep -i nvidia`
          : `ldconfig -p | grep lib${file.stem}`,
      }
  if (programs.has('tensorflow') && windows)
    return [
      {
        text: `Install ${which} from NVIDIA: this TensorFlow was built for exactly that version${file.stem === 'cudnn' ? '' : ', and for the cuDNN that its release notes name'}.`,
      },
      loaderPath(situation, file, name),
      look,
      { text: 'Or run TensorFlow under WSL 2: after 2.10 it has no GPU support on Windows itself.' },
    ]
  if (programs.has('tensorflow'))
    return [
      {
        text: `This TensorFlow was built for ${which}. Releases from 2.14 on (Python 3.9 and newer) bring their CUDA libraries along: install one of them.`,
        command: pipInstall(situation, "'tensorflow[and-cuda]'", '--upgrade'),
      },
      { text: `Or install ${/\((.{1,40})\)$/.exec(which)?.[1] ?? name} in exactly that version beside it, or use the image of this TensorFlow release.` },
      loaderPath(situation, file, name),
    ]
  if (programs.has('vllm') && file.stem === 'cudart')
    return [
      {
        text: `This vLLM was built for ${which}, and the PyTorch beside it for another CUDA: reinstall vLLM in a clean environment, with the wheel for your CUDA.`,
        command: pipInstall(situation, 'vllm', '--force-reinstall'),
      },
      pip !== undefined && { text: `Or add the CUDA ${file.cuda} runtime that it looks for.`, command: pipInstall(situation, pip) },
    ]
  return [
    pip === undefined || !python
      ? { text: `Install ${which} from NVIDIA's CUDA${file.stem === 'cudnn' ? ' or cuDNN' : ''} packages; the number behind the name must match.` }
      : { text: `Install ${which} for Python.`, command: pipInstall(situation, pip) },
    // PyTorch and TensorFlow look into the folders of pip themselves; other programs leave it to the loader.
    pip !== undefined &&
      python &&
      !windows &&
      folder !== undefined &&
      (programs.has('ctranslate2') || programs.has('onnxruntime') || !programs.has('pytorch')) && {
        text: 'Then name its folder to the loader, which does not look where pip installs.',
        command: `export LD_LIBRARY_PATH=${folder}:$LD_LIBRARY_PATH`,
      },
    programs.has('onnxruntime') &&
      (/onnxruntime[-_]genai/.test(situation.text)
        ? {
            text: 'Or take a release of onnxruntime-genai for the CUDA and cuDNN that are installed.',
            command: pipInstall(situation, 'onnxruntime-genai-cuda', '--upgrade'),
          }
        : {
            text: `Or let pip bring what onnxruntime-gpu was built for, and call onnxruntime.preload_dlls() before the first session.`,
            command: pipInstall(situation, file.cuda === '13' || file.cuda === undefined ? 'onnxruntime-gpu' : "'onnxruntime-gpu[cuda,cudnn]'", '--upgrade'),
          }),
    look,
    loaderPath(situation, file, name),
    (programs.has('docker') || programs.has('compose') || programs.has('kubernetes')) && {
      text: 'In a container: use an image that has it (CUDA images ending in -cudnn-runtime; those ending in -base have no CUDA libraries).',
    },
  ]
}

/** The compiler's linker wants the name without a number, which the driver's packages often lack. */
function linkerRemedies(name: string, { situation }: Seen): readonly Piece[] {
  const library = `lib${name}.so`
  const { programs } = situation()
  return [
    name === 'cuda'
      ? {
          text: `The driver installs ${library}.1; the linker looks for ${library}. Make the link beside it (the folder differs: see the first line).`,
          command: `ldconfig -p | grep ${library.replace('.', '\\.')}\nsudo ln -s ${library}.1 /usr/lib/x86_64-linux-gnu/${library}`,
        }
      : { text: `Install the development package of the CUDA toolkit that brings ${library}.` },
    name === 'cuda' && (programs.has('vllm') || programs.has('sglang') || programs.has('pytorch'))
      ? {
          text: 'Or let the linker use the stub of the CUDA toolkit: it is enough to link.',
          command: 'export LIBRARY_PATH=/usr/local/cuda/lib64/stubs:$LIBRARY_PATH',
        }
      : { text: 'If it is installed elsewhere, name its folder to the linker.', command: 'export LIBRARY_PATH=<FOLDER>:$LIBRARY_PATH' },
    name === 'cuda' && { text: 'In a container, the driver is there only when it was started with the GPU.' },
  ]
}

function driverRemedies(name: string, seen: Seen): readonly Piece[] {
  const situation = seen.situation()
  const { programs, system, subject } = situation
  const container = programs.has('docker') || programs.has('compose')
  return [
    {
      text: `${name} belongs to the NVIDIA driver, not to CUDA. On the host, check that the driver works, and install it where it is missing.`,
      command: 'nvidia-smi',
    },
    programs.has('kubernetes')
      ? { text: 'In a pod, request the GPU (resources.limits: nvidia.com/gpu: 1): only then the driver is mounted.' }
      : {
          text: 'A container gets it only when it was started with the GPU.',
          ...(container ? { command: `docker run --gpus all ${subject.image ?? '<IMAGE>'}` } : {}),
        },
    system === 'wsl' && {
      text: 'Under WSL it lies in /usr/lib/wsl/lib: name that folder, and install no Linux driver inside WSL.',
      command: 'export LD_LIBRARY_PATH=/usr/lib/wsl/lib:$LD_LIBRARY_PATH',
    },
  ]
}
const tensorRtRemedies = (library: string, seen: Seen): readonly Piece[] => {
  const major = /\.so\.(\d{1,3})/.exec(library)?.[1]
  return [
    {
      text: `Install TensorRT${major === undefined ? '' : ` ${major}`}: the number after .so. is its major version.`,
      command: pipInstall(seen.situation(), major === undefined ? 'tensorrt' : `'tensorrt==${major}.*'`),
    },
    seen.situation().system === 'windows'
      ? loaderPath(seen.situation(), cudaFile(library), library)
      : { text: 'If it is installed, name its folder to the loader.', command: "ldconfig -p | grep libnvinfer; find / -name 'libnvinfer*' 2>/dev/null" },
  ]
}
const TENSORRT = /^(?:lib)?(?:nvinfer|nvonnxparser|nvparsers)/
const DRIVERS_OWN = /^lib(?:cuda\.|cuda$|nvidia-|nvcuvid)/
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
    remedies: (seen) =>
      DRIVERS_OWN.test(library(seen))
        ? driverRemedies(library(seen), seen)
        : TENSORRT.test(library(seen))
          ? tensorRtRemedies(library(seen), seen)
          : toolkitRemedies(library(seen), seen),
    facts: (seen) => known({ library: library(seen) }),
    ...more,
    unless: (seen) => isNotice(library(seen), seen) || more.unless?.(seen) === true,
  }
}

const L = `(${CUDA_LIBRARY})`
// The container toolkit's own refusal is found by gpu-not-visible.
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
    missing(TENSORFLOW_NOTICE, 'was not found where the loader looks', { severity: (seen) => (skipsGpu(seen) ? 'critical' : 'warning') }),
    missing(`TryGetProviderInfo_TensorRT\\b[^\\n]{0,300}?${L}: cannot open`, 'was not found where the loader looks', { severity: 'warning' }),
    missing(`${NOT_TENSORFLOW}${L}"?'?: cannot open shared object file`, 'was not found where the loader looks', { unless: toolkit }),
    missing(`[Cc]ould not load library (?:\\S{0,200}[\\\\/])?${L}`, 'was not found where the loader looks'),
    missing(`Unable to load any of \\{${L}`, 'was not found in any of the versions that the program accepts'),
    missing(`${L}"?'? (?:could not be loaded|is not found or cannot be loaded|cannot be loaded)`, 'was not found where the loader looks'),
    missing(`depends on ["']?${L}["']? which is missing`, 'was not found in PATH'),
    missing(`${L}: file too short`, 'is an empty or cut file'),
    missing(`Could not locate ${L}`, 'was not found in PATH'),
    missing(`(?:[Ff]ailed|Unable|Cannot) to load ${L}`, 'cannot be loaded'),
    missing(`Could not find module ['"]?[^'"]{0,200}?${L}`, 'was not found in PATH'),
    missing(`WinError 126\\][^"']{0,80}["'](?:[^"']{0,200}[\\\\/])?${L}`, 'or a library that it needs is not installed'),
    // A symbol of CUDA's: the library that was loaded is older or newer than the one that was linked.
    missing(`${L}: undefined symbol: \\S`, 'was built against another version of a CUDA library than the one that was loaded'),
    missing(
      // From the beginning of a name only: tried from each of its letters, a long line takes 140 times as long.
      `(?<![\\w.-])([\\w.-]{1,120}\\.so(?:\\.\\d{1,6}){0,3}): undefined symbol: _{0,2}(?:cu[dbsfr]\\w|nv\\w|nccl)`,
      'was built against another version of CUDA or PyTorch than the one that was loaded',
      { unless: ({ match }) => (match[1] ?? '').includes('bitsandbytes') },
    ),
    missing(`${L} (?:=> not found|was not found|not found\\b)`, 'was not found where the loader looks'),
    missing(`failed to open ${L}`, 'was not found where the loader looks'),
    missing(`version [\`'](${CUDA_LIBRARY})' not found`, 'was found in another version than the program was linked with'),
    missing('CUDA driver (library) cannot be found', 'of CUDA was not found', { facts: () => ({ library: 'libcuda.so' }) }),
    missing('Cannot load symbol (cudnn)\\w{1,60}', 'is not installed in the version that the program was built for', {
      // The line before names the file.
      unless: ({ text, at }) => /Unable to load any of \{|ould not load library/.test(`${text[at - 1] ?? ''}${text[at - 2] ?? ''}`),
    }),
    missing('cannot find -l(cuda|cudart|cublas|cudnn|nvrtc|curand|cusolver|cusparse|cufft|nccl|nvToolsExt)\\b', 'is not where the linker looks', {
      verdict: ({ match }) => `The linker did not find lib${match[1]}.so, so code for the GPU could not be compiled.`,
      remedies: (seen) => linkerRemedies(seen.match[1] ?? '', seen),
    }),
    missing('(libcuda\\.so) cannot found', 'is not where Triton looks'),
    missing('(libNVVM) cannot be found', 'is not installed'),
    missing("(?:Can't find|Couldn't find) (libdevice) directory", 'is not where XLA looks'),
    missing('(libdevice) not found at', 'is not where XLA looks'),
    missing('No (libcudart\\.so) found', 'is not installed'),
    {
      pattern: /Cannot dlopen some GPU libraries/,
      severity: 'critical',
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
      verdict: 'A CUDA extension is to be compiled, and there is no CUDA toolkit (nvcc) here, or CUDA_HOME does not name it.',
      remedies: [
        { text: 'Install the toolkit in the version of your PyTorch, or use a -devel image, and name it.', command: 'export CUDA_HOME=/usr/local/cuda' },
        { text: 'Or install a wheel that is already compiled for your versions.' },
      ],
    },
  ],
})
