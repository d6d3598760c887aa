// Shapes read from config.json: parameters against the published counts, of every family; and what is no config.
import { describe, expect, test } from 'vitest'
import { countsOf } from '../../../agent/fit/architecture.ts'
import { readConfig } from '../../../agent/fit/hf-config.ts'
import { FAMILIES } from '../../../agent/fit/hf-families.ts'
import { CONFIGS } from './configs.ts'

type Published = readonly [name: string, config: Readonly<Record<string, unknown>>, parameters: number]
const decoder = (type: string, hidden: number, layers: number, heads: number, kv: number, intermediate: number, vocab: number, rest = {}) => ({
  model_type: type,
  hidden_size: hidden,
  num_hidden_layers: layers,
  num_attention_heads: heads,
  num_key_value_heads: kv,
  intermediate_size: intermediate,
  vocab_size: vocab,
  ...rest,
})

/** Counts are those of the model cards' safetensors metadata, or of the papers where the cards have none. */
const PUBLISHED: readonly Published[] = [
  ['Llama 2 7B', CONFIGS['Llama 2 7B'], 6_738_415_616],
  ['Llama 3.1 8B', CONFIGS['Llama 3 8B'], 8_030_261_248],
  ['Llama 2 70B', CONFIGS['Llama 2 70B'], 68_976_648_192],
  ['Mistral 7B', decoder('mistral', 4_096, 32, 32, 8, 14_336, 32_000, { sliding_window: 4_096 }), 7_241_732_096],
  ['Mixtral 8x7B', decoder('mixtral', 4_096, 32, 32, 8, 14_336, 32_000, { num_local_experts: 8, num_experts_per_tok: 2 }), 46_702_792_704],
  ['Qwen2.5 7B', CONFIGS['Qwen2.5 7B'], 7_615_616_512],
  ['Qwen2.5 0.5B', CONFIGS['Qwen2.5 0.5B'], 494_032_768],
  ['Qwen 7B', CONFIGS['Qwen 7B'], 7_721_324_544],
  ['Qwen3 8B', decoder('qwen3', 4_096, 36, 32, 8, 12_288, 151_936, { head_dim: 128 }), 8_190_735_360],
  [
    'Qwen3 30B A3B',
    decoder('qwen3_moe', 2_048, 48, 32, 4, 6_144, 151_936, { head_dim: 128, num_experts: 128, num_experts_per_tok: 8, moe_intermediate_size: 768 }),
    30_532_122_624,
  ],
  [
    'Qwen1.5 MoE A2.7B',
    decoder('qwen2_moe', 2_048, 24, 16, 16, 5_632, 151_936, {
      num_experts: 60,
      num_experts_per_tok: 4,
      moe_intermediate_size: 1_408,
      shared_expert_intermediate_size: 5_632,
    }),
    14_315_784_192,
  ],
  ['Gemma 7B', decoder('gemma', 3_072, 28, 16, 16, 24_576, 256_000, { head_dim: 256 }), 8_537_680_896],
  ['Gemma 2 9B', decoder('gemma2', 3_584, 42, 16, 8, 14_336, 256_000, { head_dim: 256, sliding_window: 4_096 }), 9_241_705_984],
  ['Gemma 3 1B', decoder('gemma3_text', 1_152, 26, 4, 1, 6_912, 262_144, { head_dim: 256, sliding_window: 512, sliding_window_pattern: 6 }), 999_885_952],
  ['Phi 3 mini', decoder('phi3', 3_072, 32, 32, 32, 8_192, 32_064), 3_821_079_552],
  ['Phi 1.5', CONFIGS['phi-1.5'], 1_418_270_720],
  [
    'DeepSeek V2 Lite',
    decoder('deepseek_v2', 2_048, 27, 16, 16, 10_944, 102_400, {
      kv_lora_rank: 512,
      q_lora_rank: null,
      qk_rope_head_dim: 64,
      qk_nope_head_dim: 128,
      v_head_dim: 128,
      n_routed_experts: 64,
      n_shared_experts: 2,
      num_experts_per_tok: 6,
      moe_intermediate_size: 1_408,
      first_k_dense_replace: 1,
    }),
    15_706_484_224,
  ],
  [
    'DeepSeek V3',
    decoder('deepseek_v3', 7_168, 61, 128, 128, 18_432, 129_280, {
      kv_lora_rank: 512,
      q_lora_rank: 1_536,
      qk_rope_head_dim: 64,
      qk_nope_head_dim: 128,
      v_head_dim: 128,
      n_routed_experts: 256,
      n_shared_experts: 1,
      num_experts_per_tok: 8,
      moe_intermediate_size: 2_048,
      first_k_dense_replace: 3,
    }),
    671_026_419_200,
  ],
  ['GPT-2', { model_type: 'gpt2', n_embd: 768, n_layer: 12, n_head: 12, n_positions: 1_024, vocab_size: 50_257 }, 124_439_808],
  [
    'Pythia 6.9B',
    { model_type: 'gpt_neox', hidden_size: 4_096, num_hidden_layers: 32, num_attention_heads: 32, intermediate_size: 16_384, vocab_size: 50_432 },
    6_857_302_016,
  ],
  ['GPT-J 6B', { model_type: 'gptj', n_embd: 4_096, n_layer: 28, n_head: 16, vocab_size: 50_400 }, 6_050_882_784],
  ['OPT 125M', CONFIGS['OPT 125M'], 125_239_296],
  ['BLOOM 7B1', CONFIGS['BLOOMZ 7B1'], 7_069_016_064],
  ['Falcon 7B', { ...CONFIGS['Falcon 7B'], tie_word_embeddings: true }, 6_921_720_704],
  ['BERT large', CONFIGS['BERT large'], 335_141_888],
  [
    'RoBERTa base',
    {
      model_type: 'roberta',
      hidden_size: 768,
      num_hidden_layers: 12,
      num_attention_heads: 12,
      intermediate_size: 3_072,
      vocab_size: 50_265,
      max_position_embeddings: 514,
      type_vocab_size: 1,
    },
    124_645_632,
  ],
  [
    'T5 3B',
    { model_type: 't5', d_model: 1_024, d_kv: 128, d_ff: 16_384, num_layers: 24, num_heads: 32, vocab_size: 32_128, feed_forward_proj: 'relu' },
    2_851_598_336,
  ],
  ['T0 3B', CONFIGS['T0 3B'], 2_849_757_184],
  ['mT0 XXL', CONFIGS['mT0 XXL'], 12_921_057_280],
  [
    'Whisper large v2',
    {
      model_type: 'whisper',
      d_model: 1_280,
      encoder_layers: 32,
      decoder_layers: 32,
      encoder_attention_heads: 20,
      decoder_attention_heads: 20,
      encoder_ffn_dim: 5_120,
      decoder_ffn_dim: 5_120,
      vocab_size: 51_865,
      num_mel_bins: 80,
    },
    1_543_304_960,
  ],
  [
    'ViT base',
    { model_type: 'vit', hidden_size: 768, num_hidden_layers: 12, num_attention_heads: 12, intermediate_size: 3_072, image_size: 224, patch_size: 16 },
    85_798_656,
  ],
  [
    'CLIP ViT-L/14',
    {
      model_type: 'clip',
      projection_dim: 768,
      text_config: {
        hidden_size: 768,
        num_hidden_layers: 12,
        num_attention_heads: 12,
        intermediate_size: 3_072,
        vocab_size: 49_408,
        max_position_embeddings: 77,
      },
      vision_config: { hidden_size: 1_024, num_hidden_layers: 24, num_attention_heads: 16, intermediate_size: 4_096, image_size: 224, patch_size: 14 },
    },
    427_616_513,
  ],
]

