// What a training says of its own numbers, samples and workers.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const traceback = (error: string): string => `Traceback (most recent call last):\n  File "/home/u/learn.py", line 12, in <module>\n    main()\n${error}`
const GRAPH = 'tensorflow.python.framework.errors_impl.InvalidArgumentError: Graph execution error:\n'
const NORMAL =
  'ValueError: Expected parameter loc (Tensor of shape (2, 3)) of distribution Normal(loc: torch.Size([2, 3]), scale: torch.Size([2, 3])) to satisfy the constraint Real(), but found invalid values:\n'
const PROBS =
  'ValueError: Expected parameter probs (Tensor of shape (2, 3)) of distribution Categorical(probs: torch.Size([2, 3])) to satisfy the constraint Simplex(), but found invalid values:\n'

test.each([
  [traceback(`${NORMAL}tensor([[nan, nan, nan]])`), 'nan_loss', /not a number[^]*VecCheckNan/],
  [traceback(`${PROBS}tensor([[0.8, 0.3, 0.1]])`), 'python_exception', /outside of its range[^]*logits=/],
  [traceback('RuntimeError: normal expects all elements of std >= 0.0'), 'python_exception', /no valid spread[^]*noise_std_type="log"/],
  [traceback("ValueError: Reference at 'refs/heads/rows' does not exist"), 'python_exception', /has no commit[^]*--allow-empty/],
  [
    traceback(
      'RuntimeError: One or more background workers are no longer alive. Exiting. Please check the print statements above for the actual error message',
    ),
    'worker_died',
    /worker that prepares the data died[^]*--shm-size[^]*nnUNet_n_proc_DA/,
  ],
  [
    traceback(`${GRAPH}Received a label value of 7 which is outside the valid range of [0, 7).  Label values: 7 1`),
    'python_exception',
    /outside of the classes[^]*one output more/,
  ],
  [
    traceback(`${GRAPH}Cannot batch tensors with different shapes in component 0. First element had shape [4,5,3] and element 2 had shape [6,5,3].`),
    'shape_mismatch',
    /\[4,5,3\] and \[6,5,3\][^]*tf\.image\.resize(?![^]*drop_last)/,
  ],
  [traceback(`${GRAPH}assertion failed: [predictions must be <= 1] [x (rows:0) = ] [[-nan]]`), 'python_exception', /predicts NaN[^]*clipnorm/],
  [traceback(`${GRAPH}assertion failed: [predictions must be <= 1] [x (rows:0) = ] [[1.7]]`), 'python_exception', /not between 0 and 1[^]*sigmoid/],
  [
    traceback('ValueError: You have to specify either decoder_input_ids or decoder_inputs_embeds'),
    'python_exception',
    /no labels[^]*remove_unused_columns=False/,
  ],
  [
    traceback('AssertionError: The given checkpoint is not a LoRA checkpoint, please specify `--finetuning_type full` instead.'),
    'config_error',
    /no LoRA[^]*adapter_config\.json/,
  ],
  [traceback("KeyError: 'num_key_value_heads'"), 'python_exception', /config\.json[^]*num_attention_heads/],
  [
    traceback(
      'ValueError: Requested shape: (320, 40) is not compatible with the stored shape: (328, 40). Truncating/padding is disabled by setting of `strict=True`.',
    ),
    'checkpoint_mismatch',
    /asks for \(320, 40\), and the checkpoint has \(328, 40\)(?![^]*Leave out one)/,
  ],
  [traceback("TypeError: __init__() got multiple values for argument 'rows'"), 'python_exception', /rows is given twice[^]*Name all arguments/],
  [
    "/usr/include/python3.11/pyconfig.h:3:12: fatal error: x86_64-linux-gnu/python3.11/pyconfig.h: No such file or directory\ncompilation terminated.\nTraceback (most recent call last):\n  File \"/opt/env/lib/python3.11/site-packages/triton/runtime/build.py\", line 40, in _build\n    subprocess.check_call(cc_cmd)\nsubprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/rows/main.c']' returned non-zero exit status 1.",
    'compile_error',
    /headers of this Python[^]*python3\.11-dev libpython3\.11-dev/,
  ],
])('%s', (text, kind, words) => {
  const { kind: reported, all } = answer(text)
  expect(reported).toBe(kind)
  expect(all).toMatch(words)
})

const inside = (error: string, ...files: string[]): string =>
  `Traceback (most recent call last):\n  File "/home/u/learn.py", line 12, in <module>\n    main()\n${files.map((file) => `  File "${file}", line 9, in run\n    run()\n`).join('')}${error}`
