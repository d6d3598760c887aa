// Which settings would make it fit: the least change first.
import type { FitEstimate, FitSettings, FitSuggestion, GpuRoom } from '../model/fit.ts'
import { estimate } from './estimate.ts'
import type { FitModel } from './model.ts'
import { isQuantised } from './weights.ts'
import { fitsNow, judge } from './verdict.ts'

/** One thing to change. Of a kind only one can be chosen; `cost` is how much it takes away from what was asked, and orders them. */
type Change = { readonly kind: string; readonly cost: number; readonly flag: string; readonly why: string; readonly to: Partial<FitSettings> }

const MOST_SUGGESTIONS = 3
/** Changes together; more is another job than the one that was asked for. */
const MOST_CHANGES = 3
const LEAST_CONTEXT = 256

function halvings(kind: 'batch' | 'context', from: number, least: number, cost: number, why: string): readonly Change[] {
  const changes: Change[] = []
  for (let [value, step] = [Math.floor(from / 2), 1]; value >= least && step <= 6; [value, step] = [Math.floor(value / 2), step + 1]) {
    changes.push({ kind, cost: cost + step * 0.2, flag: `--${kind} ${value}`, why, to: { [kind]: value, ...(kind === 'context' ? { prompt: 0 } : {}) } })
  }
  return changes
}

/** Half, a quarter, and so on of the work for each of 2, 4, … GPUs, `most` at the most. */
function sharings(most: number, shard: FitSettings['shard'], cost: number, why: string): readonly Change[] {
  const changes: Change[] = []
  for (let gpus = 2; gpus <= most; gpus *= 2) {
    changes.push({ kind: 'gpus', cost: cost + Math.log2(gpus) * 0.1, flag: `--gpus ${gpus} --shard ${shard}`, why, to: { gpus, shard } })
  }
  return changes
}

function trainingChanges(settings: FitSettings, gpus: number): readonly Change[] {
  const changes: Change[] = [...halvings('batch', settings.batch, 1, 1, 'with more steps of gradient accumulation the result is the same')]
  const add = (kind: string, cost: number, flag: string, why: string, to: Partial<FitSettings>): void => void changes.push({ kind, cost, flag, why, to })
  if (settings.attention === 'eager') add('attention', 0.3, '--attention flash', 'the same result without the matrix of scores', { attention: 'flash' })
  if (settings.loss === 'full') add('loss', 0.5, '--loss chunked', 'the same loss in pieces (Liger, torchtune)', { loss: 'chunked' })
  if (settings.checkpointing === 'off') add('checkpointing', 0.8, '--checkpointing on', 'the same result, about a quarter slower', { checkpointing: 'on' })
  if (settings.train === 'full' && (settings.optimizer === 'adamw' || settings.optimizer === 'paged-adamw')) {
    add('optimizer', 1.6, '--optimizer adamw8bit', 'states in 8 bits', { optimizer: 'adamw8bit' })
    add('optimizer', 1.9, '--optimizer paged-adamw8bit', 'states in 8 bits, in the memory of the host when the GPU is full', { optimizer: 'paged-adamw8bit' })
  }
  if (settings.gpus === 1) {
    if (settings.train === 'full') changes.push(...sharings(gpus, 'zero2', 2, 'gradients and states split among GPUs that have space'))
    changes.push(...sharings(gpus, 'zero3', 2.4, 'everything split among GPUs that have space (FSDP)'))
  }
  const unquantised = !isQuantised(settings.dtype)
  if (settings.train === 'full') {
    const lora = { train: 'lora', precision: 'same' } as const
    const half = settings.dtype === 'fp32' ? 'bf16' : settings.dtype
    add('train', 3.5, `--train lora --dtype ${half}`, 'trains adapters and leaves the weights', { ...lora, dtype: half })
    add('train', 4.5, '--train qlora', 'adapters over weights in 4 bits', { ...lora, dtype: 'nf4' })
  } else if (unquantised) add('train', 3, '--train qlora', 'adapters over weights in 4 bits', { dtype: 'nf4' })
  return [...changes, ...halvings('context', settings.context, LEAST_CONTEXT, 3.6, 'longer texts are cut')]
}

