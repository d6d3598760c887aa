// Puts the parts of an estimate together: what one GPU has to hold.
import { FIT_PARTS, type FitEstimate, type FitPart, type FitPartName, type FitSettings, type Range } from '../model/fit.ts'
import { inferenceActivations, logitsOf, trainingActivations } from './activations.ts'
import { kvCacheOf } from './kv-cache.ts'
import type { FitModel } from './model.ts'
import { allocatorOf, communicationOf, CUDA_CONTEXT } from './overhead.ts'
import { exactly, isNothing, NOTHING, plus, range, times } from './range.ts'
import { share, trainingParts, type TrainingParts } from './training.ts'
import { computeBytes, weightsOf } from './weights.ts'

const STAGE = { none: 0, tensor: 0, zero1: 1, zero2: 2, zero3: 3 } as const
const NO_TRAINING: TrainingParts = { trainable: 0, adapters: NOTHING, master: NOTHING, gradients: NOTHING, optimizer: NOTHING }

type Found = Partial<Record<FitPartName, { readonly range: Range; readonly note?: string }>>

/** A matrix whose numbers are unpacked while it is multiplied with, and the layer that ZeRO 3 has gathered. */
function transientWeights({ counts, architecture }: FitModel, { dtype, shard, gpus }: FitSettings): Range {
  const unpacked = dtype === 'int8' || dtype === 'nf4' || dtype === 'nf4-single' ? 2 * counts.largestLinear : 0
  const layers = architecture?.stacks.reduce((sum, { layers: own }) => sum + own, 0) ?? 1
  const layer = (counts.linear / Math.max(1, layers)) * computeBytes(dtype)
  return plus(exactly(unpacked), shard === 'zero3' && gpus > 1 ? range(layer, 2 * layer, 4 * layer) : NOTHING)
}

function modelParts(model: FitModel, settings: FitSettings): { readonly found: Found; readonly trainable: number } {
  const { gpus, shard, train } = settings
  const training = train === 'no' ? NO_TRAINING : trainingParts(model, settings)
  const stage = STAGE[shard]
  const tensor = shard === 'tensor'
  const weights = weightsOf(model, settings.dtype)
  const base = training.weights ?? weights.range
  const found: Found = {
    weights: {
      range: share(base, gpus, tensor || stage === 3),
      note: training.weights === undefined ? weights.note : 'in fp32, with a copy of the matrices in 16 bits (autocast)',
    },
    adapters: { range: share(training.adapters, gpus, tensor || stage === 3) },
    master_weights: { range: share(training.master, gpus, tensor || stage >= 1) },
    gradients: { range: share(training.gradients, gpus, tensor || stage >= 2) },
    optimizer: {
      range: share(training.optimizer, gpus, tensor || stage >= 1),
      ...(training.optimizerNote === undefined ? {} : { note: training.optimizerNote }),
    },
  }
  return { found, trainable: training.trainable }
}

/** What depends on the shape; nothing where that is not known. */
function shapeParts({ architecture, guessed }: FitModel, settings: FitSettings): Found {
  if (architecture === undefined) return {}
  const tensor = settings.shard === 'tensor' ? settings.gpus : 1
  const activations = settings.train === 'no' ? inferenceActivations(architecture, settings) : trainingActivations(architecture, settings)
  // Norms and residuals stay whole on each GPU; what is between them is split.
  const split = tensor === 1 ? activations : times(activations, 1 / tensor, 0.5 + 0.5 / tensor, 1)
  const cache = settings.train === 'no' ? kvCacheOf(architecture, guessed, settings) : NOTHING
  return {
    kv_cache: {
      range: share(cache, tensor, true),
      ...(isNothing(cache) ? {} : { note: `${settings.context * settings.batch} tokens in ${settings.kv_cache}` }),
    },
    activations: { range: guessed ? times(split, 0.7, 1, 1.4) : split },
    logits: { range: times(logitsOf(architecture, settings), 1 / tensor) },
  }
}

/** prepare_model_for_kbit_training of PEFT leaves what bitsandbytes has quantised, and casts the rest. */
const isUpcast = ({ train, dtype }: FitSettings): boolean => train === 'lora' && ['int8', 'nf4', 'nf4-single'].includes(dtype)

const notesOn = (settings: FitSettings, model: FitModel): readonly string[] => {
  const notes: string[] = []
  const { architecture, guessed } = model
  if (guessed)
    notes.push('Known by its size alone: heads, layers and vocabulary are those that models of this size likely have. A config.json makes the range narrower.')
  if (architecture?.missing !== undefined) notes.push(`Not counted: ${architecture.missing}.`)
  if (settings.engine === 'vllm')
    notes.push(
      `vLLM takes ${Math.round(settings.utilization * 100)} % of the card whatever the model needs, and fills what is left with its cache (gpu_memory_utilization).`,
    )
  const window = architecture?.stacks.some((stack) => stack.window !== undefined && stack.window.tokens < settings.context) === true
  if (window && settings.train === 'no')
    notes.push('Layers that look back over a window only keep no more than that where the engine knows of it; the high figure is of one that keeps all.')
  if (isUpcast(settings)) notes.push('prepare_model_for_kbit_training of PEFT makes embeddings and output fp32, which the high figure has.')
  return notes
}

export function estimate(model: FitModel, settings: FitSettings): FitEstimate {
  const { found, trainable } = modelParts(model, settings)
  const shape = shapeParts(model, settings)
  const transient = transientWeights(model, settings)
  const upcast = isUpcast(settings) ? range(0, 0, (model.counts.total - model.counts.linear) * 2) : NOTHING
  const weights = plus(found.weights?.range ?? NOTHING, upcast)
  const activations = plus(shape.activations?.range ?? NOTHING, transient)
  const ranges: Found = { ...found, ...shape, weights: { ...found.weights, range: weights }, activations: { ...shape.activations, range: activations } }
  const of = (...names: readonly FitPartName[]): Range => plus(...names.map((name) => ranges[name]?.range ?? NOTHING))
  const all: Found = {
    ...ranges,
    cuda_context: { range: CUDA_CONTEXT, note: 'of one process, with libraries; by driver and card' },
    communication: { range: communicationOf(settings, trainable) },
    allocator: {
      range: allocatorOf(of('weights', 'adapters', 'master_weights', 'optimizer'), of('gradients', 'kv_cache', 'activations', 'logits'), settings),
      note: 'rounding and holes; more where shapes vary',
    },
  }
  const parts = FIT_PARTS.flatMap((part): readonly FitPart[] => {
    const one = all[part]
    return one === undefined || isNothing(one.range) ? [] : [{ part, ...one.range, ...(one.note === undefined ? {} : { note: one.note }) }]
  })
  const unknown =
    model.architecture === undefined
      ? [settings.train === 'no' ? 'KV cache and activations' : 'activations, logits and what LoRA adds', 'its shape is not known']
      : []
  return {
    model: { name: model.name, parameters: model.counts.total, known_by: model.knownBy, ...(settings.train === 'no' ? {} : { trainable }) },
    settings,
    parts,
    total: plus(...parts),
    unknown: unknown.length === 0 ? [] : [unknown.join(': ')],
    notes: notesOn(settings, model),
  }
}
