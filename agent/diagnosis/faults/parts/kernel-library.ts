// Which library of kernels reports that one of its kernels failed, and how to do without it.
import { around } from './window.ts'
import type { Piece } from '../remedies/plan.ts'
import type { Matched, Seen } from './rules.ts'

/** Libraries of kernels, by their names in paths and in the message. */
const LIBRARIES: readonly (readonly [sign: RegExp, name: string])[] = [
  [/\bflashinfer\b/i, 'FlashInfer'],
  [/\bflash[-_]?(?:attn|attention)|FlashAttn|hopper\/flash_|\bflash_(?:fwd|bwd)_\w+_kernel\b/i, 'FlashAttention'],
  [/\bdeep_?gemm\b/i, 'DeepGEMM'],
  [/\bdeep_?ep\b/i, 'DeepEP'],
  [/\bsgl[-_]kernel\b/, 'sgl-kernel'],
  [/\bxformers\b/, 'xFormers'],
  [/\bselective_scan|causal_conv1d|mamba_ssm\b/, 'Mamba'],
  [/\bexllama/i, 'ExLlama'],
  [/\bcatboost[\\/]|TCatBoostException/, 'CatBoost'],
  [/\[LightGBM\]/, 'LightGBM'],
]
/** cuda-gdb: the exception, and the kernel that it stopped in. */
export const kernelOf = (text: string): RegExpExecArray | null =>
  /CUDA_EXCEPTION_\d{1,2}, ?((?:Warp|Lane|Device|Cluster) [\w -]{3,40})[^]{0,400}?\bin (?:void )?([\w:~]{2,120})[<(]/.exec(text)
/** Only where the failing call itself is named, which is so where the library checks its launches. */
const libraryOf = ({ message, text, at }: Seen): string | undefined => {
  const stopped = kernelOf(around(text, at, 16, 8))?.[2]
  if (stopped !== undefined) return LIBRARIES.find(([sign]) => sign.test(stopped))?.[1]
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
    text: `${kernelOf(around(matched.text, matched.at, 16, 8)) === null ? `${name} reports it` : `The kernel is one of ${name}`}: update ${name}${attention ? ', or see whether it goes away with another attention backend' : ' with what uses it'}.`,
    ...(attention && programs.has('sglang')
      ? { command: '--attention-backend triton' }
      : attention && programs.has('vllm')
        ? { command: '--attention-backend TRITON_ATTN' }
        : {}),
  }
}
