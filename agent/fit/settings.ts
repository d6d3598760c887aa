// The settings of a fit, from words: the same names for the command line's flags and for the query of the API.
import { nearest } from '../lib/nearest.ts'
import { FIT_DTYPES, FIT_OPTIMIZERS, FIT_SHARDS, type FitSettings } from '../model/fit.ts'

type Choice = { readonly kind: 'choice'; readonly values: readonly string[] }
type Count = { readonly kind: 'count'; readonly least: number; readonly most: number }
type Share = { readonly kind: 'share' }
export type SettingSpec = (Choice | Count | Share) & { readonly value: string; readonly help: string }

const choice = (value: string, values: readonly string[], help: string): SettingSpec => ({
  kind: 'choice',
  value,
  values,
  help: `${help}: ${values.join(', ')}`,
})
const count = (least: number, most: number, help: string): SettingSpec => ({ kind: 'count', value: 'N', least, most, help })

/** `train` takes qlora too, which is lora over nf4. */
export const SETTINGS: Readonly<Record<string, SettingSpec>> = {
  dtype: choice('DTYPE', FIT_DTYPES, 'how the weights are kept (default: as the config says, else bf16; nf4 for qlora)'),
  context: count(1, 16_777_216, 'tokens of a sequence, prompt and answer (default: 2048)'),
  prompt: count(1, 16_777_216, 'tokens that are read at once before the answer (default: the whole context)'),
  batch: count(1, 65_536, 'sequences at once on one GPU (default: 1)'),
  'kv-cache': choice('DTYPE', ['fp16', 'fp8', 'int8', 'off'], 'how keys and values are kept (default: fp16)'),
  train: choice('HOW', ['full', 'lora', 'qlora'], 'training instead of inference'),
  rank: count(1, 8_192, 'rank of LoRA (default: 16)'),
  targets: choice('WHICH', ['qv', 'attention', 'all'], 'layers with LoRA (default: all)'),
  optimizer: choice('NAME', FIT_OPTIMIZERS, 'optimizer (default: adamw)'),
  precision: choice(
    'HOW',
    ['same', 'amp', 'master'],
    'full training: all in dtype, weights in fp32 (autocast), or 16-bit weights with an fp32 copy (default: same)',
  ),
  checkpointing: choice('STATE', ['on', 'off'], 'gradient checkpointing (default: off)'),
  attention: choice('HOW', ['flash', 'eager'], 'attention without the matrix of scores, or with it (default: flash)'),
  loss: choice('HOW', ['full', 'chunked'], 'loss over all logits at once or in pieces (default: full)'),
  gpus: count(1, 4_096, 'GPUs that share the work (default: 1)'),
  shard: choice('HOW', FIT_SHARDS, 'how they share it (FSDP is zero3; default: none, tensor for inference on several)'),
  engine: choice('NAME', ['pytorch', 'vllm'], 'what runs it (default: pytorch)'),
  utilization: { kind: 'share', value: 'SHARE', help: 'gpu_memory_utilization of vLLM (default: 0.92)' },
}

export type SettingWords = Readonly<Record<string, string | undefined>>
export type ParsedSettings = { readonly settings: FitSettings } | { readonly problem: string }

/** The word for a value of a setting that is not the default; undefined where it is. */
function problemOf(name: string, spec: SettingSpec, text: string): string | undefined {
  const came = JSON.stringify(text.slice(0, 60))
  if (spec.kind === 'choice') {
    if (spec.values.includes(text)) return undefined
    return `${name}: must be ${spec.values.join(', ')}, not ${came}; the nearest is ${nearest(text.slice(0, 60), spec.values) ?? ''}`
  }
  if (spec.kind === 'share')
    return Number(text) > 0 && Number(text) <= 1 && /^[\d.]+$/.test(text) ? undefined : `${name}: must be a share such as 0.9, not ${came}`
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  return number >= spec.least && number <= spec.most ? undefined : `${name}: must be a whole number from ${spec.least} to ${spec.most}, not ${came}`
}

const oneOf = <T extends string>(values: readonly T[], text: string | undefined, fallback: T): T => values.find((value) => value === text) ?? fallback

/** `storedDtype`: how the model's files keep the weights, where they say so. */
export function parseSettings(words: SettingWords, storedDtype?: FitSettings['dtype']): ParsedSettings {
  for (const [name, spec] of Object.entries(SETTINGS)) {
    const text = words[name]
    const problem = text === undefined ? undefined : problemOf(name, spec, text)
    if (problem !== undefined) return { problem }
  }
  const number = (name: string, fallback: number): number => (words[name] === undefined ? fallback : Number(words[name]))
  const { train } = words
  const gpus = number('gpus', 1)
  const dtype = oneOf(FIT_DTYPES, words['dtype'], train === 'qlora' ? 'nf4' : (storedDtype ?? 'bf16'))
  const floating = ['fp32', 'fp16', 'bf16'].includes(dtype)
  if (train === 'full' && !floating)
    return { problem: `dtype: must be fp32, fp16 or bf16 for full training, not ${dtype}: quantised weights cannot be trained; use train lora` }
  if (train === 'qlora' && floating) return { problem: `dtype: must be a quantised one such as nf4 for qlora, not ${dtype}; with ${dtype} it is train lora` }
  const shard = oneOf(FIT_SHARDS, words['shard'], gpus > 1 && train === undefined ? 'tensor' : 'none')
  if (shard !== 'none' && gpus === 1) return { problem: `shard: only goes with gpus of 2 or more, not ${words['gpus'] ?? 'one'}` }
  if (train === undefined && shard.startsWith('zero')) return { problem: `shard: must be tensor or none for inference, not ${shard}` }
  const engine = oneOf(['pytorch', 'vllm'], words['engine'], 'pytorch')
  if (engine === 'vllm' && train !== undefined) return { problem: 'engine: must be pytorch for training, not vllm' }
  const context = number('context', 2_048)
  return {
    settings: {
      train: train === undefined ? 'no' : train === 'full' ? 'full' : 'lora',
      dtype,
      context,
      prompt: Math.min(number('prompt', 0), context),
      batch: number('batch', 1),
      kv_cache: oneOf(['fp16', 'fp8', 'int8', 'off'], words['kv-cache'], 'fp16'),
      rank: number('rank', 16),
      targets: oneOf(['qv', 'attention', 'all'], words['targets'], 'all'),
      optimizer: oneOf(FIT_OPTIMIZERS, words['optimizer'], 'adamw'),
      precision: oneOf(['same', 'amp', 'master'], words['precision'], 'same'),
      checkpointing: oneOf(['on', 'off'], words['checkpointing'], 'off'),
      attention: oneOf(['flash', 'eager'], words['attention'], 'flash'),
      loss: oneOf(['full', 'chunked'], words['loss'], 'full'),
      gpus,
      shard,
      engine,
      utilization: number('utilization', 0.92),
    },
  }
}
