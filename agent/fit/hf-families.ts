// From a config.json to a shape, one reader per family of architectures. Defaults are those of transformers' configuration classes.
import type { Stack } from './architecture.ts'
import { attention, patches, t5, vision, vit, whisper, type Reader } from './hf-encoders.ts'
import { needed, optional, type HfConfig } from './hf-fields.ts'

const PREDICTS = /CausalLM|LMHead|MaskedLM|ConditionalGeneration|ForPreTraining/
/** `fallback` where the config does not say. */
const predicts = ({ architectures }: HfConfig, fallback: boolean): boolean => (architectures?.[0] === undefined ? fallback : PREDICTS.test(architectures[0]))

function windowOf(config: HfConfig, layers: number): Pick<Stack, 'window'> {
  const tokens = optional(config, 'sliding_window')
  if (tokens === undefined || config.use_sliding_window === false) return {}
  const { layer_types: types, sliding_window_pattern: pattern } = config
  // Gemma slides in every second layer (2) or in all but each sixth (3).
  const every = config.model_type === 'gemma2' ? 2 : pattern
  const sliding =
    types != null ? types.filter((type) => type === 'sliding_attention').length : every != null && every > 0 ? layers - Math.floor(layers / every) : layers
  return sliding === 0 ? {} : { window: { tokens, layers: Math.min(sliding, layers) } }
}

function expertsOf(config: HfConfig, layers: number): Pick<Stack, 'experts'> {
  const count = optional(config, 'num_local_experts', 'num_experts', 'n_routed_experts')
  if (count === undefined) return {}
  const intermediate = needed(config, 'moe_intermediate_size', 'intermediate_size')
  const step = optional(config, 'decoder_sparse_step') ?? 1
  return {
    experts: {
      count,
      active: optional(config, 'num_experts_per_tok') ?? 2,
      intermediate,
      shared: optional(config, 'shared_expert_intermediate_size') ?? (optional(config, 'n_shared_experts') ?? 0) * intermediate,
      layers: Math.max(0, Math.floor((layers - (optional(config, 'first_k_dense_replace') ?? 0)) / step)),
    },
  }
}

function latentOf(config: HfConfig): Pick<Stack, 'latent'> {
  const kvRank = optional(config, 'kv_lora_rank')
  if (kvRank === undefined) return {}
  return {
    latent: {
      kvRank,
      ropeDim: needed(config, 'qk_rope_head_dim'),
      nopeDim: needed(config, 'qk_nope_head_dim'),
      valueDim: needed(config, 'v_head_dim'),
      qRank: optional(config, 'q_lora_rank'),
    },
  }
}

/** Llama and all that are built like it: RMS norms, gated feed-forward, rotary positions. */
const llamaLike =
  (tiedByDefault: boolean, qkvBias = false): Reader =>
  (config) => {
    const layers = needed(config, 'num_hidden_layers')
    const shape = attention(config)
    const stack: Stack = {
      ...shape,
      role: 'decoder',
      layers,
      intermediate: needed(config, 'intermediate_size'),
      gated: true,
      norm: 'rms',
      bias: false,
      qkvBias: qkvBias || config.attention_bias === true,
      dropout: false,
      crossAttention: false,
      ...windowOf(config, layers),
      ...expertsOf(config, layers),
      ...latentOf(config),
    }
    return {
      family: config.model_type,
      stacks: [stack],
      vocab: needed(config, 'vocab_size'),
      hidden: shape.hidden,
      tied: config.tie_word_embeddings ?? tiedByDefault,
      predictsTokens: predicts(config, true),
      otherEmbeddings: 0,
    }
  }

