// Which library of kernels reports that one of its kernels failed, and how to do without it.
import type { Piece } from '../remedies/plan.ts'
import type { Matched, Seen } from './rules.ts'

/** Libraries of kernels, by their names in paths and in the message. */
const LIBRARIES: readonly (readonly [sign: RegExp, name: string])[] = [
  [/\bflashinfer\b/i, 'FlashInfer'],
  [/\bflash[-_]?(?:attn|attention)|FlashAttn|hopper\/flash_/i, 'FlashAttention'],
  [/\bdeep_?gemm\b/i, 'DeepGEMM'],
  [/\bdeep_?ep\b/i, 'DeepEP'],
  [/\bsgl[-_]kernel\b/, 'sgl-kernel'],
  [/\bxformers\b/, 'xFormers'],
  [/\bselective_scan|causal_conv1d|mamba_ssm\b/, 'Mamba'],
  [/\bexllama/i, 'ExLlama'],
  [/\bcatboost[\\/]|TCatBoostException/, 'CatBoost'],
  [/\[LightGBM\]/, 'LightGBM'],
]
/** Only where the failing call itself is named, which is so where the library checks its launches. */
const libraryOf = ({ message, text, at }: Seen): string | undefined => {
  const own = `${message} ${text[at] ?? ''}`.slice(0, 700)
  return /\.cuh?\b|\bcsrc\b|failed with error|TCatBoostException|\[LightGBM\] \[Fatal\] \[CUDA\]/.test(own)
    ? LIBRARIES.find(([sign]) => sign.test(own))?.[1]
    : undefined
}
export const byLibrary = (matched: Matched): Piece => {
  const { programs } = matched.situation()
  const name = libraryOf(matched)
  if (name === undefined) return undefined
  const attention = name === 'FlashInfer' || name === 'FlashAttention'
  return {
    text: `${name} reports it: update ${name}${attention ? ', or see whether it goes away with another attention backend' : ' with what uses it'}.`,
    ...(attention && programs.has('sglang')
      ? { command: '--attention-backend triton' }
      : attention && programs.has('vllm')
        ? { command: '--attention-backend TRITON_ATTN' }
        : {}),
  }
}
