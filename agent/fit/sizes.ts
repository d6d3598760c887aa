// The shape that a model of a size likely has: between the published shapes of well-known dense models, each column rising with the size.
import type { Architecture } from './architecture.ts'

type Row = { readonly parameters: number; readonly layers: number; readonly hidden: number; readonly intermediate: number; readonly kv: number }

/**
 * From config.json of SmolLM2 135M, Qwen2.5 0.5B, 1.5B and 14B, Llama 3.2 3B and 3.1 8B, 70B and 405B, Qwen2.5 32B, Mistral Large 123B; where one is
 * smaller than that of the model before it (Qwen2.5 14B has a narrower feed-forward than Llama 8B) it is raised to that, so that more parameters never mean less memory.
 */
const ROWS: readonly Row[] = [
  { parameters: 1e5, layers: 2, hidden: 64, intermediate: 256, kv: 64 },
  { parameters: 0.135e9, layers: 24, hidden: 576, intermediate: 1_536, kv: 128 },
  { parameters: 0.494e9, layers: 24, hidden: 896, intermediate: 4_864, kv: 128 },
  { parameters: 1.54e9, layers: 28, hidden: 1_536, intermediate: 8_960, kv: 256 },
  { parameters: 3.2e9, layers: 28, hidden: 3_072, intermediate: 8_960, kv: 1_024 },
  { parameters: 8.03e9, layers: 32, hidden: 4_096, intermediate: 14_336, kv: 1_024 },
  { parameters: 14.8e9, layers: 48, hidden: 5_120, intermediate: 14_336, kv: 1_024 },
  { parameters: 32.8e9, layers: 64, hidden: 5_120, intermediate: 27_648, kv: 1_024 },
  { parameters: 70.6e9, layers: 80, hidden: 8_192, intermediate: 28_672, kv: 1_024 },
  { parameters: 123e9, layers: 88, hidden: 12_288, intermediate: 28_672, kv: 1_024 },
  { parameters: 405e9, layers: 126, hidden: 16_384, intermediate: 53_248, kv: 1_024 },
]
const HEAD_DIM = 64
/** Of Llama 3; others have from 32,000 to 262,144. */
const VOCAB = 128_256

const logBetween = (a: number, b: number, share: number): number => a * (b / a) ** share

export function architectureOfSize(parameters: number): Architecture {
  const above = ROWS.findIndex((row) => row.parameters >= parameters)
  const [low, high] = above < 0 ? [ROWS.at(-1), ROWS.at(-1)] : [ROWS[Math.max(0, above - 1)], ROWS[above]]
  if (low === undefined || high === undefined) throw new Error('sizes: no rows')
  const share = high.parameters === low.parameters ? 0 : Math.max(0, Math.log(parameters / low.parameters) / Math.log(high.parameters / low.parameters))
  const column = (name: keyof Row): number => Math.round(logBetween(low[name], high[name], share))
  const hidden = column('hidden')
  return {
    family: 'like others of its size',
    stacks: [
      {
        role: 'decoder',
        layers: column('layers'),
        hidden,
        heads: Math.ceil(hidden / HEAD_DIM),
        kvHeads: Math.ceil(column('kv') / HEAD_DIM),
        headDim: HEAD_DIM,
        intermediate: column('intermediate'),
        gated: true,
        norm: 'rms',
        bias: false,
        dropout: false,
        crossAttention: false,
      },
    ],
    vocab: VOCAB,
    hidden,
    // Small models share the two matrices, as they would be half of the model.
    tied: parameters < 4e9,
    predictsTokens: true,
    otherEmbeddings: 0,
  }
}