const SITE = '/opt/env/lib/python3.12/site-packages'
test.each([
  [
    inside("KeyError: 'row_model'", `${SITE}/transformers/models/auto/configuration_auto.py`),
    'python_exception',
    /model type row_model[^]*--upgrade transformers/,
  ],
  [inside("KeyError: 'height'", '/home/u/mmdetection/mmdet/datasets/coco.py'), 'python_exception', /annotations have no height[^]*each entry of images/],
  [inside("KeyError: 'ann_info'", `${SITE}/mmdet/datasets/pipelines/loading.py`), 'python_exception', /LoadAnnotations[^]*test_mode/],
  [inside("KeyError: 'height'"), 'python_exception', /Print the keys(?![^]*COCO)/],
  [
    inside("ModuleNotFoundError: No module named 'megatron.training'", `${SITE}/swift/megatron/init.py`),
    'missing_dependency',
    /only a part of Megatron-LM[^]*git clone(?![^]*pip install --upgrade swift)/,
  ],
  [
    inside("ImportError: cannot import name 'csrc' from 'rowsplat' (/opt/env/lib/python3.12/site-packages/rowsplat/__init__.py)"),
    'missing_dependency',
    /compiled part of rowsplat is missing[^]*--no-build-isolation rowsplat/,
  ],
  [inside('RuntimeError: ptrDesc->finalize()', `${SITE}/torch/nn/modules/conv.py`), 'python_exception', /cuDNN refuses[^]*Update PyTorch/],
  [
    inside('ValueError: pmap got inconsistent sizes for array axes to be mapped:\n  * one axis had size 4'),
    'python_exception',
    /local_device_count[^]*in_axes=None/,
  ],
  [
    inside('ValueError: pmap was requested to map its argument along axis 0, which implies that its rank should be at least 1, but is only 0'),
    'python_exception',
    /axis for the devices[^]*static_broadcasted_argnums/,
  ],
  [
    inside('ValueError: class `RowDataset` in rows.py: Annotation must have data_list and metainfo keys'),
    'python_exception',
    /older format[^]*update_infos_to_v2/,
  ],
  [
    inside("ValueError: Encountered a CUDA error. Please ensure that all indices in 'edge_index' point to valid indices in the interval [0, 9)."),
    'python_exception',
    /name nodes that are not there[^]*num_nodes/,
  ],
  [
    inside('AssertionError: when caching latents, either color_aug or random_crop cannot be used', '/home/u/sd-scripts/train_network.py'),
    'config_error',
    /Take color_aug and random_crop out/,
  ],
  [
    inside('AssertionError: when caching Text Encoder output, either caption_dropout_rate, shuffle_caption or token_warmup_step cannot be used'),
    'config_error',
    /cached text encoder[^]*Take caption_dropout_rate, shuffle_caption and token_warmup_step out/,
  ],
  [inside('ValueError: Unknown task: rows.', `${SITE}/llamafactory/train/tuner.py`), 'config_error', /Unknown task: rows/],
])('%s', (text, kind, words) => {
  const { kind: reported, all } = answer(text)
  expect(reported).toBe(kind)
  expect(all).toMatch(words)
})

test.each([
  [
    'Traceback (most recent call last):\n  File "/home/u/learn.py", line 12, in <module>\n    main()\n  File "/home/u/rows.py", line 7, in __getitem__\n    return self[0]\nRecursionError: maximum recursion depth exceeded',
    'python_exception',
    /No sample of the data set can be read/,
  ],
  [
    inside('TypeError: GRPOTrainer._get_train_sampler() takes 1 positional argument but 2 were given', `${SITE}/transformers/trainer.py`),
    'python_exception',
    /trl has another _get_train_sampler than transformers calls[^]*--upgrade trl transformers/,
  ],
  [
    inside("ValueError: '3' is not in list", `${SITE}/paddle/distributed/launch/context/device.py`),
    'python_exception',
    /does not see GPU 3[^]*CUDA_VISIBLE_DEVICES/,
  ],
  [
    inside("ValueError: Different dict keys encountered in `apply_factory_merges` (dict_keys(['a']) vs dict_keys(['b']))"),
    'python_exception',
    /checkpoint is of another program[^]*convert it/,
  ],
  [inside('AssertionError: assert os.path.exists(self.rows)'), 'file_missing', /expects is missing[^]*earlier step/],
  [inside("TypeError: can't pickle _thread.lock objects"), 'python_exception', /must be picklable/],
  [
    inside('TypeError: list indices must be integers or slices, not str', '/home/u/unsloth_compiled_cache/UnslothRowTrainer.py'),
    'python_exception',
    /Unsloth generated[^]*unsloth_zoo trl/,
  ],
  [inside('AttributeError: module trl has no attribute RowConfig'), 'python_exception', /installed trl has no RowConfig(?![^]*was saved)/],
  [inside('RuntimeError: Row training failed with code 3221226505'), 'aborted', /Windows status 0xC0000409[^]*Event Viewer/],
  [
    inside('torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with exit code 3221225620'),
    'aborted',
    /0xC0000094[^]*divided by zero[^]*CUDA 12\.8/,
  ],
])('%s', (text, kind, words) => {
  const { kind: reported, all } = answer(text)
  expect(reported).toBe(kind)
  expect(all).toMatch(words)
})

test('a size of 3 GiB is no status of Windows', () => {
  const { kind, all } = answer(
    `reserved 3221225472 bytes\n${inside('torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGABRT')}`,
  )
  expect(kind).toBe('aborted')
  expect(all).not.toMatch(/Windows/)
})
