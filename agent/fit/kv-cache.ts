// Keys and values that are kept for each token of each sequence while text is made.
import type { FitSettings, Range } from '../model/fit.ts'
import { widths, type Architecture, type Stack } from './architecture.ts'
import { NOTHING, plus, range } from './range.ts'

const BYTES = { fp16: 2, fp8: 1, int8: 1, off: 0 } as const

/** Numbers per token of one layer: a key and a value, or the one vector that both are made from. */
const perToken = (stack: Stack): number => (stack.latent === undefined ? 2 * widths(stack).kv : stack.latent.kvRank + stack.latent.ropeDim)

function ofStack(stack: Stack, crossTokens: number, guessed: boolean, { context, batch, kv_cache: kept }: FitSettings): Range {
  // Quantised caches keep a scale and a zero point for each group of 64 besides.
  const bytes = BYTES[kept] * (kept === 'int8' ? 1 + 4 / 64 : 1)
  const layer = perToken(stack) * bytes * batch
  const whole = stack.layers * layer * context
  const cross = stack.crossAttention ? stack.layers * layer * crossTokens : 0
  const { window } = stack
  // Engines that know of windows drop what is outside; others keep it.
  const windowed = window === undefined ? whole : (stack.layers - window.layers) * layer * context + window.layers * layer * Math.min(context, window.tokens)
  if (!guessed) return range(windowed + cross, windowed + cross, whole + cross)
  // Of a size alone: half the heads at the least, and at the most a key and a value for every head, as older models have.
  return range(whole / 2, whole, Math.max(whole, 2 * stack.hidden * stack.layers * bytes * batch * context))
}

export function kvCacheOf({ stacks }: Architecture, guessed: boolean, settings: FitSettings): Range {
  if (settings.kv_cache === 'off') return NOTHING
  const encoder = stacks.find(({ role }) => role === 'encoder')
  const crossTokens = encoder?.fixedTokens ?? settings.context
  return plus(...stacks.filter(({ role }) => role === 'decoder').map((stack) => ofStack(stack, crossTokens, guessed, settings)))
}
