// NVRTC, which compiles kernels while a program runs: its helper library must be of exactly its release, and PyTorch's builds rename both.
// https://github.com/pytorch/pytorch/issues/68980, 93134, 99781 and 162367
import type { Seen } from '../parts/rules.ts'
import { pipInstall } from './pip.ts'
import type { Piece } from './plan.ts'

export const NVRTC = /^libnvrtc(?:-builtins)?\.so/

const TORCH_LIB = `"$(python -c 'import os, torch; print(os.path.join(os.path.dirname(torch.__file__), "lib"))')"`

export function nvrtcRemedies(name: string, seen: Seen): readonly Piece[] | undefined {
  const situation = seen.situation()
  const { text } = situation
  const cuda = /^libnvrtc-builtins\.so\.(\d{1,2}\.\d)/.exec(name)?.[1]
  const torch = situation.programs.has('pytorch') || /nvrtc compilation failed|TorchScript|libtorch|\bpython|\.py\b/i.test(text)
  if (cuda !== undefined && torch) {
    const major = Number.parseInt(cuda, 10)
    return [
      {
        text: `PyTorch for CUDA ${cuda} brings it along in its folder lib, in older builds under a name with a hash (libnvrtc-builtins-….so.${cuda}) or without the number: look there, and make a link of the missing name beside it. The file of another release will not do.`.replace(
          '-….so',
          '-<HASH>.so',
        ),
        command: `ls ${TORCH_LIB} | grep nvrtc; find / -name 'libnvrtc-builtins*' 2>/dev/null`,
      },
      major >= 12 && {
        text: 'Newer builds take it from a package of its own, which must be of that release.',
        command: pipInstall(situation, major >= 13 ? `'nvidia-cuda-nvrtc==${cuda}.*'` : `'nvidia-cuda-nvrtc-cu${major}==${cuda}.*'`),
      },
      {
        text: `If the CUDA toolkit ${cuda} is installed: name its folder to the loader.`,
        command: `export LD_LIBRARY_PATH=/usr/local/cuda-${cuda}/lib64:$LD_LIBRARY_PATH`,
      },
    ]
  }
  if (name === 'libnvrtc.so' && torch)
    return [
      {
        text: "Only development packages have the name without a number: make a link of it beside the numbered library in the folder of pip's package.",
        command: 'ls "$(python -c "import nvidia.cuda_nvrtc as m; print(list(m.__path__)[0])")/lib"',
      },
      { text: 'Or install the NVRTC development package of the CUDA toolkit (cuda-nvrtc-dev).', command: 'apt-cache search --names-only cuda-nvrtc-dev' },
    ]
  return undefined
}
