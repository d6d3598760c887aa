// Messages of fine-tuning and of installs: what the figures and names of the text make of the advice.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const PACKAGES = '/opt/env/lib/python3.11/site-packages'
const raised = (error: string, ...files: readonly string[]): string =>
  `Traceback (most recent call last):\n  File "/home/u/train.py", line 9, in <module>\n    main()\n${files.map((file) => `  File "${PACKAGES}/${file}", line 70, in run\n    run()\n`).join('')}${error}\n`
const answers = (text: string) => explainText(logScanner(), text).map(({ kind, title, verdict, remedies }) => ({ kind, title, verdict, remedies }))
const answer = (text: string) => {
  const fault = answers(text)[0]
  return { ...fault, all: `${fault?.title}\n${fault?.verdict}\n${(fault?.remedies ?? []).map((one) => `${one.text} $ ${one.command ?? ''}`).join('\n')}` }
}

test.each([
  [
    'ValueError: The global train batch size (6 x 2) must be evenly divisible by the number of generations per prompt (8). Given the current train batch size, the valid values for the number of generations are: [2, 3, 4, 6, 12].',
    /batch of 12[^]*num_generations to one of 2, 3, 4, 6, 12/,
  ],
  [
    'ValueError: The global eval batch size (3 * 2) must be divisible by the number of generations used for evaluation (4).',
    /num_generations to one of 2, 3, 6/,
  ],
  ['ValueError: generation_batch_size (12) must be divisible by num_generations (8).', /multiple of 8: 16/],
  ['ValueError: Image features and image tokens do not match: tokens: 900, features 960', /was cut[^]*max_length=None/],
  ['ValueError: Image features and image tokens do not match, tokens: 0, features: 960', /no place for the image[^]*apply_chat_template/],
  ['ValueError: Undefined dataset my_rows in dataset_info.json.', /Add my_rows to dataset_info\.json/],
  ['RuntimeError: Dynamo is not supported on Python 3.13+', /PyTorch to 2\.6[^]*python=3\.12/],
  ['AssertionError: no_sync context manager is incompatible with gradient partitioning logic of ZeRO stage 2', /deepspeed==0\.15\.4/],
  [
    'ValueError: Target module MyBlock(\n  (proj): Linear(in_features=8, out_features=8, bias=False)\n) is not supported. Currently, only the following modules are supported: `torch.nn.Linear`.',
    /no adapter for MyBlock[^]*language_model/,
  ],
  [
    "KeyError: \"The `metric_for_best_model` training argument is set to 'eval_bleu', which is not found in the evaluation metrics. The available evaluation metrics are: ['eval_loss', 'eval_acc', 'eval_runtime']. Consider changing the `metric_for_best_model` via the TrainingArguments.\"",
    /gives no eval_bleu[^]*one that there is: eval_loss, eval_acc\.[^]*return bleu/,
  ],
  [
    "ValueError: The batch received was empty, your model won't be able to train on it. Double-check that your training dataset contains keys expected by the model: input_ids.",
    /not tokenized/,
  ],
  ["TypeError: Seq2SeqTrainingArguments.__init__() got an unexpected keyword argument 'overwrite_output_dir'", /overwrite_output_dir is gone/],
  ["TypeError: SFTConfig.__init__() got an unexpected keyword argument 'group_by_length'", /train_sampling_strategy='group_by_length'/],
  [
    "ImportError: cannot import name 'ORPOTrainer' from 'trl' (/opt/env/lib/python3.11/site-packages/trl/__init__.py)",
    /trl 0\.29 has no ORPOTrainer[^]*trl\.experimental\.orpo/,
  ],
  [
    "ImportError: cannot import name 'PytorchGELUTanh' from 'transformers.activations' (/opt/env/lib/python3.11/site-packages/transformers/activations.py)",
    /transformers<4\.57/,
  ],
  [
    "ImportError: cannot import name 'is_flax_available' from 'transformers' (/opt/env/lib/python3.11/site-packages/transformers/__init__.py)",
    /transformers<5/,
  ],
  ['AttributeError: module diffusers has no attribute NewestPipeline', /--upgrade diffusers/],
])('%s', (error, advice) => {
  const { all } = answer(raised(error))
  expect(all).toMatch(advice)
  expect(all).not.toMatch(/Reproduce it|message itself says/)
})

test('an optimizer without train() is a matter of Accelerate only where Accelerate asked for it', () => {
  const error = "AttributeError: 'AdamW' object has no attribute 'train'"
  expect(answer(raised(error, 'transformers/trainer.py', 'accelerate/optimizer.py')).all).toContain('accelerate>=0.34.2')
  expect(answer(raised(error)).all).not.toContain('accelerate')
})

