// What `warpwatch fit` answers: how much memory a model takes, in parts, and whether each GPU has it, as command line, API and dashboard show it.

/** An estimate and how sure it is: all but rare set-ups are between low and high. */
export type Range = { readonly low_bytes: number; readonly likely_bytes: number; readonly high_bytes: number }

export const FIT_PARTS = [
  'weights',
  'adapters',
  'master_weights',
  'gradients',
  'optimizer',
  'kv_cache',
  'activations',
  'logits',
  'cuda_context',
  'communication',
  'allocator',
] as const
export type FitPartName = (typeof FIT_PARTS)[number]
export type FitPart = Range & {
  readonly part: FitPartName
  /** How it was reckoned, or why it is uncertain. */
  readonly note?: string
}

export const FIT_DTYPES = ['fp32', 'fp16', 'bf16', 'fp8', 'int8', 'nf4', 'nf4-single', 'int4', 'gptq8'] as const
export type FitDtype = (typeof FIT_DTYPES)[number]
export const FIT_OPTIMIZERS = ['adamw', 'adamw8bit', 'paged-adamw', 'paged-adamw8bit', 'adafactor', 'sgd', 'sgd-momentum'] as const
export const FIT_SHARDS = ['none', 'zero1', 'zero2', 'zero3', 'tensor'] as const

/** All that a run can be asked for; numbers of tokens and sequences are for one GPU. */
export type FitSettings = {
  readonly train: 'no' | 'full' | 'lora'
  /** How the base weights are kept. */
  readonly dtype: FitDtype
  readonly context: number
  /** Tokens that are read at once before the first one is made; 0: the whole context. */
  readonly prompt: number
  readonly batch: number
  readonly kv_cache: 'fp16' | 'fp8' | 'int8' | 'off'
  readonly rank: number
  readonly targets: 'qv' | 'attention' | 'all'
  readonly optimizer: (typeof FIT_OPTIMIZERS)[number]
  /** Of full training: `same` keeps all in dtype, `amp` weights in fp32, `master` 16-bit weights and a copy in fp32. */
  readonly precision: 'same' | 'amp' | 'master'
  readonly checkpointing: 'on' | 'off'
  readonly attention: 'flash' | 'eager'
  readonly loss: 'full' | 'chunked'
  readonly gpus: number
  readonly shard: (typeof FIT_SHARDS)[number]
  readonly engine: 'pytorch' | 'vllm'
  /** Share of the card that vLLM takes whatever the model needs. */
  readonly utilization: number
}

export type FitEstimate = {
  readonly model: {
    readonly name: string
    readonly parameters: number
    /** Those that are trained. */
    readonly trainable?: number
    /** Where the shape comes from: a config.json, weights alone, or nothing but the size. */
    readonly known_by: 'config' | 'weights' | 'size'
  }
  readonly settings: FitSettings
  /** On each GPU. */
  readonly parts: readonly FitPart[]
  readonly total: Range
  /** What is not in the total because nothing honest can be said of it; then the total is a lower bound. */
  readonly unknown: readonly string[]
  readonly notes: readonly string[]
}

export type FitHolder = { readonly pid: number; readonly process: string; readonly container?: string; readonly bytes: number }

/** What a GPU (or a MIG instance, or a card of the table) has; what is absent is not known. */
export type GpuRoom = {
  readonly name: string
  readonly index?: number
  readonly uuid?: string
  readonly gi?: string
  /** What programs can have of it: without what the driver keeps. */
  readonly capacity_bytes: number
  readonly free_bytes?: number
  /** Highest use of the last days by all programs together, and since when that is known. */
  readonly peak_used_bytes?: number
  readonly peak_since_ms?: number
  /** Processes that hold memory and have been idle for half an hour. Absent: they work, or it is not known. */
  readonly idle_holders?: readonly FitHolder[]
  /** Who holds memory otherwise. */
  readonly holders?: readonly FitHolder[]
  /** The largest share of its memory that lay stranded in a process here. */
  readonly stranded_ratio?: number
}

/** From the best to the worst. `unknown`: the total is a lower bound, and it would fit. */
export const FIT_VERDICTS = ['fits', 'fits_not_at_peak', 'fits_when_idle_leave', 'fits_when_empty', 'never', 'unknown'] as const
export type FitVerdict = (typeof FIT_VERDICTS)[number]

export type FitSuggestion = {
  /** What to change, the words of the flags: `--batch 2`. */
  readonly changes: readonly string[]
  readonly why: readonly string[]
  readonly total: Range
}

export type GpuAnswer = {
  readonly gpu: GpuRoom
  readonly verdict: FitVerdict
  /** The range of the estimate crosses the line: it may go either way. */
  readonly tight: boolean
  /** As text, with the processes that must leave. */
  readonly why: string
  /** Room minus the likely total; negative is what is missing. */
  readonly headroom: { readonly now_bytes?: number; readonly at_peak_bytes?: number; readonly empty_bytes: number }
  /** What it takes from the card whatever it needs (vLLM). */
  readonly claim_bytes?: number
  /** The least changes that make it fit now, the smallest first. */
  readonly suggestions: readonly FitSuggestion[]
}

export type FitReport = {
  readonly version: 1
  readonly estimate: FitEstimate
  readonly gpus: readonly GpuAnswer[]
  /** GPUs on which it fits now, of those that it needs. */
  readonly fits: { readonly needed: number; readonly now: number }
}
