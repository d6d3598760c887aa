// Shapes read from config.json: parameters against the published counts, of every family; and what is no config.
import { describe, expect, test } from 'vitest'
import { countsOf } from '../../../agent/fit/architecture.ts'
import { readConfig } from '../../../agent/fit/hf-config.ts'
import { FAMILIES } from '../../../agent/fit/hf-families.ts'
import { CONFIGS } from './configs.ts'
import { decoder, PUBLISHED } from './published.ts'

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
    [[], /not the config\.json/],
    ['text', /not the config\.json/],
    [{ hidden_size: 5 }, /model_type/],
    [{ model_type: 'llama' }, /num_hidden_layers is missing/],
    [{ ...CONFIGS['Llama 2 7B'], hidden_size: -1 }, /hidden_size/],
    [{ ...CONFIGS['Llama 2 7B'], hidden_size: 1e300 }, /hidden_size/],
    [{ ...CONFIGS['Llama 2 7B'], num_hidden_layers: 'many' }, /num_hidden_layers/],
    [{ model_type: 'clip', text_config: 5 }, /clip_text_model|clip_vision_model|not the config\.json/],
  ])('%j is refused in words', (value, words) => {
    expect(() => readConfig(value)).toThrow(words)
  })
})