describe('config.json', () => {
  test.each(PUBLISHED)('%s has as many parameters as is published', (_, config, parameters) => {
    const { architecture } = readConfig(config)
    expect(architecture).toBeDefined()
    const { total } = architecture === undefined ? { total: Number.NaN } : countsOf(architecture)
    expect(Math.abs(total / parameters - 1)).toBeLessThan(0.005)
  })

  test('each family is one that is held against a published count', () => {
    const aliases = ['mistral3', 'xlm-roberta', 'electra', 'mt5']
    const held = PUBLISHED.map(([, { model_type: type }]) => type)
    expect(Object.keys(FAMILIES).filter((family) => !held.includes(family) && !aliases.includes(family))).toEqual([])
  })

  test('the language part of a model that sees is read, and what is left out is said', () => {
    const text_config = decoder('gemma3_text', 1_152, 26, 4, 1, 6_912, 262_144, { head_dim: 256 })
    const { architecture } = readConfig({ model_type: 'gemma3', text_config, vision_config: {} })
    expect(architecture?.missing).toContain('vision')
    expect(architecture?.stacks[0]?.layers).toBe(26)
  })

  test.each([
    [{ quant_method: 'gptq', bits: 4, group_size: 128 }, 'int4'],
    [{ quant_method: 'gptq', bits: 8 }, 'gptq8'],
    [{ quant_method: 'awq', bits: 4 }, 'int4'],
    [{ quant_method: 'fp8' }, 'fp8'],
    [{ quant_method: 'bitsandbytes', load_in_4bit: true, bnb_4bit_use_double_quant: true }, 'nf4'],
    [{ quant_method: 'bitsandbytes', load_in_8bit: true }, 'int8'],
    [undefined, 'bf16'],
  ])('the weights of a model that says %o are %s', (quantization_config, dtype) => {
    expect(readConfig({ ...CONFIGS['Llama 2 7B'], torch_dtype: 'bfloat16', quantization_config }).dtype).toBe(dtype)
  })

  test('a type that nobody knows has no shape, whatever its fields are called', () => {
    expect(readConfig({ ...CONFIGS['Llama 2 7B'], model_type: 'mamba9' }).architecture).toBeUndefined()
    for (const type of ['__proto__', 'constructor', 'toString']) expect(readConfig({ model_type: type }).architecture).toBeUndefined()
  })

  test.each([
    [[], /expected the config\.json/],
    ['text', /expected the config\.json/],
    [{ hidden_size: 5 }, /model_type/],
    [{ model_type: 'llama' }, /expected num_hidden_layers, came none/],
    [{ ...CONFIGS['Llama 2 7B'], hidden_size: -1 }, /hidden_size/],
    [{ ...CONFIGS['Llama 2 7B'], hidden_size: 1e300 }, /hidden_size/],
    [{ ...CONFIGS['Llama 2 7B'], num_hidden_layers: 'many' }, /num_hidden_layers/],
    [{ model_type: 'clip', text_config: 5 }, /clip_text_model|clip_vision_model|expected/],
  ])('%j is refused in words', (value, words) => {
    expect(() => readConfig(value)).toThrow(words)
  })
})
