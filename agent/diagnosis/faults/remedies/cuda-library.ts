// What to do when a CUDA library is missing: those of the toolkit, of the driver, of TensorRT, and what a linker looks for.
import type { Situation } from '../../situation/situation.ts'
import { besides } from '../parts/optional-libraries.ts'
import type { Seen } from '../parts/rules.ts'
import { compareVersions } from '../../situation/versions.ts'
import { around } from '../parts/window.ts'
import { cudaFile, type CudaFile, pipFolder, pipPackage } from './packages.ts'
import { pipInstall } from './pip.ts'
import { forOlderDriver } from './older-driver.ts'
import type { Piece } from './plan.ts'
import { tensorflowFor } from './tensorflow-release.ts'
import { completeTorch, OF_TORCH, TORCH_OWN, torchOwnRemedies } from './torch-own.ts'

/** Mostly faster-whisper, whose CTranslate2 leaves cuDNN to the loader. */
const WHISPER = /whisper/i
const IN_USE = /(?:\b(?:using|use|have|installed|running|with) (?:the )?|用的是 ?)cuda[ -]?(?:version |toolkit )?(\d{1,2}\.\d)/i
/** Stacks of Java, .NET, Rust, Go and Node: pip is of no use to them. */
const OTHER_LANGUAGE =
  /\bai\.onnxruntime\.|^\s+at [\w$.]{3,160}\([\w ]{1,60}(?:\.java:\d|\))|Microsoft\.ML\.|\.csproj\b|\bpanicked at |called `(?:Result|Option)::|\/target\/(?:debug|release)\/|\.rs:\d|\bgoroutine \d|node_modules/m
export const inPythonText = ({ programs }: Situation, text: string): boolean => !OTHER_LANGUAGE.test(text) && inPython(programs, text)
const inPython = (programs: Situation['programs'], text: string): boolean =>
  programs.has('pytorch') ||
  programs.has('tensorflow') ||
  programs.has('onnxruntime') ||
  programs.has('vllm') ||
  programs.has('ctranslate2') ||
  programs.has('transformers') ||
  programs.has('paddle') ||
  WHISPER.test(text) ||
  /\bpython|OSError|ImportError|site-packages|dist-packages|^Epoch \d+: +\d+%\||\b[\w-]{2,40}\.py\b|\b(?:gunicorn|uvicorn)\b|\bWorker \(pid:\d|ould not load library libcudnn_\w{1,20}\.so/im.test(
    text,
  )

/** Where the loader looks, in the words of its system. */
function loaderPath(situation: Situation, file: CudaFile, name: string): Piece {
  if (file.windows || situation.system === 'windows')
    return {
      text: `Windows finds DLLs by PATH: add the folder that holds the file (in Python os.add_dll_directory).`,
    }
  return {
    text: `If ${name} is installed elsewhere, name its folder to the loader.`,
    command:
      file.cuda === undefined
        ? 'export LD_LIBRARY_PATH=<FOLDER>:$LD_LIBRARY_PATH'
        : `export LD_LIBRARY_PATH=/usr/local/cuda-${file.cuda}/lib64:$LD_LIBRARY_PATH`,
  }
}

/** Where the text shows the file all the same, as `find`, `locate` and `ls` print it: a path alone on its line. */
function folderInText(name: string, { text, system }: Situation): string | undefined {
  if (system === 'windows') return undefined
  const folders = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('/') && line.endsWith(`/${name}`) && !/[\s:'"]/.test(line))
    .map((line) => line.slice(0, -name.length - 1))
  // Better the one of the program's own environment.
  const own = /File "(\/[^"\n]{1,200}?\/)lib\/python3/.exec(text)?.[1]
  const folder = folders.find((one) => own !== undefined && one.startsWith(own)) ?? folders[0]
  // Named to the loader already, to no effect.
  const named = [...text.matchAll(/LD_LIBRARY_PATH="?(\S{1,2000})/g)].flatMap(([, path = '']) => path.split(/[:"]/))
  return folder === undefined || named.includes(folder) ? undefined : folder
}

/** The same library of another CUDA, as `locate` and `ls` show it. */
function otherMajor({ stem, cuda, version }: CudaFile, { text }: Situation): { readonly path: string; readonly cuda: string } | undefined {
  if (cuda === undefined || text.includes(`lib${stem}.so.${version}\n`)) return undefined
  for (const [path, number] of text.matchAll(new RegExp(`(?<=^|\\s)/[\\w./+-]{1,160}/lib${stem}\\.so\\.(\\d{1,2})\\b`, 'gm'))) {
    const found = cudaFile(`lib${stem}.so.${number}`).cuda
    if (found !== undefined && found !== cuda) return { path, cuda: found }
  }
  return undefined
}
/** cuDNN of another release, as `ldconfig -p` and `ls` list it. */
function otherCudnn({ stem, version }: CudaFile, { text }: Situation): string | undefined {
  const major = version?.split('.')[0]
  if (stem !== 'cudnn' || major === undefined) return undefined
  const listed = new Set(
    [...text.matchAll(/^\s{0,12}(?:\S{0,160}\/)?libcudnn\w{0,40}\.so\.(\d)\b(?=[\d.]{0,12}(?:\s\(libc6|\s*$))/gm)].map(([, number]) => number),
  )
  return listed.has(major) ? undefined : [...listed].at(-1)
}
/** Who imports it, by the line of the traceback above: `from detectron2 import _C`. PyTorch itself is told of elsewhere. */
function importing({ text, at }: Seen): string | undefined {
  const name = /^\s{2,12}(?:from ([A-Za-z]\w{1,40})[\w.]{0,80} import |import ([A-Za-z]\w{1,40}))/.exec(
    text[at - 1]?.includes('^') === true ? (text[at - 2] ?? '') : (text[at - 1] ?? ''),
  )
  const found = name?.[1] ?? name?.[2]
  return found === undefined || /^(?:torch|importlib|ctypes)$/.test(found) ? undefined : found
}
/** What only loads the libraries that others need. */
const NO_EXTENSION = /^(?:torch|tensorflow|jax|jaxlib|transformers|importlib|ctypes|nvidia)$/
/** Extensions of PyTorch: of each there is a build for every CUDA. */
const EXTENSIONS = /^(?:flash_attn|xformers|apex|causal_conv1d|mamba_ssm|torchvision|torchaudio|torch_(?:scatter|sparse|cluster))$/

/** A package's own compiled part, where its path is not in the text: `from . import nixl_ep_cpp`. */
const PART = /\sfrom \. import ([A-Za-z]\w{3,40})\b/

export function toolkitRemedies(name: string, seen: Seen): readonly Piece[] {
  const situation = seen.situation()
  if (TORCH_OWN.test(name) && !situation.jetson) return torchOwnRemedies(name, around(seen.text, seen.at, 8, 0), situation)
  const file = cudaFile(name)
  const which =
    file.version === undefined
      ? name
      : `${name} (${file.stem === 'cudnn' ? `cuDNN ${file.version.split('.')[0]}` : file.cuda === undefined ? `version ${file.version}` : `CUDA ${file.cuda}`})`
  const windows = file.windows || situation.system === 'windows'
  const unnumbered = name.endsWith('.so') && !windows
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
  const there = folderInText(name, situation)
  if (there !== undefined)
    return [{ text: `${name} is installed in ${there}: name that folder to the loader.`, command: `export LD_LIBRARY_PATH=${there}:$LD_LIBRARY_PATH` }, look]
  if (situation.jetson)
    return [
      {
        text: `On a Jetson ${which} comes with JetPack, in the release of this board: install it on the host.`,
        command: 'sudo apt-get install nvidia-jetpack',
      },
      { text: 'In a container take an image for this L4T release, and start it with --runtime nvidia.' },
      { text: 'The program must be built for that JetPack too: wheels for servers look for other versions.' },
    ]
  if (programs.has('tensorflow') && windows)
    return [
      {
        text: `Install ${which} from NVIDIA: this TensorFlow was built for exactly that version${file.stem === 'cudnn' ? '' : ', and for the cuDNN that its release notes name'}.`,
      },
      loaderPath(situation, file, name),
      look,
      { text: 'Or run TensorFlow under WSL 2: after 2.10 it has no GPU support on Windows itself.' },
    ]
  // Its other notices name what else is not there.
  const others = (besides(seen).match(/\blib\w+\.so[.\d]*/g) ?? []).map((one) => ` and ${one}`).join('')
  const release = tensorflowFor(situation.text, file)
  if (programs.has('tensorflow'))
    return [
      release !== undefined && {
        text: `CUDA ${release.cuda} is what is installed here, and this TensorFlow was built for CUDA ${file.cuda}: take a release for CUDA ${release.cuda} (${release.names}), where your Python has one.`,
      },
      compareVersions(situation.versions.python ?? '3.9', '3.9') >= 0 && {
        text: `This TensorFlow was built for ${which}. Releases from 2.14 on (Python 3.9 and newer) bring their CUDA libraries along: install one of them.`,
        command: pipInstall(situation, "'tensorflow[and-cuda]'", '--upgrade'),
      },
      {
        text:
          compareVersions(situation.versions.python ?? '3.9', '3.9') >= 0
            ? `Or install ${which}${others} in exactly that version beside it, or use the image of this TensorFlow release.`
            : `Install ${which}${others} in exactly that version, or use the image of this TensorFlow release.`,
      },
      loaderPath(situation, file, name),
    ]
  const older = python && !windows ? forOlderDriver(file, which, situation) : undefined
  if (older !== undefined) return older
  const importer = [...around(seen.text, seen.at, 4, 0).matchAll(/-packages\/([a-z]\w{1,30})\//g)].at(-1)?.[1] ?? PART.exec(seen.text[seen.at - 1] ?? '')?.[1]
  if (programs.has('vllm') && file.stem === 'cudart' && (importer ?? 'vllm') !== 'vllm')
    return [
      { text: `${importer} was built for ${which}, and PyTorch here is for another CUDA: install its build for that CUDA.` },
      pip !== undefined && { text: `Or add the CUDA ${file.cuda} runtime that it looks for.`, command: pipInstall(situation, pip) },
    ]
  if (programs.has('vllm') && file.stem === 'cudart')
    return [
      {
        text: `This vLLM was built for ${which}, and the PyTorch beside it for another CUDA: reinstall vLLM in a clean environment.`,
        command: pipInstall(situation, 'vllm', '--force-reinstall'),
      },
      pip !== undefined && { text: `Or add the CUDA ${file.cuda} runtime that it looks for.`, command: pipInstall(situation, pip) },
    ]
  if (file.stem === 'cudart' && importer !== undefined && EXTENSIONS.test(importer))
    return [
      {
        text: `${importer} was built for ${which}, and PyTorch here likely for another CUDA: install its build for the CUDA of this PyTorch.`,
        command: pipInstall(situation, importer.replaceAll('_', '-'), '--force-reinstall --no-cache-dir --no-deps --no-build-isolation'),
      },
      look,
    ]
  const loads = importing(seen) ?? (importer === undefined || NO_EXTENSION.test(importer) ? 'What loads it' : importer)
  // The text says for which CUDA PyTorch is, or its author which one is in use: then what loads the library is the stranger.
  const own = (programs.has('pytorch') ? situation.versions.cuda : undefined) ?? IN_USE.exec(situation.text)?.[1]
  const stranger: Piece = python &&
    own !== undefined &&
    file.cuda !== undefined &&
    Number.parseInt(own, 10) !== Number.parseInt(file.cuda, 10) && {
      text: `What loads it was built for CUDA ${file.cuda}, and CUDA ${own} is what the rest here is for: install its build for CUDA ${Number.parseInt(own, 10)}.`,
    }
  const other = stranger === false ? otherMajor(file, situation) : undefined
  const another: Piece = stranger === false &&
    other === undefined &&
    python &&
    file.stem === 'cudart' && {
      text: `${loads} was built for CUDA ${file.cuda}. Where PyTorch or its framework is for another CUDA, install ${loads === 'What loads it' ? 'its build' : 'or compile it'} for that one instead.`,
    }
  const otherRelease = otherCudnn(file, situation)
  if (pip !== undefined && OF_TORCH.test(around(seen.text, seen.at, 8, 0))) return [...completeTorch(which, pip, situation), look]
  return [
    otherRelease !== undefined && {
      text: `cuDNN ${otherRelease} is installed here, and what loads ${name} was built for cuDNN ${file.version?.split('.')[0]}: take its release for cuDNN ${otherRelease}, where there is one, or install cuDNN ${file.version?.split('.')[0]} beside it (their names do not clash).`,
    },
    stranger,
    other !== undefined && {
      text: `The text shows ${other.path}, of CUDA ${other.cuda}: what loads ${name} was built for CUDA ${file.cuda}. Take its build for CUDA ${other.cuda}, where there is one, or install CUDA ${file.cuda} beside.`,
    },
    pip === undefined && another,
    loads === 'mmcv' && {
      text: 'openmim picks the wheel of mmcv that was built for the installed PyTorch and CUDA; keep to the release that the project asks for.',
      command: `${pipInstall(situation, 'openmim')} && mim install 'mmcv==<VERSION>'`,
    },
    pip === undefined || !python
      ? unnumbered
        ? {
            text: `Only development packages (in images: those ending in -devel) have ${name} without a number. Install that of the version that the program was built for, or make a link of this name beside the numbered library.`,
          }
        : {
            text: `Install ${which} from NVIDIA's CUDA${file.stem === 'cudnn' ? ' or cuDNN' : ''} packages${loads === 'What loads it' ? '' : `: ${loads} was linked with it`}; the number behind the name must match.`,
          }
      : { text: `Install ${which} for Python.`, command: pipInstall(situation, pip) },
    pip !== undefined &&
      !python &&
      !windows &&
      file.stem === 'cudnn' &&
      !OTHER_LANGUAGE.test(situation.text) && {
        text: 'For a program in Python, pip brings it too; then name its folder to the loader.',
        command: `${pipInstall(situation, pip)}\nexport LD_LIBRARY_PATH=${folder}:$LD_LIBRARY_PATH`,
      },
    // PyTorch and TensorFlow look into the folders of pip themselves; other programs leave it to the loader.
    pip !== undefined &&
      python &&
      !windows &&
      folder !== undefined &&
      (programs.has('ctranslate2') ||
        WHISPER.test(situation.text) ||
        /bitsandbytes/.test(situation.text) ||
        programs.has('onnxruntime') ||
        file.stem === 'cudart' ||
        !programs.has('pytorch')) && {
        text: 'Then name its folder to the loader, which does not look where pip installs.',
        command: `export LD_LIBRARY_PATH=${folder}:$LD_LIBRARY_PATH`,
      },
    file.stem === 'cudnn' &&
      file.version?.startsWith('8') === true &&
      (programs.has('ctranslate2') || WHISPER.test(situation.text)) && {
        text: 'Or, with CUDA 12, take CTranslate2 4.5 or newer, which was built for cuDNN 9.',
        command: pipInstall(situation, "ctranslate2 'nvidia-cudnn-cu12==9.*'", '--upgrade'),
      },
    programs.has('onnxruntime') && !python && { text: `Or take the build of ONNX Runtime for the CUDA that is installed.` },
    programs.has('onnxruntime') &&
      python &&
      (/onnxruntime[-_]genai/.test(situation.text)
        ? {
            text: 'Or take a release of onnxruntime-genai for the CUDA and cuDNN that are installed.',
            command: pipInstall(situation, 'onnxruntime-genai-cuda', '--upgrade'),
          }
        : {
            text: `Or let pip bring what onnxruntime-gpu was built for, and call onnxruntime.preload_dlls() before the first session.`,
            command: pipInstall(situation, file.cuda === '13' ? 'onnxruntime-gpu' : "'onnxruntime-gpu[cuda,cudnn]'", '--upgrade'),
          }),
    another,
    !/\(libc6,x86-64\) =>/.test(situation.text) && look,
    loaderPath(situation, file, name),
    (programs.has('docker') || programs.has('compose') || programs.has('kubernetes')) && {
      text: `In a container: use an image that has it (CUDA images ending in ${unnumbered ? `${file.stem === 'cudnn' ? '-cudnn' : ''}-devel` : '-cudnn-runtime'}).`,
    },
  ]
}

export const tensorRtRemedies = (library: string, seen: Seen): readonly Piece[] => {
  const major = /\.so\.(\d{1,3})/.exec(library)?.[1]
  if (library.includes('plugin_tensorrt_llm'))
    return [
      {
        text: `The file is part of TensorRT-LLM${major === undefined ? '' : `, in a release for TensorRT ${major}`}: use the image (Triton: -trtllm-python-py3) and the files of the model's repository of one release, and build the engine with it.`,
        command: 'pip list | grep -i tensorrt; find / -name "libnvinfer_plugin_tensorrt_llm*" 2>/dev/null',
      },
    ]
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