test('TorchCodec: FFmpeg is missing, or the build is for another PyTorch, as its own lines say', () => {
  const words = (cause: string): string =>
    raised(
      `RuntimeError: Could not load libtorchcodec. Likely causes:\n          2. The PyTorch version (2.7.1+cu126) is not compatible with\n             this version of TorchCodec.\n\nFFmpeg version 6: ${cause}`,
    )
  const missing = answer(words('libavutil.so.58: cannot open shared object file: No such file or directory'))
  expect(missing.title).toContain('FFmpeg is missing')
  expect(missing.remedies?.[0]?.command).toContain('ffmpeg')
  const other = answer(words('libtorchcodec_core6.so: undefined symbol: _ZN3c1013MessageLoggerC1EPKciib'))
  expect(other.all).toContain("'torchcodec==0.5.*'")
})

test('uv: what is asked for beside what a package needs, and an index that hides the others', () => {
  const clash = answer(
    '$ uv sync\n  × No solution found when resolving dependencies:\n  ╰─▶ Because torch==2.9.0 depends on somelib==3.1.0 and you require somelib==3.2.0, we can conclude that your requirements are unsatisfiable.\n',
  )
  expect(clash.all).toContain('Ask for somelib==3.1.0 in place of ==3.2.0, or leave its version open: torch==2.9.0 needs that one.')
  const hidden = answer(
    "$ uv pip install torch==2.5.0 --extra-index-url https://pypi.nvidia.com\n  × No solution found when resolving dependencies:\n  ╰─▶ Because there is no version of nvidia-nccl-cu12{sys_platform == 'linux'}==2.21.5 and torch==2.5.0 depends on nvidia-nccl-cu12{sys_platform ==\n      'linux'}==2.21.5, we can conclude that torch==2.5.0 cannot be used.\n",
  )
  expect(hidden.remedies?.[0]?.command).toBe('export UV_INDEX_STRATEGY=unsafe-best-match')
})

test('conda: the Python of the packages, and the CUDA of PyTorch, come from the text', () => {
  const conda = answer(
    'conda install pytorch==2.0.1 pytorch-cuda=11.8\nLibMambaUnsatisfiableError: Encountered problems while solving:\n  - package pytorch-2.0.1-py3.11_cuda11.8_cudnn8.7.0_0 requires python >=3.11,<3.12.0a0, but none of the providers can be installed\n',
  )
  expect(conda.all).toContain('python=3.11')
  expect(conda.all).toContain('torch==2.0.1 torchvision --index-url https://download.pytorch.org/whl/cu118')
})

test('a build without isolation gets what it lacks; one with isolation does not', () => {
  const log = (options: string): string =>
    `$ pip install flash-attn${options}\nCollecting flash-attn\n  Preparing metadata (setup.py) ... error\n  error: subprocess-exited-with-error\n  ╰─> [6 lines of output]\n      Traceback (most recent call last):\n        File "/tmp/pip-install-ab12/flash-attn_34/setup.py", line 17, in <module>\n      ModuleNotFoundError: No module named 'wheel'\n`
  expect(answer(log(' --no-build-isolation')).remedies?.[0]?.command).toContain('pip install wheel packaging')
  expect(answer(log('')).remedies?.[0]?.command).toBe('pip install flash-attn --no-build-isolation')
})

test('cuDNN of another version explains why the DNN library did not start', () => {
  const text =
    'E0501 10:00:01.1 231 cuda_dnn.cc:535] Loaded runtime CuDNN library: 9.1.0 but source was compiled with: 9.8.0.  CuDNN library needs to have matching major version.\njax.errors.JaxRuntimeError: FAILED_PRECONDITION: DNN library initialization failed. Look at the errors above for more details.\n'
  expect(answers(text).map(({ kind }) => kind)).toEqual(['cuda_version_mismatch'])
})

test('TensorFlow: a copy to a full GPU is a lack of memory', () => {
  const { kind, verdict } = answer(
    'tensorflow.python.framework.errors_impl.InternalError: Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to /job:localhost/replica:0/task:0/device:GPU:1 in order to run _EagerConst: Dst tensor is not initialized.\n',
  )
  expect(kind).toBe('cuda_oom')
  expect(verdict).toContain('GPU 1. Likely its memory is full')
})

test('a template for chats: the advice of a server is not that of a training', () => {
  const error = 'ValueError: Cannot use chat template functions because tokenizer.chat_template is not set and no template argument was passed!'
  expect(answer(raised(error)).all).toContain('Train from the Instruct')
  expect(answer(raised(error)).all).not.toContain('--chat-template')
  expect(answer(raised(error, 'vllm/entrypoints/openai/serving_chat.py')).all).toContain('--chat-template')
})

test('torchvision: the release for the PyTorch of the text, from the index of its CUDA', () => {
  const text = `torch 2.7.1+cu128\n${raised('RuntimeError: operator torchvision::nms does not exist', 'torchvision/_meta_registrations.py')}`
  expect(answer(text).remedies?.[0]?.command).toBe(
    "python -m pip install --force-reinstall --no-deps 'torchvision==0.22.*' --index-url https://download.pytorch.org/whl/cu128",
  )
})
