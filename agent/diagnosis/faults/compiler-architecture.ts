// The CUDA compiler, or the LLVM inside Triton, does not know the architecture that code is to be compiled for.
import type { Situation } from '../situation/situation.ts'
import { compareVersions } from '../situation/versions.ts'
import { ruleFamily, type Matched } from './parts/rules.ts'
import { pipInstall } from './remedies/pip.ts'
import type { Piece } from './remedies/plan.ts'

/** The first CUDA whose nvcc knows an architecture: CUDA's release notes of 11.0 to 13.0. Those with the letter a came with their number but for 90a. */
const FIRST: readonly (readonly [names: RegExp, cuda: string])[] = [
  [/^80$/, '11.0'],
  [/^86$/, '11.1'],
  [/^87$/, '11.4'],
  [/^8[9]$|^90$/, '11.8'],
  [/^90a$/, '12.0'],
  [/^1(?:00|01|20)a?$/, '12.8'],
  [/^(?:103|121)[af]?$|^1[02]0f$/, '12.9'],
  [/^(?:110|88)[af]?$/, '13.0'],
]
/** CUDA 13.0 took Maxwell, Pascal and Volta out, 12.0 Kepler. */
const LAST: readonly (readonly [names: RegExp, cuda: string])[] = [
  [/^3[57]$/, '11.8'],
  [/^[567]0$|^5[23]$|^6[12]$|^72$/, '12.9'],
]
const found = (table: typeof FIRST, architecture: string): string | undefined => table.find(([names]) => names.test(architecture))?.[1]

/** The toolkit that a text shows in use: what nvcc says of itself comes first. */
const NVCC = /Cuda compilation tools, release (\d{1,2}\.\d)|CUDA (?:compiler identification is NVIDIA|nvcc) (\d{1,2}\.\d)/
/** Another toolkit in the text, by its folder, that knows the architecture. */
function knowing(text: string, first: string, last: string | undefined): string | undefined {
  const folders = [...text.matchAll(/\/usr\/local\/cuda-(\d{1,2}\.\d)\b/g)].map(([, version = '']) => version)
  return folders.find((one) => compareVersions(one, first) >= 0 && (last === undefined || compareVersions(one, last) <= 0))
}

/** How each kind of build chooses its compiler. */
function choose({ text, programs }: Situation, folder: string): Piece {
  if (/\bcmake\b/i.test(text) && !programs.has('pytorch'))
    return {
      text: `Name the compiler of ${folder} to CMake, in a fresh build folder: it keeps the one that it found first.`,
      command: `${folder}/bin/nvcc --version\ncmake -B build-new -DCMAKE_CUDA_COMPILER=${folder}/bin/nvcc`,
    }
  return { text: `Let ${folder} come first: the nvcc that PATH and CUDA_HOME name is used.`, command: `export CUDA_HOME=${folder} PATH=${folder}/bin:$PATH` }
}

const bare = (name: string): string => /(?:compute|sm)_(\w{2,5})/.exec(name)?.[1] ?? ''
function remediesOf(name: string, { situation }: Matched): readonly Piece[] {
  const { text } = situation()
  const [first, last] = [found(FIRST, bare(name)), found(LAST, bare(name))]
  const used = /\bNVCC|nvcc/.test(text) ? NVCC.exec(text)?.slice(1).find(Boolean) : undefined
  const there = first === undefined && last === undefined ? undefined : knowing(text, first ?? '1.0', last)
  const versions =
    last !== undefined
      ? `up to CUDA ${last}; newer ones dropped it`
      : first === undefined
        ? undefined
        : `CUDA ${first} or newer${used === undefined || compareVersions(used, first) >= 0 ? '' : `; the one in use is ${used}`}`
  return [
    there !== undefined && choose(situation(), `/usr/local/cuda-${there}`),
    {
      text:
        versions === undefined
          ? `Install a CUDA toolkit that knows ${name}: older ones do not know newer GPUs, newest ones dropped old GPUs.`
          : `${there === undefined ? 'Install' : 'Else install'} a CUDA toolkit that knows ${name}: ${versions}.`,
      command: 'which -a nvcc; nvcc --version; nvcc --list-gpu-arch',
    },
    /triton|ptxas/i.test(text) && { text: 'For Triton, point it at the ptxas of that toolkit.', command: 'export TRITON_PTXAS_PATH=/usr/local/cuda/bin/ptxas' },
  ]
}

