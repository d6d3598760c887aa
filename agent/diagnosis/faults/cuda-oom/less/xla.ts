// TensorFlow and JAX: how they take memory, and how to need less. tensorflow.org/guide/gpu; docs.jax.dev, "GPU memory allocation".
import type { Situation } from '../../../situation/situation.ts'
import { SIZE, sizeIn } from '../../quantity.ts'
import { setVariables } from '../../remedies/environment.ts'
import type { Piece } from '../../remedies/plan.ts'

const smaller = (training: boolean): Piece => ({
  text: training
    ? 'Use a smaller batch or shorter inputs, 16-bit numbers (mixed precision), or gradient checkpointing.'
    : 'Use a smaller batch or smaller inputs, or split the computation into smaller pieces.',
})

/** Releases before 1.13, by the form of their messages or the date of the line. */
const OLD = /\[\[Node: |\b201[5-8]-\d\d-\d\d [\d:.]{8,15}: [EWIF] /
/** TensorFlow takes nearly all of the card at its start, so what fails is its own need, or another process was there before. */
export const lessInTensorflow = (situation: Situation): readonly Piece[] => [
  // Of a batch the first dimension counts its examples.
  /shape ?\[1(?:,\d{1,6}){3}\]/.test(situation.text)
    ? { text: 'Use smaller inputs, or cut them into tiles: the batch is 1 already.' }
    : smaller(situation.training),
  OLD.test(situation.text)
    ? { text: 'Let TensorFlow take memory as it needs it: tf.ConfigProto with gpu_options.allow_growth = True, given to the session.' }
    : {
        text: 'Let TensorFlow take memory as it needs it: cuBLAS, cuDNN and other programs then find space.',
        command: setVariables(situation, { TF_FORCE_GPU_ALLOW_GROWTH: 'true' }),
      },
]

/** XLA says what the program needs after all its attempts to need less, or of the statistics of its buffers. */
const NEEDS = new RegExp(`(?:only reduced to|total allocation: {1,12}) ?${SIZE}`)
export const needed = (text: string): number | undefined => sizeIn(text, NEEDS)
const MOST_SHARE = 0.95

/** The code of a compiled function goes into memory beside the pool of JAX. */
const CODE = /Failed to load in-memory CUBIN/
/** `little`: so small a request fails only where the card was full before. */
export const lessInJax = (situation: Situation, little = false, need = needed(situation.text) ?? 0): readonly Piece[] => [
  CODE.test(situation.text) && {
    text: 'Leave more memory beside the pool of JAX, which takes 75 % of the card: the code of compiled functions goes there. (That it was compiled for another GPU is a guess of the message.)',
    command: setVariables(situation, { XLA_PYTHON_CLIENT_MEM_FRACTION: '.60' }),
  },
  !little && smaller(false),
  !little && {
    text: `${situation.training ? 'Recompute instead of keeping intermediate values (jax.checkpoint), or shard' : 'Or shard'} the arrays over more GPUs.`,
  },
  !little &&
    !CODE.test(situation.text) &&
    !/XLA_PYTHON_CLIENT_MEM_FRACTION/.test(situation.text) && {
      text: `Let JAX use more than its default of 75 % of the card, if nothing else runs on it${need < 8 * 2 ** 30 ? '' : `: enough only on a card with ${(need / 2 ** 30 / MOST_SHARE).toFixed(1)} GiB or more`}.`,
      command: setVariables(situation, { XLA_PYTHON_CLIENT_MEM_FRACTION: String(MOST_SHARE) }),
    },
  !/XLA_PYTHON_CLIENT_PREALLOCATE=["']?false/i.test(situation.text) && {
    text: 'Where other programs share the card: do not reserve memory at the start.',
    command: setVariables(situation, { XLA_PYTHON_CLIENT_PREALLOCATE: 'false' }),
  },
]