function inferenceChanges(settings: FitSettings, gpus: number): readonly Change[] {
  const changes: Change[] = [...halvings('batch', settings.batch, 1, 1, 'fewer sequences at once')]
  const add = (kind: string, cost: number, flag: string, why: string, to: Partial<FitSettings>): void => void changes.push({ kind, cost, flag, why, to })
  if (settings.attention === 'eager') add('attention', 0.3, '--attention flash', 'the same result without the matrix of scores', { attention: 'flash' })
  if (settings.kv_cache === 'fp16') add('kv', 0.9, '--kv-cache fp8', 'keys and values in 8 bits', { kv_cache: 'fp8' })
  const { dtype } = settings
  if (dtype === 'fp32') add('dtype', 0.5, '--dtype bf16', 'half the weights', { dtype: 'bf16' })
  if (!isQuantised(dtype)) add('dtype', 1.8, '--dtype int8', 'weights in 8 bits', { dtype: 'int8' })
  if (!isQuantised(dtype) || dtype === 'int8' || dtype === 'fp8' || dtype === 'gptq8')
    add('dtype', 2.6, '--dtype int4', 'weights in 4 bits (GPTQ or AWQ)', { dtype: 'int4' })
  if (settings.gpus === 1) changes.push(...sharings(gpus, 'tensor', 2.2, 'split among GPUs that have space'))
  return [...changes, ...halvings('context', settings.context, LEAST_CONTEXT, 2, 'shorter texts')]
}

/** For vLLM: a smaller share of the card where the model needs less than it takes. */
function shareChanges(model: FitModel, settings: FitSettings, room: GpuRoom): readonly Change[] {
  if (settings.engine !== 'vllm') return []
  const needed = estimate(model, settings).total.likely_bytes / room.capacity_bytes
  const least = Math.ceil((needed + 0.02) * 100) / 100
  const free = Math.floor(((room.free_bytes ?? room.capacity_bytes) / room.capacity_bytes) * 100) / 100
  const share = Math.min(0.98, free)
  if (share < least || share === settings.utilization) return []
  return [{ kind: 'utilization', cost: 0.2, flag: `--utilization ${share}`, why: 'the share that is free, and enough', to: { utilization: share } }]
}

/** All choices of up to `most` changes of different kinds, the cheapest first. */
function choices(changes: readonly Change[], most: number): readonly (readonly Change[])[] {
  const found: (readonly Change[])[] = []
  const extend = (chosen: readonly Change[], from: number): void => {
    if (chosen.length > 0) found.push(chosen)
    if (chosen.length === most) return
    for (let i = from; i < changes.length; i++) {
      const change = changes[i]
      if (change !== undefined && !chosen.some(({ kind }) => kind === change.kind)) extend([...chosen, change], i + 1)
    }
  }
  extend([], 0)
  const cost = (chosen: readonly Change[]): number => chosen.reduce((sum, one) => sum + one.cost, 0)
  return found.sort((a, b) => cost(a) - cost(b) || a.length - b.length)
}

/** Estimates by what was changed, kept for the other GPUs of a question: what a run needs is the same on all. */
export type Tried = Map<string, FitEstimate>

/** `host`: all GPUs that could share the work, this one among them. Empty where nothing that is known makes it fit. */
export function suggest(model: FitModel, settings: FitSettings, room: GpuRoom, host: readonly GpuRoom[], tried: Tried = new Map()): readonly FitSuggestion[] {
  const of = settings.train === 'no' ? inferenceChanges : trainingChanges
  const changes = [...shareChanges(model, settings, room), ...of(settings, host.length)]
  const suggestions: FitSuggestion[] = []
  const kinds: (readonly string[])[] = []
  for (const chosen of choices(changes, MOST_CHANGES)) {
    // What holds another answer and more is none.
    if (kinds.some((known) => known.every((kind) => chosen.some((one) => one.kind === kind)))) continue
    const changed = chosen.reduce<FitSettings>((all, { to }) => ({ ...all, ...to }), settings)
    const key = chosen.map(({ flag }) => flag).join(' ')
    const estimated = tried.get(key) ?? estimate(model, changed)
    tried.set(key, estimated)
    if (!fitsNow(judge(estimated, room))) continue
    // One GPU without room spoils it for all that share the work.
    if (changed.gpus > settings.gpus && host.filter((one) => fitsNow(judge(estimated, one))).length < changed.gpus) continue
    suggestions.push({ changes: chosen.map(({ flag }) => flag), why: chosen.map(({ why }) => why), total: estimated.total })
    kinds.push(chosen.map(({ kind }) => kind))
    if (suggestions.length === MOST_SUGGESTIONS) break
  }
  return suggestions
}
