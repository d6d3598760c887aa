// What a fit can be asked, as the form asks it: the same names and values as the API's, and which of them matter for which kind of work.
import type { FitReport, FitSettings } from '../../../../agent/model/fit.ts'

/** The address's words. */
export type Words = ReadonlyMap<string, string>
type Choice = { readonly value: string; readonly label: string }

type Common = {
  /** In the address and in the API. */
  readonly name: string
  readonly label: string
  readonly hint?: string
  /** What holds where nothing is said. */
  readonly usual: keyof FitSettings
  /** One of those that few people change. */
  readonly rare?: boolean
  readonly applies?: (words: Words) => boolean
}
export type ChoiceField = Common & { readonly kind: 'choice'; readonly choices: (words: Words) => readonly Choice[] }
export type NumberField = Common & { readonly kind: 'number'; readonly most: number; readonly step: 1 | 0.01 }
export type Field = ChoiceField | NumberField

const same = (...values: readonly string[]): readonly Choice[] => values.map((value) => ({ value, label: value }))
const trains = (words: Words): boolean => words.has('train')
const infers = (words: Words): boolean => !trains(words)
const adapts = (words: Words): boolean => words.get('train') === 'lora' || words.get('train') === 'qlora'
const several = (words: Words): boolean => Number(words.get('gpus') ?? 1) > 1

/** The kinds of work; the first is what holds where nothing is said. */
export const WORK: readonly Choice[] = [
  { value: '', label: 'Inference' },
  { value: 'full', label: 'Full training' },
  { value: 'lora', label: 'LoRA' },
  { value: 'qlora', label: 'QLoRA' },
]

const FLOATS = same('bf16', 'fp16', 'fp32')
const QUANTISED: readonly Choice[] = [
  { value: 'nf4', label: 'nf4' },
  { value: 'nf4-single', label: 'nf4 single' },
  { value: 'int4', label: 'int4' },
  { value: 'gptq8', label: 'int8 GPTQ' },
  { value: 'int8', label: 'int8 LLM.int8' },
  { value: 'fp8', label: 'fp8' },
]
const dtypes = (words: Words): readonly Choice[] =>
  words.get('train') === 'full' ? FLOATS : words.get('train') === 'qlora' ? QUANTISED : [...FLOATS, ...QUANTISED]

const SPLITS: readonly Choice[] = [
  { value: 'none', label: 'none' },
  { value: 'zero1', label: 'ZeRO 1' },
  { value: 'zero2', label: 'ZeRO 2' },
  { value: 'zero3', label: 'ZeRO 3, FSDP' },
  { value: 'tensor', label: 'tensor parallel' },
]

export const FIELDS: readonly Field[] = [
  { kind: 'choice', name: 'dtype', label: 'Weights', usual: 'dtype', choices: dtypes },
  { kind: 'number', name: 'context', label: 'Context', hint: 'tokens', usual: 'context', most: 16_777_216, step: 1 },
  { kind: 'number', name: 'batch', label: 'Batch', hint: 'on one GPU', usual: 'batch', most: 65_536, step: 1 },
  { kind: 'choice', name: 'kv-cache', label: 'KV cache', usual: 'kv_cache', choices: () => same('fp16', 'fp8', 'int8', 'off'), applies: infers },
  { kind: 'choice', name: 'engine', label: 'Engine', usual: 'engine', choices: () => same('pytorch', 'vllm'), applies: infers },
  {
    kind: 'number',
    name: 'utilization',
    label: 'Share for vLLM',
    hint: '0 to 1',
    usual: 'utilization',
    most: 1,
    step: 0.01,
    applies: (words) => infers(words) && words.get('engine') === 'vllm',
  },
  { kind: 'number', name: 'rank', label: 'LoRA rank', usual: 'rank', most: 8_192, step: 1, applies: adapts },
  {
    kind: 'choice',
    name: 'optimizer',
    label: 'Optimizer',
    usual: 'optimizer',
    choices: () => same('adamw', 'adamw8bit', 'paged-adamw', 'paged-adamw8bit', 'adafactor', 'sgd', 'sgd-momentum'),
    applies: trains,
  },
  {
    kind: 'choice',
    name: 'checkpointing',
    label: 'Checkpointing',
    usual: 'checkpointing',
    choices: () => same('off', 'on'),
    applies: trains,
  },
  { kind: 'number', name: 'gpus', label: 'GPUs', hint: 'that share it', usual: 'gpus', most: 4_096, step: 1 },
  {
    kind: 'choice',
    name: 'shard',
    label: 'Split by',
    usual: 'shard',
    choices: (words) => SPLITS.filter(({ value }) => trains(words) || !value.startsWith('zero')),
    applies: several,
  },
  { kind: 'number', name: 'prompt', label: 'Read at once', hint: 'tokens', usual: 'prompt', most: 16_777_216, step: 1, rare: true, applies: infers },
  { kind: 'choice', name: 'targets', label: 'LoRA on', usual: 'targets', choices: () => same('all', 'attention', 'qv'), rare: true, applies: adapts },
  {
    kind: 'choice',
    name: 'precision',
    label: 'Precision',
    usual: 'precision',
    choices: () => [
      { value: 'same', label: 'all as the weights' },
      { value: 'amp', label: 'autocast, weights in fp32' },
      { value: 'master', label: '16 bits and an fp32 copy' },
    ],
    rare: true,
    applies: (words) => words.get('train') === 'full',
  },
  { kind: 'choice', name: 'loss', label: 'Loss', usual: 'loss', choices: () => same('full', 'chunked'), rare: true, applies: trains },
  { kind: 'choice', name: 'attention', label: 'Attention', usual: 'attention', choices: () => same('flash', 'eager'), rare: true },
]

export const fieldsFor = (words: Words): readonly Field[] => FIELDS.filter(({ applies }) => applies?.(words) ?? true)

/** The agent's own defaults (agent/fit/settings.ts); what depends on the question comes with its answer. */
const USUAL: Partial<Readonly<Record<keyof FitSettings, string>>> = {
  dtype: 'bf16',
  context: '2048',
  batch: '1',
  kv_cache: 'fp16',
  engine: 'pytorch',
  utilization: '0.92',
  rank: '16',
  optimizer: 'adamw',
  checkpointing: 'off',
  gpus: '1',
  targets: 'all',
  precision: 'same',
  loss: 'full',
  attention: 'flash',
}

/** What a field means while it is empty. */
export function usualOf({ usual, name }: Field, words: Words, report: FitReport | undefined): string {
  if (usual === 'prompt') return 'all'
  const reported = report?.estimate.settings[usual]
  if (reported !== undefined && !words.has(name)) return String(reported)
  return usual === 'dtype' && words.get('train') === 'qlora' ? 'nf4' : (USUAL[usual] ?? '')
}
