// Messages of a training about its own numbers, samples and workers: reinforcement learning, TensorFlow, nnU-Net, Orbax.
import type { Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'

const ROWS: readonly Row[] = [
  [
    // https://github.com/leggedrobotics/rsl_rl/pull/190
    /normal expects all elements of std >= 0\.0/,
    'Go back to a checkpoint from before it, and keep the spread apart from 0: a lower bound (std.clamp(min=1e-3)), more entropy in the loss, a smaller learning rate. In rsl_rl noise_std_type="log" keeps it from getting negative. Look for NaN in observations and rewards, too.',
    undefined,
    'The spread of the actions became negative, NaN or exactly 0: it is learned like a weight, and nothing bounds it.',
    'The policy has no valid spread any more',
  ],
  [
    /found invalid values:(?![^]{0,400}?\bnan\b)/,
    'Give the distribution what it asks for: logits=… in place of probs=… where the numbers do not sum to 1, softplus or exp for a spread that must be above 0.',
    undefined,
    undefined,
    'A distribution got numbers outside of its range',
  ],
  [
    // https://github.com/leggedrobotics/rsl_rl/pull/83
    /Reference at '?"?refs\/heads\/[\w./-]{1,80}'?"? does not exist/,
    'Make the first commit in the folder of the code, or update what asks for it (rsl_rl), whose newer releases pass over such a folder.',
    'git -C <FOLDER> commit --allow-empty -m start',
    'The program notes the state of the code by git, and the repository has no commit on that branch yet.',
    'The git repository of the code has no commit',
  ],
  [
    /background workers are no longer alive/,
    'Look above for the error of the worker itself. Without one it was killed: give the job more host memory (and shared memory in a container: --shm-size), or start fewer workers.',
    'export nnUNet_n_proc_DA=4; dmesg -T | grep -iE "killed process|out of memory" | tail',
    'nnU-Net only sees that the process is gone.',
    'A worker that prepares the data died',
  ],
  [
    /Received a label value of -?\d{1,12} which is outside the valid range/,
    'Compare the labels with the size of the last layer: it needs one output more than the largest label, labels count from 0, and none may be negative.',
    undefined,
    undefined,
    'A label lies outside of the classes of the model',
  ],
  [
    /You have to specify either decoder_input_ids or decoder_inputs_embeds/,
    'Let each batch hold labels: the data set needs that column, the collator must return it, and remove_unused_columns=False keeps it where the model is wrapped (PEFT). To compute without labels call model.generate.',
    undefined,
    'The model makes the input of its decoder from the labels, and the batch has none.',
    'The batch has no labels',
  ],
  [
    /given checkpoint is not a LoRA checkpoint/,
    'Name a folder with adapter_config.json there, which is that of an earlier LoRA run. The base model goes to model_name_or_path alone, and the first run names no checkpoint.',
    'ls -la <FOLDER>',
    undefined,
    'The checkpoint is no LoRA',
  ],
  [
    /^'num_key_value_heads'$/m,
    'Add "num_key_value_heads" to its config.json, with the value of "num_attention_heads": models from before grouped attention do not name it.',
    undefined,
    "The model's config.json does not say how many heads its keys and values have.",
    'The configuration of the model lacks num_key_value_heads',
  ],
]

export const LEARNING: readonly Known[] = [
  {
    pattern:
      /Cannot batch tensors with different shapes in component \d{1,3}\. First element had shape (\[[\d,]{1,60}\]) and element (\d{1,9}) had shape (\[[\d,]{1,60}\])/,
    title: ([, first, , other]) => `Samples of different shapes in one batch: ${first} and ${other}`,
    remedies: () => [
      { text: 'Bring all samples to one shape before .batch(): tf.image.resize or resize_with_pad for pictures, .padded_batch() for sequences.' },
      { text: 'Of pictures see that all have as many channels: decode_image(…, channels=3, expand_animations=False).' },
    ],
  },
  {
    pattern: /assertion failed: \[predictions must be [<>]= [01]\]/,
    title: ({ input }) => (/-?\bnan\b/.test(input) ? 'The model predicts NaN' : 'The predictions are not between 0 and 1'),
    remedies: ({ input }) => [
      /-?\bnan\b/.test(input)
        ? {
            text: 'The training diverged before it: go back to a checkpoint, lower the learning rate, clip the gradients (clipnorm=1.0), and look for NaN and infinite values in the inputs (tf.debugging.enable_check_numerics()).',
          }
        : {
            text: 'The metric needs probabilities: end the model with sigmoid or softmax, or apply it before the metric (from_logits=True only serves the loss).',
          },
    ],
  },
  ...ofRows(ROWS),
]
