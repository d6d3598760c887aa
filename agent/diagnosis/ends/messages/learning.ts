// Messages of a training about its own numbers, samples and workers: reinforcement learning, TensorFlow, nnU-Net, Orbax.
import type { EndContext } from '../end-kind.ts'
import type { Known } from './message.ts'
import { ofRows, type Row } from './rows.ts'

const ROWS: readonly Row[] = [
  [
    /NaNs detected in the merged (?:weights|bias)/,
    'Take an earlier checkpoint of the adapter: its last steps diverged (see its loss, and the gradients of that run). If its weights are finite, merge in float32 and on the GPU.',
    undefined,
    undefined,
    'The adapter holds NaN, or merging makes them',
  ],
  [
    /^assert (?:os\.path\.(?:exists|isfile|isdir)|[\w.]{1,80}\.(?:exists|is_file|is_dir))\(/,
    'Print the path that the line tests. If an earlier step makes it (the preparation of the data, a download), that did not run, or failed: run it again and read its output.',
    undefined,
    undefined,
    'A file that the program expects is missing',
  ],
  [
    /pmap got inconsistent sizes for array axes to be mapped/,
    'Give each mapped argument a first axis of jax.local_device_count(): flax.jax_utils.replicate for parameters, shard (reshape to devices × batch) for inputs, jax.random.split(key, devices) for keys. What is not mapped: in_axes=None.',
    'python -c "import jax; print(jax.local_device_count())"',
    undefined,
    'Arguments of pmap do not have one size along the devices',
  ],
  [
    /pmap was requested to map its argument along axis \d/,
    'Give the argument an axis for the devices (flax.jax_utils.replicate), or leave it out of the mapping: in_axes=None, or static_broadcasted_argnums for what is no array (self of a method is such an argument).',
    undefined,
    undefined,
    'pmap got an argument without an axis for the devices',
  ],
  [
    /Annotation must have data_list and metainfo keys/,
    'Generate the annotations again with the tools of this release (tools/create_data.py of MMDetection3D, tools/dataset_converters of MMOCR), or update the old ones (update_infos_to_v2.py).',
    undefined,
    'MMEngine reads a file with the entries metainfo and data_list; this one is of an older release.',
    'The annotations are of an older format',
  ],
  [
    /ensure that all indices in '?"?edge_index'?"? point to valid indices/,
    'Compare edge_index with the nodes: edge_index.max() must be below data.num_nodes, and no index negative. Number the nodes from 0 without gaps, and let x have a row for each.',
    undefined,
    'An edge names a node that the graph does not have.',
    'The edges of the graph name nodes that are not there',
  ],
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
    'A label is outside of the classes of the model',
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

const inFile =
  (pattern: RegExp) =>
  ({ error }: EndContext): boolean =>
    error?.name === 'KeyError' && pattern.test(error.frames.at(-1)?.file ?? '')

export const LEARNING: readonly Known[] = [
  {
    pattern: /maximum recursion depth exceeded/,
    when: ({ error }) => error?.frames.at(-1)?.name === '__getitem__',
    title: 'No sample of the data set can be read',
    says: 'Its __getitem__ takes another sample wherever one fails, and all fail.',
    remedies: () => [
      {
        text: 'Print the error that is caught there, and the path: mostly the folder or the list of labels is wrong, or a step of the preparation gives nothing.',
      },
      { text: 'Read one sample by hand: dataset[0].' },
    ],
  },
  {
    pattern: /^'(\d{1,3})' is not in list/,
    when: ({ error }) => error?.frames.some(({ file }) => /[\\/]paddle[\\/]/.test(file)) === true,
    title: ([, gpu]) => `The launcher does not see GPU ${gpu}`,
    remedies: () => [
      {
        text: '--gpus names numbers of CUDA_VISIBLE_DEVICES, where that is set: give both the same, or leave one out; in a container see that it got that many GPUs.',
        command: 'echo $CUDA_VISIBLE_DEVICES; nvidia-smi -L',
      },
    ],
  },
  {
    pattern: /^'(\w{1,80})'$/m,
    when: inFile(/[\\/]transformers[\\/]models[\\/]auto[\\/]/),
    title: ([, type]) => `Transformers does not know the model type ${type}`,
    remedies: () => [
      { text: 'Update Transformers: the model is newer than the release that runs here.', command: 'python -m pip install --upgrade transformers' },
      {
        text: 'See whether the launcher starts the Python that you updated: it may belong to another environment.',
        command: 'which python torchrun; python -m pip show transformers',
      },
      { text: 'Where the model brings its own code: trust_remote_code=True, if you trust it.' },
    ],
  },
  {
    pattern: /^'(height|width|file_name|ann_info|segmentation|bbox|area|iscrowd|category_id|categories|images|annotations|id|image_id)'$/m,
    when: inFile(/coco|[\\/]datasets?[\\/]/i),
    title: ([, key]) => `The annotations have no ${key}`,
    remedies: ([, key = '']) => [
      key === 'ann_info'
        ? {
            text: 'The pipeline loads annotations (LoadAnnotations), and the data set is read as one for tests (test_mode=True), which has none: take that step out of its pipeline.',
          }
        : {
            text: `Add ${key} to ${/^(?:height|width|file_name)$/.test(key) ? 'each entry of images' : /^(?:categories|images|annotations)$/.test(key) ? 'the file' : 'each entry of annotations'}, as the COCO format asks for; see what the file has.`,
            command: `python -c "import json; d = json.load(open('<FILE>')); print(d.keys(), d['images'][:1], d['annotations'][:1])"`,
          },
    ],
  },
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
