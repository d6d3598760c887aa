// Bytes of the weights by how they are kept, what quantisation adds and what it leaves alone.
import type { FitDtype, Range } from '../model/fit.ts'
import type { FitModel } from './model.ts'
import { around, exactly, plus } from './range.ts'

/** Bytes of one number of a matrix that is multiplied with. */
const LINEAR_BYTES: Readonly<Record<FitDtype, number>> = {
  fp32: 4,
  fp16: 2,
  bf16: 2,
  fp8: 1,
  // One scale in fp32 per row besides, which is less than a thousandth (LLM.int8, arXiv:2208.07339).
  int8: 1 + 4 / 4_096,
  // QLoRA (arXiv:2305.14314, section 3): 4 bits, a scale in 8 bits for 64 numbers, and one in 32 bits for 256 of those: 4.127 bits.
  nf4: 0.5 + 1 / 64 + 4 / (64 * 256),
  // Without double quantisation the scale has 32 bits: 4.5 bits.
  'nf4-single': 0.5 + 4 / 64,
  // GPTQ and AWQ with groups of 128: 4 bits, a scale in 16 bits and a zero point in 4.
  int4: 0.5 + (2 + 0.5) / 128,
  gptq8: 1 + (2 + 1) / 128,
}

export const isQuantised = (dtype: FitDtype): boolean => !['fp32', 'fp16', 'bf16'].includes(dtype)
/** Of the numbers that computing is done in, and of what is not quantised. */
export const computeBytes = (dtype: FitDtype): number => (dtype === 'fp32' ? 4 : 2)

export type Weights = { readonly range: Range; readonly note: string }

export function weightsOf({ counts, stored, guessed }: FitModel, dtype: FitDtype): Weights {
  if (stored !== undefined && (stored.dtype === dtype || stored.packed)) {
    return { range: exactly(stored.bytes), note: stored.packed ? 'exact, quantised as the files are' : 'exact, as the files say' }
  }
  const whole = computeBytes(dtype)
  const linear = counts.linear * LINEAR_BYTES[dtype]
  const rest = (counts.total - counts.linear) * whole
  if (!isQuantised(dtype)) return { range: exactly(linear + rest), note: `${whole} bytes for each of the parameters` }
  const note = `${(8 * LINEAR_BYTES[dtype]).toFixed(2)} bits for matrices, 16 for embeddings, output and norms`
  // Scales are laid out in various ways, and some matrices are left alone; how much of a model of a size are embeddings is only likely.
  return { range: plus(guessed ? around(linear, 0.95, 1.1) : around(linear, 0.98, 1.08), guessed ? around(rest, 0.5, 1.5) : exactly(rest)), note }
}
