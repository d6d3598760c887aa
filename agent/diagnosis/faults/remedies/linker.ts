// A library of CUDA that the linker does not find while code for the GPU is compiled.
import type { Seen } from '../parts/rules.ts'
import type { Piece } from './plan.ts'

/** The compiler's linker wants the name without a number, which the driver's packages often lack. */
export function linkerRemedies(name: string, { situation }: Seen): readonly Piece[] {
  const library = `lib${name}.so`
  const { programs } = situation()
  return [
    name === 'cuda'
      ? {
          text: `The driver installs ${library}.1; the linker looks for ${library}. Make the link beside it.`,
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
