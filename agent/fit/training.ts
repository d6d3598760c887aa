// What training keeps beside weights and activations: adapters, gradients, optimiser states, and a copy of the weights in full precision.
import type { FitSettings, Range } from '../model/fit.ts'
import { linearsOf, type Linear, type Stack } from './architecture.ts'
import type { FitModel } from './model.ts'
import { exactly, NOTHING, range, times } from './range.ts'
import { computeBytes } from './weights.ts'

export function loraLinears(stack: Stack, targets: FitSettings['targets']): readonly Linear[] {
  return linearsOf(stack).filter(({ name, attention }) => targets === 'all' || (attention && (targets === 'attention' || /(?:^|_)[qv]$/.test(name))))
}

/** Two thin matrices beside each target: rank times both its sides. */
export function loraParameters({ architecture }: FitModel, { rank, targets }: FitSettings): number {
  return (architecture?.stacks ?? []).reduce(
    (sum, stack) => sum + loraLinears(stack, targets).reduce((own, { input, output, copies }) => own + rank * (input + output) * copies, 0),
    0,
  )
}

/** Bytes of state per trained parameter in fp32. 8-bit Adam: two bytes and a scale in fp32 for 256 numbers of each (arXiv:2110.02861). */
const STATE_BYTES: Readonly<Record<FitSettings['optimizer'], number>> = {
  adamw: 8,
  adamw8bit: 2 + (2 * 4) / 256,
  'paged-adamw': 8,
  'paged-adamw8bit': 2 + (2 * 4) / 256,
  // Sums of rows and columns alone (arXiv:1804.04235): a few thousandths.
  adafactor: 0.02,
  sgd: 0,
  'sgd-momentum': 4,
}

export type TrainingParts = {
  readonly trainable: number
  readonly adapters: Range
  readonly master: Range
  readonly gradients: Range
  readonly optimizer: Range
  /** Bytes in which the base weights are kept where that is not their dtype: autocast keeps them in fp32, with a copy of the matrices in 16 bits. */
  readonly weights?: Range
  readonly optimizerNote?: string
}

function loraParts(model: FitModel, settings: FitSettings): TrainingParts {
  const trainable = loraParameters(model, settings)
  const state = STATE_BYTES[settings.optimizer]
  // PEFT keeps adapters in fp32 (autocast_adapter_dtype) unless set otherwise; others keep them, their gradients and states in 16 bits.
  return {
    trainable,
    adapters: range(2 * trainable, 4 * trainable, 4 * trainable),
    master: NOTHING,
    gradients: range(2 * trainable, 4 * trainable, 4 * trainable),
    ...states(trainable, state, state >= 4 ? state / 2 : state, settings),
  }
}

/** `low`: bytes per parameter where states are kept in 16 bits. */
function states(trainable: number, bytes: number, low: number, { optimizer }: FitSettings): Pick<TrainingParts, 'optimizer' | 'optimizerNote'> {
  if (optimizer.startsWith('paged-'))
    return { optimizer: range(0, 0, bytes * trainable), optimizerNote: 'paged: on the GPU while there is space, else in the memory of the host, and slow then' }
  return { optimizer: range(low * trainable, bytes * trainable, bytes * trainable) }
}

function fullParts({ counts }: FitModel, settings: FitSettings): TrainingParts {
  const trainable = counts.total
  const own = computeBytes(settings.dtype)
  const { precision, optimizer, dtype } = settings
  const state = STATE_BYTES[optimizer]
  // Steps over all tensors at once (foreach, the default of torch.optim since 2.0) make one more copy of the parameters while they run.
  const stepping = optimizer === 'adamw' ? { optimizerNote: 'at the most with a copy while it steps (foreach); fused needs none' } : {}
  const withStep = (bytes: number, copy: number): Range => range(bytes * trainable, bytes * trainable, (bytes + (optimizer === 'adamw' ? copy : 0)) * trainable)
  const paged = optimizer.startsWith('paged-') ? states(trainable, state, state, settings) : undefined
  if (precision === 'amp') {
    return {
      trainable,
      adapters: NOTHING,
      master: NOTHING,
      weights: range(4 * counts.total, 4 * counts.total + 2 * counts.linear, 4 * counts.total + 2 * counts.linear),
      gradients: exactly(4 * trainable),
      ...(paged ?? { optimizer: withStep(state, 4), ...stepping }),
    }
  }
  if (precision === 'master') {
    return {
      trainable,
      adapters: NOTHING,
      master: exactly(4 * trainable),
      // DeepSpeed gathers gradients of bf16 in fp32 (4 bytes), those of fp16 in 16 bits.
      gradients: range(2 * trainable, (dtype === 'bf16' ? 4 : 2) * trainable, 4 * trainable),
      ...(paged ?? { optimizer: withStep(state, 4), ...stepping }),
    }
  }
  // States of torch.optim have the dtype of their parameters, those of 8 bits their own.
  const bytes = state >= 4 ? state * (own / 4) : state
  return { trainable, adapters: NOTHING, master: NOTHING, gradients: exactly(own * trainable), ...(paged ?? { optimizer: withStep(bytes, own), ...stepping }) }
}

export const trainingParts = (model: FitModel, settings: FitSettings): TrainingParts =>
  settings.train === 'lora' ? loraParts(model, settings) : fullParts(model, settings)

/** What each GPU keeps of a thing that `sharded` splits among them. */
export const share = (whole: Range, gpus: number, sharded: boolean): Range => (sharded && gpus > 1 ? times(whole, 1 / gpus) : whole)
