// The fields of a Hugging Face config.json that say how big a model is, whatever each family calls them.
import * as z from 'zod/mini'

const MOST = 100_000_000
const size = z.optional(z.nullable(z.int().check(z.nonnegative(), z.maximum(MOST))))
const flag = z.optional(z.nullable(z.boolean()))

/** Not strict: a config has dozens of fields that memory does not depend on. */
export const hfConfig = z.looseObject({
  model_type: z.string().check(z.maxLength(100)),
  architectures: z.optional(z.nullable(z.array(z.string()))),
  torch_dtype: z.optional(z.nullable(z.string())),
  dtype: z.optional(z.nullable(z.string())),
  tie_word_embeddings: flag,
  vocab_size: size,
  hidden_size: size,
  d_model: size,
  n_embd: size,
  n_embed: size,
  num_hidden_layers: size,
  num_layers: size,
  num_decoder_layers: size,
  n_layer: size,
  encoder_layers: size,
  decoder_layers: size,
  num_attention_heads: size,
  num_heads: size,
  n_head: size,
  encoder_attention_heads: size,
  decoder_attention_heads: size,
  num_key_value_heads: size,
  head_dim: size,
  d_kv: size,
  kv_channels: size,
  intermediate_size: size,
  ffn_dim: size,
  encoder_ffn_dim: size,
  decoder_ffn_dim: size,
  n_inner: size,
  d_ff: size,
  max_position_embeddings: size,
  n_positions: size,
  type_vocab_size: size,
  attention_bias: flag,
  bias: flag,
  sliding_window: size,
  use_sliding_window: flag,
  layer_types: z.optional(z.nullable(z.array(z.string()))),
  sliding_window_pattern: size,
  multi_query: flag,
  new_decoder_architecture: flag,
  num_kv_heads: size,
  word_embed_proj_dim: size,
  num_local_experts: size,
  num_experts: size,
  n_routed_experts: size,
  num_experts_per_tok: size,
  n_shared_experts: size,
  moe_intermediate_size: size,
  shared_expert_intermediate_size: size,
  first_k_dense_replace: size,
  decoder_sparse_step: size,
  kv_lora_rank: size,
  q_lora_rank: size,
  qk_rope_head_dim: size,
  qk_nope_head_dim: size,
  v_head_dim: size,
  feed_forward_proj: z.optional(z.nullable(z.string())),
  image_size: size,
  patch_size: size,
  num_channels: size,
  projection_dim: size,
  max_source_positions: size,
  max_target_positions: size,
  num_mel_bins: size,
  quantization_config: z.optional(
    z.nullable(
      z.looseObject({
        quant_method: z.optional(z.string()),
        bits: size,
        group_size: z.optional(z.nullable(z.number())),
        load_in_8bit: flag,
        load_in_4bit: flag,
        bnb_4bit_use_double_quant: flag,
      }),
    ),
  ),
  text_config: z.optional(z.nullable(z.looseObject({}))),
  vision_config: z.optional(z.nullable(z.looseObject({}))),
})
export type HfConfig = z.infer<typeof hfConfig>

/** A field that the family cannot do without is missing or zero. */
export class ConfigShapeError extends Error {
  override readonly name = 'ConfigShapeError'
}

/** The first of the names that the config has. */
export function optional(config: HfConfig, ...names: readonly (keyof HfConfig)[]): number | undefined {
  for (const name of names) {
    const value = config[name]
    if (typeof value === 'number' && value > 0) return value
  }
  return undefined
}
export function needed(config: HfConfig, ...names: readonly (keyof HfConfig)[]): number {
  const value = optional(config, ...names)
  if (value === undefined) throw new ConfigShapeError(`config.json of model_type ${config.model_type}: ${names.join(' or ')} is missing`)
  return value
}
