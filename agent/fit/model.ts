// The model that is asked about, whatever it is known by: its config.json, its weights, or its size alone.
import type { FitDtype } from '../model/fit.ts'
import { countsOf, type Architecture, type Counts } from './architecture.ts'
import type { ReadConfig } from './hf-config.ts'
import type { StoredWeights } from './safetensors.ts'
import { architectureOfSize } from './sizes.ts'

export type FitModel = {
  readonly name: string
  readonly knownBy: 'config' | 'weights' | 'size'
  readonly counts: Counts
  /** As the files keep them; exact. */
  readonly stored?: { readonly bytes: number; readonly dtype: FitDtype | undefined; readonly packed: boolean }
  /** undefined: nothing is known but the weights. */
  readonly architecture: Architecture | undefined
  /** Mixture of experts, window and heads are not known, only likely ones for the size. */
  readonly guessed: boolean
}

export class ModelError extends Error {
  override readonly name = 'ModelError'
}

const MULTIPLE: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, b: 1e9, t: 1e12 }
const LEAST_PARAMETERS = 1e5
const MOST_PARAMETERS = 1e13

/** `8b`, `0.5B`, `350m`, `8030261248`. Throws a ModelError. */
export function parseParameters(text: string): number {
  const [, figure = '', multiple = ''] = /^(\d{1,15}(?:\.\d{1,6})?)([kmbt]?)$/i.exec(text.trim()) ?? []
  const parameters = Math.round(Number(figure) * (MULTIPLE[multiple.toLowerCase()] ?? 1))
  if (figure === '' || !(parameters >= LEAST_PARAMETERS && parameters <= MOST_PARAMETERS))
    throw new ModelError(`params: must be a number of parameters such as 8b, 350m or 8030261248, not ${JSON.stringify(text.slice(0, 60))}`)
  return parameters
}

const STORED: Readonly<Record<string, FitDtype>> = { F32: 'fp32', F16: 'fp16', BF16: 'bf16', F8_E4M3: 'fp8', F8_E5M2: 'fp8' }

export function modelOfSize(parameters: number, name: string): FitModel {
  const architecture = architectureOfSize(parameters)
  const { embedding } = countsOf(architecture)
  // What is known is the sum; the table's shape only says how much of it are embeddings.
  const share = Math.min(embedding, parameters / 2)
  const largestLinear = countsOf(architecture).largestLinear
  return { name, knownBy: 'size', counts: { total: parameters, linear: parameters - share, embedding: share, largestLinear }, architecture, guessed: true }
}

export type ModelSources = { readonly name: string; readonly params?: number; readonly config?: ReadConfig; readonly weights?: StoredWeights }

/** Throws a ModelError where nothing says how big the model is. */
export function modelOf({ name, params, config, weights }: ModelSources): FitModel {
  const architecture = config?.architecture
  if (weights !== undefined) {
    const dtype = config?.dtype ?? (weights.packed ? undefined : STORED[weights.dtype])
    const packedCounts = weights.packed && architecture !== undefined ? countsOf(architecture) : undefined
    const { parameters: total, linear, largestLinear } = weights
    return {
      name,
      knownBy: 'weights',
      counts: packedCounts ?? { total, linear, embedding: total - linear, largestLinear },
      stored: { bytes: weights.bytes, dtype, packed: weights.packed },
      architecture,
      guessed: false,
    }
  }
  if (architecture !== undefined) {
    const counts = countsOf(architecture)
    return {
      name,
      knownBy: 'config',
      counts: params === undefined ? counts : { ...counts, total: params, linear: Math.max(0, params - counts.total + counts.linear) },
      architecture,
      guessed: false,
    }
  }
  if (params === undefined)
    throw new ModelError(
      config === undefined
        ? 'the model is missing: give params, a config or weights'
        : `config.json: nothing is known of models of type ${JSON.stringify(config.modelType.slice(0, 60))}: give their size (params) or their weights as well`,
    )
  // A model of an unknown type must not get the shape of a known one.
  if (config !== undefined) return { ...modelOfSize(params, name), architecture: undefined, guessed: false }
  return modelOfSize(params, name)
}
