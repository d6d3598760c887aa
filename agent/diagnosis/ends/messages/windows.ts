// What Windows says where it cannot load a library of PyTorch. Sources: pytorch/pytorch#129568, #131662, #169429.
import { installs } from '../python-packages.ts'
import { installerOf, pipInstall } from '../../faults/remedies/pip.ts'
import type { Known } from './message.ts'
import { caller } from './packages.ts'

const RUNTIME = 'winget install --exact --id Microsoft.VCRedist.2015+.x64'
const isTorch = (path: string): boolean => /[\\/]torch[\\/]{1,2}lib[\\/]/i.test(path)
/** Those of which 2.9 raised what it needs. */
const isCore = (path: string): boolean => /[\\/]torch[\\/]lib[\\/](?:c10|torch_cpu|torch_python)\.dll$/i.test(path)
/** PyPI has PyTorch for Windows only without CUDA. */
const WITH_CUDA = 'Name the index of your CUDA version (cu126, cu128 …): without one pip installs it without CUDA on Windows.'
const install = (packages: string): string => `python -m pip install --upgrade ${packages} --index-url https://download.pytorch.org/whl/<CUDA>`
const fileOf = (path: string): string => path.split(/[\\/]/).at(-1) ?? path

const WORKERS = /DataLoader|dataloader|workers|spawn_main|multiprocessing/

export const WINDOWS: readonly Known[] = [
  {
    // Compiled at the first use and kept: woct0rdho/triton-windows, README.
    pattern: /DLL load failed while importing (?:cuda_utils|__triton_launcher)/,
    title: 'Windows cannot load what Triton has compiled',
    says: 'Triton compiled this library and cached it. It needs the Visual C++ runtime, and a cached copy stops working when Python, Triton or CUDA changes.',
    remedies: () => [
      { text: 'Delete its cache; Triton then compiles again.', command: 'rmdir /s /q %USERPROFILE%\\.triton\\cache' },
      { text: 'Install the current runtime of Visual C++ (x64), then open a new terminal.', command: RUNTIME },
      { text: 'Install triton-windows in the release for this PyTorch.', command: 'python -m pip install -U triton-windows' },
    ],
  },
  {
    // safetensors says "(os error 1455)": it maps the whole file.
    pattern: /\[WinError 1455\]|\(os error 1455\)/,
    title: "Windows' paging file is too small",
    says: ([match]) =>
      match.startsWith('[')
        ? 'Windows reserves memory for each process that loads the CUDA libraries, and neither RAM nor the paging file has space for it.'
        : 'Windows reserves memory for all that a program maps, such as the files of a model, and neither RAM nor the paging file has space for it.',
    remedies: (_, { situation }) => [
      WORKERS.test(situation.text) && {
        text: 'Use fewer DataLoader workers (num_workers=0 first): on Windows each one loads the CUDA libraries again.',
      },
      {
        text: 'Enlarge the paging file (System, Advanced, Performance, Virtual memory), on a drive with space, to about the size of the RAM or more; then restart Windows.',
      },
      { text: 'Close other programs and notebooks that hold memory.' },
    ],
  },
  {
    pattern: /\[WinError (?:126|127|182)\][^\n]{0,200}?Error loading "([^"\n]{1,300}\.dll)"/,
    title: ([, path = '']) => `Windows cannot load ${fileOf(path)}: a library that it needs is missing`,
    says: ([, path = '']) =>
      /fbgemm/.test(path) ? 'It needs libomp140.x86_64.dll, which the current runtime of Visual C++ no longer brings.' : 'The file itself is there.',
    remedies: ([, path = '']) => [
      ...(/fbgemm/.test(path)
        ? [
            { text: `Update PyTorch to 2.4.1 or later, which does without that library. ${WITH_CUDA}`, command: install('torch torchvision torchaudio') },
            { text: 'Or add it to this Windows: in the Visual Studio Installer select the latest MSVC build tools for C++ (x64/x86).' },
          ]
        : [{ text: 'Install the current runtime of Visual C++ (x64), then open a new terminal.', command: RUNTIME }]),
      isTorch(path) && {
        text: 'If it stays: make a fresh environment with one package manager; libraries of conda and pip in the same environment replace each other.',
        command: 'python -m venv fresh',
      },
      { text: 'Do not download single DLLs from DLL collections: their origin is unknown.' },
    ],
  },
  {
    pattern: /\[WinError 1114\][^\n]{0,200}?Error loading "([^"\n]{1,300}\.dll)"/,
    title: ([, path = '']) => `Windows cannot initialize ${fileOf(path)}`,
    says: ([, path = '']) => (isCore(path) ? 'PyTorch 2.9 and later need a newer runtime of Visual C++ than many programs install.' : undefined),
    remedies: ([, path = ''], { situation }) => [
      { text: 'Install the current runtime of Visual C++ (x64), then open a new terminal.', command: RUNTIME },
      isTorch(path) && /PyQt|PySide/.test(situation.text) && { text: 'Import torch before PyQt or PySide: they load an older runtime first.' },
      isCore(path) && {
        text: `If it stays with PyTorch 2.9 or later: install the last one before. ${WITH_CUDA}`,
        command: install("'torch<2.9' torchvision torchaudio"),
      },
    ],
  },
  {
    // The part that was compiled: _fused of sageattention, _C of many.
    pattern: /DLL load failed while importing (\w{1,60}): The specified (module|procedure) could not be found/,
    title: ([, part = ''], context) => `Windows cannot load ${caller(context) ?? part}`,
    says: ([, , what]) =>
      what === 'procedure'
        ? 'A library that it needs is there in another release than the one it was built for.'
        : 'A library that it needs is missing, or of another release than the one it was built for; the file itself is there.',
    remedies: ([, part = ''], context) => {
      const { situation } = context
      const name = caller(context) ?? part.replace(/_cuda$|^_+/g, '')
      const forTorch = /torch|cuda|attn|attention|xformers|triton/i.test(`${name} ${part} ${situation.text}`)
      return [
        forTorch
          ? {
              text: `Install the wheel of ${name} that was built for this Python, PyTorch and CUDA: its name holds all three.`,
              command: `${installerOf(situation) === 'embedded' ? '.\\python_embeded\\python.exe' : 'python'} -c "import sys, torch; print(sys.version[:4], torch.__version__, torch.version.cuda)"`,
            }
          : {
              text: `Install ${name} again: pip takes a build for this Python.`,
              command: pipInstall(situation, installs(name, situation), '--force-reinstall --no-cache-dir'),
            },
        { text: 'Install the current runtime of Visual C++ (x64), then open a new terminal.', command: RUNTIME },
      ]
    },
  },
]
