// Reads a Hugging Face config.json: the shape of the model where its family is known, and how its weights are kept.
import * as z from 'zod/mini'
import type { FitDtype } from '../model/fit.ts'
import type { Architecture } from './architecture.ts'
import { clipOf, FAMILIES } from './hf-families.ts'
import { ConfigShapeError, hfConfig, type HfConfig } from './hf-fields.ts'

export type ReadConfig = {
  readonly modelType: string
  /** undefined: nothing is known of models of this type. */
  readonly architecture: Architecture | undefined
  readonly dtype: FitDtype | undefined
}

const DTYPES: Readonly<Record<string, FitDtype>> = { float32: 'fp32', float16: 'fp16', bfloat16: 'bf16', 'torch.float16': 'fp16', 'torch.bfloat16': 'bf16' }

function dtypeOf({ quantization_config: quantized, torch_dtype: torch, dtype }: HfConfig): FitDtype | undefined {
  if (quantized == null) return DTYPES[torch ?? dtype ?? '']
  const { quant_method: method, bits, load_in_4bit: four, bnb_4bit_use_double_quant: twice } = quantized
  if (method === 'gptq' || method === 'awq') return bits === 8 ? 'gptq8' : 'int4'
  if (method === 'fp8') return 'fp8'
  if (method === 'bitsandbytes') return four === true ? (twice === true ? 'nf4' : 'nf4-single') : 'int8'
  return undefined
}

function checked(value: unknown, what: string): HfConfig {
  const parsed = z.safeParse(hfConfig, value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const path = issue?.path.join('.') ?? ''
  throw new ConfigShapeError(
    `${what}: not the config.json of a Hugging Face model${path === '' ? '' : `: ${path}`}${issue === undefined ? '' : `: ${issue.message.slice(0, 120)}`}`,
  )
}

/** The part of a config that has several, such as text and vision. */
function nested(part: unknown, modelType: string): HfConfig {
  return checked({ model_type: modelType, ...(typeof part === 'object' && part !== null ? part : {}) }, modelType)
}

/** Language parts of models that see and hear; `gemma3` keeps its own beside a vision tower. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  gemma3: 'gemma3_text',
  mllama: 'llama',
  llava: 'llama',
  mistral3: 'mistral',
  qwen2_5_vl: 'qwen2',
  qwen2_vl: 'qwen2',
}

/** Throws a ConfigShapeError, in words, when it is no config.json or lacks what its family needs. */
export function readConfig(value: unknown): ReadConfig {
  const config = checked(value, 'config.json')
  const dtype = dtypeOf(config)
  const { model_type: modelType } = config
  const known = (architecture: Architecture | undefined): ReadConfig => ({ modelType, architecture, dtype })
  if (modelType === 'clip') return known(clipOf(nested)(config))
  const reader = Object.hasOwn(FAMILIES, modelType) ? FAMILIES[modelType] : undefined
  if (reader !== undefined) return known(reader(config))
  if (config.text_config == null && TEXT_TYPES[modelType] === undefined) return known(undefined)
  const fallback = TEXT_TYPES[modelType] ?? ''
  const text = nested(config.text_config ?? value, fallback)
  const type = Object.hasOwn(FAMILIES, text.model_type) ? text.model_type : fallback
  const textReader = Object.hasOwn(FAMILIES, type) ? FAMILIES[type] : undefined
  if (textReader === undefined) return known(undefined)
  const architecture = textReader({ ...text, tie_word_embeddings: text.tie_word_embeddings ?? config.tie_word_embeddings })
  return { modelType, architecture: { ...architecture, family: modelType, missing: 'the vision or audio part' }, dtype: dtype ?? dtypeOf(text) }
}
