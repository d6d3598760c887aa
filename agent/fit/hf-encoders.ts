// Readers of config.json for models with an encoder: T5, Whisper, ViT and the towers of CLIP.
import type { Architecture, Stack } from './architecture.ts'
import { needed, optional, type HfConfig } from './hf-fields.ts'

export type Reader = (config: HfConfig) => Architecture

export function attention(config: HfConfig): Pick<Stack, 'heads' | 'kvHeads' | 'headDim'> & { readonly hidden: number } {
  const hidden = needed(config, 'hidden_size', 'd_model', 'n_embd', 'n_embed')
  const heads = needed(config, 'num_attention_heads', 'num_heads', 'n_head')
  return {
    hidden,
    heads,
    kvHeads: optional(config, 'num_key_value_heads') ?? heads,
    headDim: optional(config, 'head_dim') ?? Math.max(1, Math.floor(hidden / heads)),
  }
}

export const t5: Reader = (config) => {
  const hidden = needed(config, 'd_model')
  const heads = needed(config, 'num_heads')
  const gated = config.feed_forward_proj?.startsWith('gated') === true
  const stack = (role: Stack['role'], layers: number): Stack => ({
    role,
    layers,
    hidden,
    heads,
    kvHeads: heads,
    headDim: needed(config, 'd_kv'),
    intermediate: needed(config, 'd_ff'),
    gated,
    norm: 'rms',
    bias: false,
    dropout: true,
    crossAttention: role === 'decoder',
  })
  const layers = needed(config, 'num_layers')
  return {
    family: config.model_type,
    stacks: [stack('encoder', layers), stack('decoder', optional(config, 'num_decoder_layers') ?? layers)],
    vocab: needed(config, 'vocab_size'),
    hidden,
    // Both T5 1.1 and mT5 have an output matrix of their own.
    tied: config.tie_word_embeddings ?? config.model_type === 't5',
    predictsTokens: true,
    otherEmbeddings: 0,
  }
}

export const whisper: Reader = (config) => {
  const hidden = needed(config, 'd_model')
  const stack = (role: Stack['role'], layers: number, heads: number, intermediate: number): Stack => ({
    role,
    layers,
    hidden,
    heads,
    kvHeads: heads,
    headDim: Math.floor(hidden / heads),
    intermediate,
    gated: false,
    norm: 'layer',
    bias: true,
    dropout: false,
    crossAttention: role === 'decoder',
    ...(role === 'encoder' ? { fixedTokens: frames } : {}),
  })
  const frames = optional(config, 'max_source_positions') ?? 1_500
  const mel = optional(config, 'num_mel_bins') ?? 80
  return {
    family: 'whisper',
    stacks: [
      stack('encoder', needed(config, 'encoder_layers'), needed(config, 'encoder_attention_heads'), needed(config, 'encoder_ffn_dim')),
      stack('decoder', needed(config, 'decoder_layers'), needed(config, 'decoder_attention_heads'), needed(config, 'decoder_ffn_dim')),
    ],
    vocab: needed(config, 'vocab_size'),
    hidden,
    tied: true,
    predictsTokens: true,
    // Two convolutions over three frames each, and the positions of both sides.
    otherEmbeddings: 3 * hidden * (mel + hidden) + (frames + (optional(config, 'max_target_positions') ?? 448)) * hidden,
  }
}

export function vision(config: HfConfig): Stack {
  const shape = attention(config)
  const side = Math.floor((optional(config, 'image_size') ?? 224) / needed(config, 'patch_size'))
  return {
    ...shape,
    role: 'encoder',
    layers: needed(config, 'num_hidden_layers'),
    intermediate: needed(config, 'intermediate_size'),
    gated: false,
    norm: 'layer',
    bias: true,
    dropout: false,
    crossAttention: false,
    fixedTokens: side * side + 1,
  }
}
export const patches = (config: HfConfig, { hidden, fixedTokens = 0 }: Stack): number =>
  hidden * ((optional(config, 'num_channels') ?? 3) * (optional(config, 'patch_size') ?? 16) ** 2 + fixedTokens + 1)

export const vit: Reader = (config) => {
  const stack = vision(config)
  return {
    family: config.model_type,
    stacks: [stack],
    vocab: 0,
    hidden: stack.hidden,
    tied: true,
    predictsTokens: false,
    otherEmbeddings: patches(config, stack),
  }
}
