// The GPU's architecture as a text names it: sm_86, compute capability 8.6.
import { compareVersions } from '../../situation/versions.ts'

/** 86 for sm_86 or capability 8.6. */
export function architectureIn(text: string): number | undefined {
  const sm = /\bCUDA capability\s{1,3}sm_(\d{2,3})\b/.exec(text) ?? /\bsm_(\d{2,3})a? is not compatible/.exec(text)
  if (sm?.[1] !== undefined) return Number(sm[1])
  const capability = /(?:compute )?capability:? (\d{1,2})\.(\d)\b/i.exec(text)
  return capability === null ? undefined : Number(`${capability[1]}${capability[2]}`)
}

const BLACKWELL = /\b(?:RTX (?:PRO )?50\d0(?: Ti)?(?: SUPER)?(?: Laptop)?|RTX PRO [2-6]\d00|G?B[123]00|GB10|Blackwell)\b/i
const BEFORE_TURING = /\b(?:GTX (?:Titan|9\d\d|10\d\d)|(?:Tesla )?[PV]100|P40|Titan (?:V|X|Xp)|Quadro (?:P|GV|M)\d{3,4}|Maxwell|Pascal|Volta)\b/i
/** The architecture itself, or the first one of the generation whose name is in the text. */
export function generationIn(text: string): number | undefined {
  return architectureIn(text) ?? (BLACKWELL.test(text) ? 100 : BEFORE_TURING.test(text) ? 50 : undefined)
}
/** The first CUDA that knows a generation: CUDA's release notes of 10.0, 11.0, 11.1, 11.8 and 12.8. */
const FIRST_CUDA: readonly (readonly [names: RegExp, cuda: string])[] = [
  [BLACKWELL, '12.8'],
  [/\b(?:H[12]00|H[82]0|GH200|Hopper)\b/, '11.8'],
  // CUDA names it from 11.8 on, and code for Ampere runs on it: docs.nvidia.com/cuda/archive/11.8.0/ada-compatibility-guide
  [/\b(?:RTX (?:40\d0|[2-6]000 Ada)|L40S?|L4|Ada Lovelace)\b/, '11.0'],
  [/\b(?:RTX[ -](?:30\d0|A[2-6]000)|A(?:10G?|16|40))\b/i, '11.1'],
  [/\b(?:A100|A30|A800)\b/, '11.0'],
  [/\b(?:RTX[ -](?:20\d0|[3-8]000(?! Ada))|Titan RTX|GTX 16\d0|Tesla T4|T4|Turing)\b/i, '10.0'],
]
/** In prose: "cuda 9.0", "CUDA: 10.2", "cuda-11.0". What nvidia-smi calls so is the driver's. */
const CUDA_IN_USE = /\bcuda(?:toolkit|[ -]toolkit)?(?: version)?[ :：=-]{1,2}v?(\d{1,2}\.\d)\b/gi
/** The GPU that a text names is newer than the CUDA that it names: both, with the first CUDA that knows it. */
export function tooNewFor(text: string): { readonly gpu: string; readonly cuda: string; readonly needs: string } | undefined {
  const lines = text.replaceAll(/^.*Driver Version:.*$/gm, '')
  const named = [...lines.matchAll(CUDA_IN_USE)].map((match) => match[1] ?? '')
  const [cuda] = named
  if (cuda === undefined || named.some((one) => one !== cuda)) return undefined
  const found = FIRST_CUDA.find(([names]) => names.test(lines))
  return found === undefined || Number(found[1]) <= Number(cuda)
    ? undefined
    : { gpu: new RegExp(`${found[0].source}(?: Ti\\b)?(?: SUPER\\b)?`, 'i').exec(lines)?.[0] ?? '', cuda, needs: found[1] }
}
/** The first PyTorch whose wheels hold code for a generation: those for CUDA 11.0, 11.8 and 12.8 (pytorch.org, previous versions). */
const FIRST_TORCH: readonly (readonly [names: RegExp, torch: string])[] = [
  [BLACKWELL, '2.7'],
  [/\b(?:H[12]00|H[82]0|GH200|Hopper)\b/, '2.0'],
  [/\b(?:RTX[ -](?:[34]0\d0|A[2-6]000)|A(?:10G?|16|30|40|100|800)|L40S?|L4|Ampere|Ada Lovelace)\b/i, '1.7'],
]
/** The GPU that a text names is newer than the PyTorch that it names. */
export function tooNewForTorch(text: string, torch: string | undefined): { readonly gpu: string; readonly torch: string; readonly needs: string } | undefined {
  const found = torch === undefined ? undefined : FIRST_TORCH.find(([names]) => names.test(text))
  return torch === undefined || found === undefined || compareVersions(torch, found[1]) >= 0
    ? undefined
    : { gpu: found[0].exec(text)?.[0] ?? '', torch, needs: found[1] }
}
/** That of a consumer's or workstation's Blackwell, which only its name tells. */
export const namedArchitecture = (text: string): number | undefined => (/\bRTX (?:PRO [2-6]\d00|50\d0)\b/i.test(text) ? 120 : undefined)
/** Of those before Turing too. */
const BEFORE: readonly (readonly [names: RegExp, architecture: number])[] = [
  [/\b(?:V100|Titan V|(?:Quadro )?GV100)\b/i, 70],
  [/\b(?:P100|GP100)\b/, 60],
  [/\b(?:GTX 10\d0|P40|P4|P6|Titan Xp|Quadro P\d{3,4})\b/i, 61],
  [/\b(?:GTX 9\d0|GTX Titan X|M40|M60|Quadro M\d{4})\b/i, 52],
]
export const oldArchitecture = (text: string): number | undefined => BEFORE.find(([names]) => names.test(text))?.[1]
/** Those that every wheel of PyTorch for CUDA 11.8 and newer has code for: RELEASE.md, "PyTorch CUDA support matrix"; an RTX 40 runs that of the RTX 30. */
const USUAL: readonly (readonly [names: RegExp, architecture: number])[] = [
  [/\b(?:RTX 20\d0|GTX 16\d0|Titan RTX|Tesla T4)(?: Ti\b)?(?: SUPER\b)?/gi, 75],
  [/\bA100\b/g, 80],
  [/\b(?:RTX 30\d0|RTX A[2-6]000)(?: Ti\b)?/gi, 86],
  [/\b(?:RTX 40\d0|L40S?|L4)\b(?: Ti\b)?(?: SUPER\b)?/gi, 89],
  [/\bH[12]00\b/g, 90],
]
/** The one GPU of those that a text names. */
export function usualGpu(text: string): { readonly name: string; readonly architecture: number } | undefined {
  if (oddGpu(text) !== undefined) return undefined
  const found = new Map(USUAL.flatMap(([names, architecture]) => [...text.matchAll(names)].map(([name]) => [name, architecture] as const)))
  const [only] = found
  return found.size === 1 && only !== undefined ? { name: only[0], architecture: only[1] } : undefined
}
/** A GPU whose name says that a build may be too old or too new for it. */
export const oddGpu = (text: string): string | undefined => (BLACKWELL.exec(text) ?? BEFORE_TURING.exec(text))?.[0]
/** Libraries with kernels of their own, as an error names them. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/flashinfer|\b(?:Single|Batch)(?:Decode|Prefill)With\w/i, 'FlashInfer'],
  [/\bflash[-_]?attn|flash-attention|\bflash_(?:fwd|bwd)_launch/i, 'FlashAttention'],
  [/xformers/i, 'xFormers'],
  [/sageattn|sageattention/i, 'SageAttention'],
  [/sgl[-_]kernel/, 'sgl-kernel'],
  [/deep_?gemm/i, 'DeepGEMM'],
  [/bitsandbytes/i, 'bitsandbytes'],
  [/mamba_ssm|selective_scan|causal_conv1d/, 'Mamba'],
]
/** The last library with kernels of its own that the lines of a traceback go through. */
export const kernelsIn = (lines: string): string | undefined =>
  PARTS.map(([pattern, name]) => ({ name, at: lines.search(pattern) }))
    .toSorted((a, b) => b.at - a.at)
    .find(({ at }) => at >= 0)?.name
/** Of the error itself: what is around it may be of another library. */
export function kernelsOf({ message, match }: { readonly message: string; readonly match: RegExpExecArray }): string | undefined {
  const near = message.slice(Math.max(0, match.index - 120), match.index + match[0].length + 160)
  return PARTS.find(([pattern]) => pattern.test(near))?.[1]
}
export const capabilityText = (architecture: number): string => `${Math.floor(architecture / 10)}.${architecture % 10}`

/** Thrust and CUB name their namespace by what nvcc compiled for: `THRUST_200700_800_890_NS` is compute capability 8.0 and 8.9. */
export function compiledFor(text: string): string | undefined {
  const list = /\b(?:THRUST|CUB)_\d{6}((?:_\d{3,4}){1,20})_NS\b/.exec(text)?.[1]
  if (list === undefined) return undefined
  const capabilities = list.split('_').flatMap((one) => (one === '' ? [] : [capabilityText(Number(one) / 10)]))
  return `compute capability ${capabilities.join(', ')}`
}