type Plain = {
  readonly bias: boolean
  readonly dropout: boolean
  readonly tied: boolean
  readonly predicts: boolean
  readonly role?: Stack['role']
  readonly kvHeads?: (config: HfConfig, heads: number) => number
}
/** GPT-2, BERT and what is built like them: layer norms, a plain feed-forward of four times the width, mostly learned positions. */
const plain =
  ({ bias, dropout, tied, predicts: fallback, role = 'decoder', kvHeads }: Plain): Reader =>
  (config) => {
    const shape = attention(config)
    const stack: Stack = {
      ...shape,
      kvHeads: kvHeads?.(config, shape.heads) ?? shape.kvHeads,
      role,
      layers: needed(config, 'num_hidden_layers', 'n_layer'),
      intermediate: optional(config, 'intermediate_size', 'ffn_dim', 'n_inner') ?? 4 * shape.hidden,
      gated: false,
      norm: 'layer',
      bias: config.bias ?? bias,
      dropout,
      crossAttention: false,
    }
    const rotary = ['gpt_neox', 'gptj', 'falcon', 'bloom', 'phi', 'stablelm'].includes(config.model_type)
    const positions = rotary ? 0 : (optional(config, 'max_position_embeddings', 'n_positions') ?? 0)
    return {
      family: config.model_type,
      stacks: [stack],
      vocab: needed(config, 'vocab_size'),
      hidden: shape.hidden,
      tied: config.tie_word_embeddings ?? tied,
      predictsTokens: predicts(config, fallback),
      otherEmbeddings: (positions + (optional(config, 'type_vocab_size') ?? 0)) * shape.hidden,
    }
  }

/** Qwen, the first: half of intermediate_size for each of two matrices, no biases but of q, k and v. */
const qwen: Reader = (config) => {
  const base = llamaLike(false, true)(config)
  const half = Math.floor(needed(config, 'intermediate_size') / 2)
  return { ...base, stacks: base.stacks.map((stack) => ({ ...stack, intermediate: half })) }
}

/** `nested` reads the parts of a config that has several. */
export const clipOf =
  (nested: (part: unknown, modelType: string) => HfConfig): Reader =>
  (config) => {
    const [text, picture] = [nested(config.text_config, 'clip_text_model'), nested(config.vision_config, 'clip_vision_model')]
    const tower = vision(picture)
    const words = plain({ bias: true, dropout: false, tied: true, predicts: false, role: 'encoder' })(text)
    const projection = (optional(config, 'projection_dim') ?? 512) * (tower.hidden + words.hidden)
    return { ...words, family: 'clip', stacks: [tower, ...words.stacks], otherEmbeddings: words.otherEmbeddings + patches(picture, tower) + projection }
  }

const falconHeads = (config: HfConfig, heads: number): number =>
  config.new_decoder_architecture === true ? (optional(config, 'num_kv_heads') ?? heads) : config.multi_query === false ? heads : 1

const bert = plain({ bias: true, dropout: true, tied: true, predicts: false, role: 'encoder' })
const llama = llamaLike(false)
const gemma = llamaLike(true)

export const FAMILIES: Readonly<Record<string, Reader>> = {
  llama,
  mistral: llama,
  mixtral: llama,
  phi3: llama,
  deepseek_v2: llama,
  deepseek_v3: llama,
  qwen,
  qwen2: llamaLike(false, true),
  qwen2_moe: llamaLike(false, true),
  qwen3: llama,
  qwen3_moe: llama,
  gemma,
  gemma2: gemma,
  gemma3_text: gemma,
  gpt2: plain({ bias: true, dropout: true, tied: true, predicts: true }),
  gpt_neox: plain({ bias: true, dropout: false, tied: false, predicts: true }),
  gptj: plain({ bias: false, dropout: false, tied: false, predicts: true }),
  opt: plain({ bias: true, dropout: true, tied: true, predicts: true }),
  bloom: plain({ bias: true, dropout: false, tied: true, predicts: true }),
  falcon: plain({ bias: false, dropout: false, tied: true, predicts: true, kvHeads: falconHeads }),
  phi: plain({ bias: true, dropout: false, tied: false, predicts: true }),
  bert,
  roberta: bert,
  'xlm-roberta': bert,
  electra: bert,
  t5,
  mt5: t5,
  whisper,
  vit,
}