/** PyTorch pins the release of Triton that belongs to it. */
const newerTriton = (situation: Situation): Piece => {
  const text = 'Update PyTorch, which brings the Triton that belongs to it: for Blackwell 2.7 (Triton 3.3) or newer.'
  if (/\/nix\/store\//.test(situation.text)) return { text: text.replace('Update PyTorch', 'Take a newer nixpkgs, or overlay its PyTorch') }
  if (situation.system === 'windows') return { text, command: pipInstall(situation, 'triton-windows', '--upgrade') }
  // These come with a PyTorch of their own.
  return situation.programs.has('vllm') || situation.programs.has('sglang')
    ? { text: text.replace('Update PyTorch, which', 'Take a newer release or image of the server, whose PyTorch') }
    : { text, command: pipInstall(situation, 'torch', '--upgrade') }
}

export const compilerArchitecture = ruleFamily({
  id: 'compiler-architecture',
  kind: 'cuda_version_mismatch',
  literals: [
    'nsupported gpu architecture',
    'invalid value for --gpu-architecture',
    "is not defined for option 'gpu-name'",
    ' does not support .target sm_',
    "' is not a recognized processor for this target",
  ],
  rules: [
    {
      pattern: /[Uu]nsupported gpu architecture '?(\w{1,16})|invalid value for --gpu-architecture|Value '(sm_\w{1,8})' is not defined for option 'gpu-name'/,
      severity: 'critical',
      title: 'CUDA compiler does not know this GPU',
      verdict: ({ match, situation }) => {
        const name = match[1] ?? match[2]
        const [first, last] = [found(FIRST, bare(name ?? '')), found(LAST, bare(name ?? ''))]
        const knows = (first !== undefined || last !== undefined) && knowing(situation().text, first ?? '1.0', last)
        return `The CUDA compiler that ${knows === false || knows === undefined ? 'is installed' : 'was found first'} does not know ${name ?? 'the architecture'}: it ${last !== undefined ? 'has dropped it' : first === undefined ? 'is older than the GPU, or has dropped it' : 'is older than the GPU'}.`
      },
      remedies: (matched) => remediesOf(matched.match[1] ?? matched.match[2] ?? 'the GPU', matched),
    },
    {
      // ptxas itself knows the GPU: who wrote the PTX does not.
      pattern: /PTX \.version ([\d.]{1,5}) does not support \.target (sm_\w{2,6})/,
      severity: 'critical',
      title: 'Triton is older than this GPU',
      verdict: ({ match }) =>
        `Code for ${match[2]} was written as PTX ${match[1]}, which does not know that GPU yet: Triton, which wrote it, is older than the GPU.`,
      remedies: ({ situation }) => [
        newerTriton(situation()),
        { text: 'Until then run without compiled kernels (vLLM: --enforce-eager; PyTorch: no torch.compile).' },
      ],
    },
    {
      pattern: /'(sm_\d{2,3}\w?)' is not a recognized processor for this target/,
      severity: 'critical',
      title: 'Triton is older than this GPU',
      verdict: ({ match }) => `The LLVM inside Triton does not know ${match[1]}, so it cannot compile kernels for this GPU: Triton is older than the GPU.`,
      remedies: ({ situation }) => [
        newerTriton(situation()),
        /--use-sage-attention/.test(situation().text) && { text: 'Until then start without --use-sage-attention: SageAttention needs Triton.' },
      ],
    },
  ],
})
