// TensorFlow and JAX: how they take memory, and how to need less. tensorflow.org/guide/gpu; docs.jax.dev, "GPU memory allocation".
import type { Situation } from '../../../situation/situation.ts'
import { setVariables } from '../../remedies/environment.ts'
import type { Piece } from '../../remedies/plan.ts'

const smaller = (training: boolean): Piece => ({
  text: training
    ? 'Use a smaller batch or shorter inputs, 16-bit numbers (mixed precision), or gradient checkpointing.'
    : 'Use a smaller batch or smaller inputs, or split the computation into smaller pieces.',
})

/** TensorFlow takes nearly all of the card at its start, so what fails is its own need, or another process was there before. */
export const lessInTensorflow = (situation: Situation): readonly Piece[] => [
  smaller(situation.training),
  {
    text: 'Let TensorFlow take memory as it needs it, so that several programs can share the card. It does not make one program need less.',
    command: setVariables(situation, { TF_FORCE_GPU_ALLOW_GROWTH: 'true' }),
  },
]

export const lessInJax = (situation: Situation): readonly Piece[] => [
  smaller(false),
  { text: 'Recompute instead of keeping intermediate values (jax.checkpoint), or shard the arrays over more GPUs.' },
  !/XLA_PYTHON_CLIENT_MEM_FRACTION/.test(situation.text) && {
    text: 'Let JAX use more than its default of 75 % of the card, if nothing else runs on it.',
    command: setVariables(situation, { XLA_PYTHON_CLIENT_MEM_FRACTION: '0.95' }),
  },
  !/XLA_PYTHON_CLIENT_PREALLOCATE=["']?false/i.test(situation.text) && {
    text: 'Where other programs share the card: do not reserve memory at the start.',
    command: setVariables(situation, { XLA_PYTHON_CLIENT_PREALLOCATE: 'false' }),
  },
]
