// A library of PyTorch's own that another module looks for: its build and the installed PyTorch do not belong together.
import { madeFor, rebuilds } from '../../ends/python-packages.ts'
import type { Situation } from '../../situation/situation.ts'
import { printTorch } from './environment.ts'
import { pipInstall } from './pip.ts'
import type { Piece } from './plan.ts'

/** libtorch.so, libtorch_cuda.so, libc10.so, libc10_cuda.so: the wheel has them in torch/lib, and no other package does. */
export const TORCH_OWN = /^lib(?:torch(?:_(?!python)[a-z_]{2,16})?|c10(?:_cuda|_hip)?)\.so$/
/** Builds that CUDA's part was split in, up to PyTorch 1.13. */
const SPLIT = /^libtorch_cuda_(?:cu|cpp)\.so$/

/** Whose file asks for it, by the traceback above: PyTorch and the standard library's loader are not it. */
function importer(before: string): string | undefined {
  const named = [...before.matchAll(/-packages[\\/](\w[\w-]{1,40})[\\/.]|^\s*(?:from|import) (\w{2,40})\b[^\n]{0,80}$/gm)]
    .map(([, folder, module]) => (folder ?? module ?? '').replace(/-\d.*$/, ''))
    .filter((name) => name !== '' && !/^(?:torch|ctypes|importlib|_\w*)$/.test(name))
  return named.at(-1)
}

export function torchOwnRemedies(name: string, before: string, situation: Situation): readonly Piece[] {
  const module = importer(before)
  const release = module === undefined ? undefined : madeFor(module, situation.versions.torch)
  const inPython = module !== undefined || /\bpython|ImportError|OSError|site-packages/i.test(situation.text)
  if (!inPython)
    return [
      {
        text: `Name the folder lib of the libtorch that the program was built with to the loader.`,
        command: 'export LD_LIBRARY_PATH=<LIBTORCH>/lib:$LD_LIBRARY_PATH',
      },
      { text: 'If there is none: unpack the libtorch of that release and that CUDA from pytorch.org.' },
    ]
  return [
    {
      text: `See which PyTorch is installed where the job runs: None behind its version means a build for the CPU, which has no libraries for CUDA.`,
      command: printTorch('torch.__version__, torch.version.cuda, torch.__path__'),
    },
    {
      text: `Build ${module ?? 'the extension'} again for the PyTorch that is installed, or take its wheel for that release and CUDA.`,
      command: pipInstall(
        situation,
        release !== undefined ? `'${module}==${release}'` : module === undefined ? '<PACKAGE>' : rebuilds(module, situation),
        '--force-reinstall --no-cache-dir --no-deps',
      ),
    },
    SPLIT.test(name)
      ? { text: `Or install the PyTorch that it was built for: one up to 1.13, as later ones have no ${name}.` }
      : { text: `Or install the PyTorch that ${module ?? 'the extension'} was built for.` },
    { text: 'If the import works after "import torch": import torch first, which loads its libraries.' },
  ]
}

/** PyTorch's own start: what its packages of pip bring is found without a path. */
export const OF_TORCH = /[\\/]torch[\\/]__init__\.py", line \d{1,5}, in _(?:load_global_deps|preload_cuda_deps)\b/
export const completeTorch = (library: string, pip: string, situation: Situation): readonly Piece[] => [
  {
    text: `PyTorch itself does not find it: install the package of pip that brings ${library} for PyTorch.`,
    command: pipInstall(situation, pip, '--force-reinstall'),
  },
  {
    text: 'If more of them are missing: install PyTorch again, with all that it depends on.',
    command: pipInstall(situation, situation.versions.torch === undefined ? 'torch' : `torch==${situation.versions.torch}`, '--force-reinstall --no-cache-dir'),
  },
]
