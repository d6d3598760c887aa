// PyTorch finds no CUDA toolkit to compile an extension with: none is there, it is not named, or PyTorch itself is a build for the CPU, which looks for none.
import type { Matched } from '../parts/rules.ts'
import { printTorch, setVariables } from './environment.ts'
import type { Piece } from './plan.ts'

/** What nvcc prints of itself. */
const nvcc = (text: string): string | undefined => /Cuda compilation tools, release (\d{1,2}\.\d)/.exec(text)?.[1]
/** Of torch/utils/cpp_extension.py: it looks at the variable and for nvcc only where PyTorch was compiled for CUDA. */
const CPU = 'a PyTorch for the CPU only looks for no toolkit, whatever CUDA_HOME says'

export function noToolkit({ situation }: Matched): string {
  const there = nvcc(situation().text)
  return there === undefined
    ? 'A CUDA extension is to be compiled, and there is no CUDA toolkit (nvcc) here, or CUDA_HOME does not name it.'
    : `A CUDA extension is to be compiled. nvcc is here (CUDA ${there}), and PyTorch does not find its toolkit: CUDA_HOME does not name it, or PyTorch is a build for the CPU only.`
}

export function toolkitToBuildWith({ situation }: Matched): readonly Piece[] {
  const at = situation()
  const there = nvcc(at.text)
  const see: Piece = {
    text: `See for which CUDA this PyTorch was built. None: install one with CUDA first, since ${CPU}.`,
    command: printTorch('torch.__version__, torch.version.cuda'),
  }
  const wheel: Piece = { text: 'Or install a wheel that is already compiled for your versions.' }
  const windows = at.system === 'windows'
  const inPrograms = windows ? ' (below C:\\Program Files\\NVIDIA GPU Computing Toolkit\\CUDA)' : ''
  return [
    there !== undefined && see,
    {
      text:
        there === undefined
          ? `Install the toolkit in the version of your PyTorch${windows ? '' : ', or use a -devel image'}, and name it${inPrograms}.`
          : `Then name the folder of the toolkit, not its bin${inPrograms}; it must be of the CUDA of that PyTorch (at least the same major version).`,
      command:
        there !== undefined && !windows
          ? 'export CUDA_HOME=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")'
          : setVariables(at, { CUDA_HOME: windows ? '<FOLDER>' : '/usr/local/cuda' }),
    },
    there === undefined && see,
    wheel,
  ]
}
