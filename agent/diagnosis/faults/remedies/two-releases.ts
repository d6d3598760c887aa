// Two releases of one library in a process, each of which brought a part.
import type { Piece } from './plan.ts'

export const oneOfTwo = (library: string, message: string): readonly Piece[] => {
  const name = /^(?:lib)?cudnn/.test(library) ? 'cuDNN' : 'CUDA'
  // The loader says where it took the one that lacks something in the other.
  const [, folder, other] = /(\/[\w./+-]{2,160})\/lib\w{2,40}\.so[.\d]{0,12}: undefined symbol: [^\n]{1,300}?, version (lib[\w.]{3,60})/.exec(message) ?? []
  return [
    folder !== undefined &&
      other !== undefined && {
        text: `${library} was taken from ${folder}, and does not fit the ${other} that was loaded before it: let both come from one release. ${/^\/usr\/(?:local\/cuda|lib)/.test(folder) ? 'That is the folder of the system, while frameworks of pip and conda bring a cuDNN of their own: take its folder out of LD_LIBRARY_PATH, or remove that package of the system.' : ''}`.trim(),
      },
    library.endsWith('.dll') && {
      text: `Find the second ${name}: the DLLs of one release must be together, and come first in PATH.`,
      command: `where ${name === 'cuDNN' ? 'cudnn*.dll' : library}`,
    },
    !library.endsWith('.dll') && {
      text: `Find the second ${name}: libraries of pip, of the system and of LD_LIBRARY_PATH must not be mixed in one process.`,
      command: `ldconfig -p | grep ${name === 'cuDNN' ? 'libcudnn' : library.replace(/\.so.*$/, '')}; printenv LD_LIBRARY_PATH; pip list | grep -i nvidia`,
    },
    { text: 'Take out the one that does not belong to the framework, or update the library that was built for it, so that all use one.' },
  ]
}
