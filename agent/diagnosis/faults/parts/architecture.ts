// The GPU's architecture as a text names it: sm_86, compute capability 8.6.

/** 86 for sm_86 or capability 8.6. */
export function architectureIn(text: string): number | undefined {
  const sm = /\bCUDA capability\s{1,3}sm_(\d{2,3})\b/.exec(text) ?? /\bsm_(\d{2,3})a? is not compatible/.exec(text)
  if (sm?.[1] !== undefined) return Number(sm[1])
  const capability = /(?:compute )?capability:? (\d{1,2})\.(\d)\b/i.exec(text)
  return capability === null ? undefined : Number(`${capability[1]}${capability[2]}`)
}

const BLACKWELL = /\b(?:RTX (?:PRO )?50\d0(?: Ti)?(?: SUPER)?(?: Laptop)?|RTX PRO [2-6]\d00|G?B[123]00|GB10|Blackwell)\b/i
const BEFORE_TURING = /\b(?:GTX (?:Titan|9\d\d|10\d\d)|(?:Tesla )?[PV]100|P40|Titan (?:V|X|Xp)|Quadro (?:P|GV|M)\d{3,4}|Maxwell|Pascal|Volta)\b/i
/** The architecture itself, or the first one of the generation whose name stands in the text. */
export function generationIn(text: string): number | undefined {
  return architectureIn(text) ?? (BLACKWELL.test(text) ? 100 : BEFORE_TURING.test(text) ? 50 : undefined)
}
/** That of a consumer's or workstation's Blackwell, which only its name tells. */
export const namedArchitecture = (text: string): number | undefined => (/\bRTX (?:PRO [2-6]\d00|50\d0)\b/i.test(text) ? 120 : undefined)
/** A GPU whose name says that a build may be too old or too new for it. */
export const oddGpu = (text: string): string | undefined => (BLACKWELL.exec(text) ?? BEFORE_TURING.exec(text))?.[0]
/** Libraries with kernels of their own, as an error names them. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/flashinfer|\b(?:Single|Batch)(?:Decode|Prefill)With\w/i, 'FlashInfer'],
  [/\bflash_attn|flash-attention/i, 'FlashAttention'],
  [/xformers/i, 'xFormers'],
  [/sageattn|sageattention/i, 'SageAttention'],
  [/sgl[-_]kernel/, 'sgl-kernel'],
  [/deep_?gemm/i, 'DeepGEMM'],
  [/bitsandbytes/i, 'bitsandbytes'],
  [/mamba_ssm|selective_scan|causal_conv1d/, 'Mamba'],
]
/** Of the error itself: what stands around it may be of another library. */
export function kernelsOf({ message, match }: { readonly message: string; readonly match: RegExpExecArray }): string | undefined {
  const near = message.slice(Math.max(0, match.index - 120), match.index + match[0].length + 160)
  return PARTS.find(([pattern]) => pattern.test(near))?.[1]
}
export const capabilityText = (architecture: number): string => `${Math.floor(architecture / 10)}.${architecture % 10}`
