// What to do when a CUDA library lacks a symbol that another one needs: the loader met another release of it first.
import type { Situation } from '../../situation/situation.ts'
import type { Seen } from '../parts/rules.ts'
import { inPythonText } from './cuda-library.ts'
import { pipInstall } from './pip.ts'
import type { Piece } from './plan.ts'

const OWNERS: readonly (readonly [RegExp, name: string, stem: string])[] = [
  [/^_{0,2}nvJitLink/, 'nvJitLink', 'nvjitlink'],
  [/^nccl/, 'NCCL', 'nccl'],
  [/^cudnn/, 'cuDNN', 'cudnn'],
  [/^cublas/, 'cuBLAS', 'cublas'],
  [/^cusparse/, 'cuSPARSE', 'cusparse'],
  [/^cusolver/, 'cuSOLVER', 'cusolver'],
  [/^cufft/, 'cuFFT', 'cufft'],
  [/^curand/, 'cuRAND', 'curand'],
  [/^_{0,2}cuda[A-Z]/, 'CUDA runtime (libcudart)', 'cuda-runtime'],
]
/** A module of Python's, not one of NVIDIA's own packages: `fused_layer_norm_cuda.cpython-36m-x86_64-linux-gnu.so`. */
const EXTENSION = /-packages\/(?!nvidia\/|torch\/)(?:([A-Za-z]\w{1,40})\/[^\s:]{0,200}|([A-Za-z]\w{1,60}))\.(?:cpython|abi3)[\w-]{0,40}\.so: undefined symbol/
export type SymbolOwner = { readonly name: string; readonly stem: string; readonly symbol: string }
/** The library that should bring a symbol which was not found: the one that was loaded is another release of it. */
export function ownerOf(message: string): SymbolOwner | undefined {
  const symbol = /undefined symbol: ([\w@.]{3,120})|: symbol (\w{3,120}), version \S{1,80} not defined in file/.exec(message)?.slice(1).find(Boolean)
  const owner = symbol === undefined ? undefined : OWNERS.find(([pattern]) => pattern.test(symbol))
  return symbol === undefined || owner === undefined ? undefined : { name: owner[1], stem: owner[2], symbol }
}
/** Where the loader took it from, as ldd prints it, with the folder that LD_LIBRARY_PATH names. */
function foundIn(stem: string, { text }: Situation): string | undefined {
  const found = new RegExp(`lib${stem}\\.so[.\\d]* => (/[\\w./+-]{1,160})/lib`, 'i').exec(text)?.[1]
  return found === undefined || /site-packages|dist-packages/.test(found) ? undefined : found
}
/** The folder of a library of conda's: that of the environment itself, not of pip's packages. */
function condaFolder(message: string): string | undefined {
  const path = /(\/[\w./+-]{1,240})\/lib\w{2,30}\.so[.\d]{0,12}: undefined symbol/.exec(message)?.[1]
  if (path === undefined) return undefined
  const parts: string[] = []
  for (const part of path.split('/'))
    if (part === '..') parts.pop()
    else parts.push(part)
  const folder = parts.join('/')
  return /\/\w*conda\w*\/(?:envs\/[\w.-]{1,60}\/)?lib$|\/envs\/[\w.-]{1,60}\/lib$/.test(folder) ? folder : undefined
}
/** Both libraries are there: the loader met an older copy of one first. */
export function symbolRemedies({ name, stem, symbol }: SymbolOwner, seen: Seen): readonly Piece[] {
  const situation = seen.situation()
  const found = foundIn(stem, situation)
  const conda = condaFolder(seen.message)
  const extension = EXTENSION.exec(seen.message)
  if (extension !== null && stem === 'cuda-runtime')
    return [
      {
        text: `${extension[1] ?? extension[2]} is an extension that was compiled with a newer CUDA toolkit than the CUDA of this PyTorch: compile it again, with the toolkit whose version PyTorch names.`,
        command: 'python -c "import torch; print(torch.__version__, torch.version.cuda)"; nvcc --version',
      },
    ]
  const major = /[_.]so\.(1[123])\b/.exec(seen.message)?.[1] ?? /_(1[123])_\d{1,2}$/.exec(symbol)?.[1]
  const pip = inPythonText(situation, situation.text) && stem !== 'cudnn' && major !== '13' ? `nvidia-${stem}-cu${major ?? '12'}` : undefined
  const both = [...situation.text.matchAll(new RegExp(`^nvidia-${stem}-(cu1\\d) {1,40}(\\d[\\d.]{1,12})`, 'gm'))].map(
    ([, cuda, version]) => `nvidia-${stem}-${cuda} ${version}`,
  )
  return [
    both.length > 1 && {
      text: `pip holds ${both.join(' and ')}, which install into one folder, so one overwrites the other: remove both, and install PyTorch again, which brings the one that it needs.`,
      command: `pip uninstall -y ${both.map((one) => one.split(' ')[0]).join(' ')} && ${pipInstall(situation, 'torch', '--force-reinstall')}`,
    },
    both.length <= 1 && {
      text:
        found === undefined
          ? `Most likely an older ${name} comes first: take folders of other CUDA installations out of LD_LIBRARY_PATH, and try again.`
          : `The loader takes ${name} from ${found}, another CUDA installation: take that folder out of LD_LIBRARY_PATH, and try again.`,
      command: 'printenv LD_LIBRARY_PATH; unset LD_LIBRARY_PATH',
    },
    conda !== undefined &&
      stem === 'nvjitlink' && {
        text: `Both libraries are conda's (${conda}), and they must be of one CUDA release: update nvJitLink there.`,
        command: `conda install -c nvidia '${`libnvjitlink>=${/_(\d\d)_(\d{1,2})$/.exec(symbol)?.slice(1).join('.') ?? ''}`.replace(/>=$/, '')}'`,
      },
    pip !== undefined &&
      conda === undefined &&
      (stem === 'nccl'
        ? {
            text: `Or pip holds another ${name} than this PyTorch asks for: see which it wants, and install that.`,
            command: `python -m pip check; pip list | grep -iE "torch|${pip}"`,
          }
        : { text: `Or the ${name} of pip is older than what needs it.`, command: pipInstall(situation, pip, '--upgrade') }),
    found === undefined && {
      text: `See which ${name} the loader takes.`,
      command: `LD_DEBUG=libs python -c "import torch" 2>&1 | grep -i "${stem === 'cuda-runtime' ? 'cudart' : stem}" | head`,
    },
  ]
}
