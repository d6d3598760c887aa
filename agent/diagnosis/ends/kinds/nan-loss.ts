// A loss or gradient that is not a number any more, or sampling that fails over NaN probabilities.
import { WEIGHT, anyOf, says, place, quote, type EndKind } from '../end-kind.ts'
import type { Situation } from '../../situation/situation.ts'

/** Programs that make pictures: there is no loss. */
const generates = ({ programs }: Situation): boolean => programs.has('sd_webui') || programs.has('comfyui')

function stepIn(text: string): { step?: number } {
  const step = /\b(?:iteration|iter|step)\s?[=:#]?\s?(\d{1,9})/.exec(text)?.[1]
  return step === undefined ? {} : { step: Number(step) }
}

export const nanLoss: EndKind = {
  kind: 'nan_loss',
  stage: 'cause',
  severity: 'warning',
  claims: anyOf(
    says(
      /probability tensor contains either|tensor with all NaNs was produced|returned nan values in its|[Ll]oss (?:is|became|was|has become|diverged|=|:) ?(?:\w{1,12} ){0,3}['"]?(?:nan|NaN|NAN|inf\b|infinit|not finite|non-?finite)|(?:NaN|nan|NAN|Inf|[Nn]on-?finite)(?:s| values?)?(?: or Inf)? (?:\w{1,12} ){0,4}(?:loss|losses|gradients?|grads?|logits|activations|parameters|weights)|[Ii]nvalid(?: values?)? (?:\w{1,12} ){0,4}(?:loss|losses|gradients?|grads?|logits|activations)(?!\w| (?:type|function|name|mode)\b)|(?:loss|gradients?|grads?|logits|outputs?|weights)\b.{0,40}\b(?:contains?|has|have|is|are|with|norm) (?:\w{1,12} ){0,2}(?:NaN|nan|NAN|Inf\b|infinity|non-?finite)|[Ii]nvalid loss, terminat|Minimum loss scale reached|loss scale already at minimum|NaN or Inf found in (?:input|grad)|Nan in summary histogram|but found invalid values:[^]{0,400}?\bnan\b/,
      WEIGHT.message,
      ({ input }) => stepIn(input),
    ),
    ({ name, message }) =>
      name === 'FloatingPointError' && /nan|inf|diverg|loss/i.test(message) ? { weight: WEIGHT.message, facts: stepIn(message) } : undefined,
    ({ name, message }) =>
      name !== undefined && /^(?:NanError|NaNError|NonFiniteError|LossNaNError|DivergenceError)$/i.test(name)
        ? { weight: WEIGHT.message, facts: /step (\d{1,9})/.exec(message)?.[1] === undefined ? {} : { step: Number(/step (\d{1,9})/.exec(message)?.[1]) } }
        : undefined,
  ),
  title: ({ facts: { step }, situation }) =>
    generates(situation) ? 'The model computed only NaNs' : `The loss is not a number${step === undefined ? '' : ` since step ${step}`}`,
  verdict: (context) => {
    const words = quote(context)
    if (generates(context.situation))
      return `The model computed NaNs instead of numbers${words === '' ? '' : `: "${words}"`}. Half precision overflows in some models and on some GPUs.`
    return `The loss or its gradient became NaN or infinite${context.facts.step === undefined ? '' : ` at step ${context.facts.step}`} and did not recover${place(context)}${words === '' ? '' : `: "${words}"`}. What is trained from there on is of no use.`
  },
  remedies: (context) =>
    generates(context.situation)
      ? [
          {
            text: 'Compute the part that overflows in full precision: the VAE first, then the whole model.',
            command: context.situation.programs.has('comfyui') ? 'python main.py --fp32-vae' : '--no-half-vae',
          },
          !context.situation.programs.has('comfyui') && {
            text: 'If it happens again, load the whole model in full precision (twice the memory).',
            command: '--no-half',
          },
          { text: 'See whether the model file is damaged: compare its hash with that of its page.' },
        ]
      : [
          // Of the first step there is nothing to go back to, and no step was too large yet.
          context.facts.step === 0
            ? {
                text: 'It failed in the first step, before any weight was changed: see that inputs, labels and loaded weights are finite, and that the loss itself is right for them.',
              }
            : { text: 'Go back to a checkpoint from before it, with a smaller learning rate, a longer warm-up and clipped gradients (norm 1.0).' },
          /GTX ?16\d0/.test(context.situation.text)
            ? {
                text: 'GeForce GTX 16 cards compute NaN in half precision with some models, Stable Diffusion among them: train in full precision (mixed precision: no; kohya also --no_half_vae).',
              }
            : { text: 'Use bf16 instead of fp16 where the GPU has it: its range is that of fp32, so that sums do not overflow.' },
          { text: 'Look at the batch of that step: empty sequences, labels that are all masked, a division by zero.' },
          /of distribution \w/.test(quote(context)) && {
            text: 'In reinforcement learning see whether observations and rewards are finite, and normalize them (Stable-Baselines3: VecCheckNan, VecNormalize).',
          },
          context.situation.programs.has('pytorch') && {
            text: 'Let PyTorch name the operation whose backward made it (slow): `torch.autograd.set_detect_anomaly(True)`.',
          },
          { text: 'Stop the run when the loss is not finite, instead of going on for hours.' },
        ],
}
