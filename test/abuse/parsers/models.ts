// Readers of what a person says of a model: its files, the words of `fit`.
import { usualCards, cardsNamed } from '../../../agent/fit/cards.ts'
import { readConfig } from '../../../agent/fit/hf-config.ts'
import { ConfigShapeError } from '../../../agent/fit/hf-fields.ts'
import { modelOf, ModelError, parseParameters } from '../../../agent/fit/model.ts'
import { fitReport } from '../../../agent/fit/report.ts'
import { headerLength, SafetensorsError, shardsOf, storedWeights } from '../../../agent/fit/safetensors.ts'
import { parseSettings } from '../../../agent/fit/settings.ts'
import { json, parserOf, textParser } from './parser.ts'

const HF = {
  model_type: 'llama',
  hidden_size: 4_096,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  intermediate_size: 14_336,
  vocab_size: 128_256,
  tie_word_embeddings: false,
  torch_dtype: 'bfloat16',
  quantization_config: { quant_method: 'gptq', bits: 4 },
}
const MOE = {
  model_type: 'mixtral',
  hidden_size: 4_096,
  num_hidden_layers: 32,
  num_attention_heads: 32,
  num_key_value_heads: 8,
  intermediate_size: 14_336,
  vocab_size: 32_000,
  num_local_experts: 8,
  num_experts_per_tok: 2,
  sliding_window: 4_096,
}
const VISION = {
  model_type: 'gemma3',
  text_config: { ...HF, model_type: 'gemma3_text', head_dim: 256 },
  vision_config: { hidden_size: 1_152, num_hidden_layers: 27, num_attention_heads: 16, intermediate_size: 4_304, image_size: 896, patch_size: 14 },
}
const notJson = (error: Error): boolean => error instanceof SyntaxError
export const modelConfigs = textParser(
  'model-configs',
  'config.json of a Hugging Face model, and whether it fits',
  [
    json(HF),
    json(MOE),
    json(VISION),
    json({ model_type: 'clip', text_config: HF, vision_config: {} }),
    json({
      model_type: 'whisper',
      d_model: 384,
      encoder_layers: 4,
      decoder_layers: 4,
      encoder_attention_heads: 6,
      decoder_attention_heads: 6,
      encoder_ffn_dim: 1_536,
      decoder_ffn_dim: 1_536,
      vocab_size: 51_865,
    }),
  ],
  (text) => {
    const read = readConfig(JSON.parse(text))
    const parsed = parseSettings({ context: '4096', gpus: '2' }, read.dtype)
    if ('settings' in parsed) fitReport(modelOf({ name: 'm', config: read }), parsed.settings, usualCards())
  },
  { inputs: 50_000, refuses: (error) => notJson(error) || error instanceof ConfigShapeError || error instanceof ModelError },
)
export const fitQuestions = textParser(
  'fit-questions',
  'words of fit: sizes, cards, settings',
  ['8b', '0.5B', 'L40S', 'H100 80GB,A100', 'context=4096&batch=2&dtype=bf16&train=lora&gpus=4&shard=zero3'],
  (text) => {
    cardsNamed(text)
    parseSettings(Object.fromEntries(new URLSearchParams(text)))
    parseParameters(text)
  },
  { mostBytes: 16_384, inputs: 300_000, refuses: (error) => error instanceof ModelError },
)
const HEADER = json({
  __metadata__: { format: 'pt' },
  'model.layers.0.self_attn.q_proj.weight': { dtype: 'BF16', shape: [64, 64], data_offsets: [0, 8_192] },
  'lm_head.weight': { dtype: 'F32', shape: [2, 2], data_offsets: [8_192, 8_208] },
})
export const safetensors = parserOf(
  'safetensors',
  'headers and indexes of model files',
  [HEADER, json({ weight_map: { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' } }), Buffer.from('0800000000000000', 'hex')],
  (input) => {
    const text = input.toString('utf8')
    for (const read of [() => headerLength(input), () => storedWeights([text, text]), () => shardsOf(text)]) {
      try {
        read()
      } catch (error) {
        if (!(error instanceof SafetensorsError)) throw error
      }
    }
  },
  { inputs: 300_000 },
)
