// Python packages in errors: what pip is given, files that hide a package, releases that do not belong together, and what a message itself asks for.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const SITE = '/srv/env/lib/python3.11/site-packages'
const traceback = (error: string, frames: readonly string[] = []): string =>
  [
    'Traceback (most recent call last):',
    '  File "fit.py", line 9, in <module>',
    '    go()',
    ...frames.map((file) => `  File "${file}", line 5, in inner`),
    error,
    '',
  ].join('\n')
const answer = (text: string) => {
  const faults = explainText(logScanner(), text)
  const fault = faults.at(-1)
  return {
    kinds: faults.map(({ kind }) => kind),
    verdict: fault?.verdict ?? '',
    commands: fault?.remedies.map(({ command }) => command ?? '') ?? [],
    all: fault?.remedies.map((one) => `${one.text} ${one.command ?? ''}`).join('\n') ?? '',
  }
}

test.each([
  ["ModuleNotFoundError: No module named 'apex'", /git\+https:\/\/github\.com\/NVIDIA\/apex/],
  ["ModuleNotFoundError: No module named 'hydra'", /pip install hydra-core/],
  ["ModuleNotFoundError: No module named 'google.protobuf'", /pip install protobuf/],
  ["ModuleNotFoundError: No module named 'flash_attn'", /flash-attn --no-build-isolation/],
])('%s: the package is not called as the module', (error, command) => {
  expect(answer(traceback(error)).all).toMatch(command)
})

test('PyTorch Geometric has wheels for the PyTorch that the text names', () => {
  expect(answer(`torch 2.5.1+cu124\n${traceback("ModuleNotFoundError: No module named 'torch_sparse'")}`).all).toContain(
    'torch-sparse -f https://data.pyg.org/whl/torch-2.5.0+cu124.html',
  )
})

test('a file of the user hides the package', () => {
  const { verdict, all } = answer(traceback("ImportError: cannot import name 'load_dataset' from 'datasets' (/home/kim/job/datasets.py)"))
  expect(verdict).toContain('hides the package datasets')
  expect(all).toContain('Rename /home/kim/job/datasets.py')
  expect(all).not.toContain('pip install')
})

test('two libraries whose releases do not belong together are named', () => {
  const { all } = answer(
    traceback(`ImportError: cannot import name 'is_torch_new' from 'transformers.utils' (${SITE}/transformers/utils/__init__.py)`, [`${SITE}/trl/core.py`]),
  )
  expect(all).toContain('pip install --upgrade trl transformers')
})

test('another torch is not installed for the sake of one package', () => {
  const { all } = answer(traceback("AttributeError: module 'torch' has no attribute 'float8_e8m0fnu'", [`${SITE}/torchao/types.py`]))
  expect(all).toContain('torchao uses float8_e8m0fnu')
  expect(all).not.toContain('--upgrade')
})

test('an argument that was renamed', () => {
  expect(answer(traceback("TypeError: TrainingArguments.__init__() got an unexpected keyword argument 'evaluation_strategy'")).all).toContain('eval_strategy')
})

test('a release that the message asks for', () => {
  expect(answer(traceback('ImportError: accelerate>=1.1.0 is required for this, but found accelerate==0.30.1')).commands[0]).toBe(
    "python -m pip install 'accelerate>=1.1.0'",
  )
})

test('what the message says to do comes first', () => {
  const { all } = answer(traceback('ValueError: The sampler has no length. Please pass drop_last=False or give the sampler a length.'))
  expect(all.split('\n')[0]).toContain('Please pass drop_last=False')
  expect(all).not.toContain('Reproduce it')
})

test('what every CUDA error says is no instruction', () => {
  expect(answer(traceback('RuntimeError: something broke\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1')).all).not.toContain('The message itself')
})

test('a failed check in a kernel explains the calls after it', () => {
  const text = `/t/aten/src/ATen/native/cuda/Loss.cu:250: nll_loss: block: [0,0,0], thread: [7,0,0] Assertion \`t >= 0 && t < n_classes\` failed.\n${traceback(
    'RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`',
  )}`
  const { kinds, verdict } = answer(text)
  expect(kinds).toEqual(['illegal_memory_access', 'cublas_cudnn_error'])
  expect(verdict).toContain('a check inside a kernel failed before')
})

test.each([
  ['embed_tokens.weight', '50260, 768', '50257, 768', /resize_token_embeddings\(50260\)/],
  ['layers.0.q_proj.lora_A.default.weight', '32, 768', '8, 768', /r=32/],
  ['embed_tokens.weight', '50257, 768', '0', /ZeRO-3/],
  ['fc.weight', '1000, 2048', '10, 2048', /number of classes leave out/],
])('%s of [%s] for [%s]', (name, had, has, advice) => {
  const error = `RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for ${name}: copying a param with shape torch.Size([${had}]) from checkpoint, the shape in current model is torch.Size([${has}]).`
  const { all, verdict } = answer(traceback(error))
  expect(all.split('\n')[0]).toMatch(advice)
  expect(verdict).toContain(`[${had}] in the checkpoint`)
})

test.each([
  ['AssertionError: samples per step (96) is not divisible by ranks (5) times accumulation (4)', /multiple of 20 \(5 × 4\): 80 or 100/],
  ['RuntimeError: mat1 and mat2 shapes cannot be multiplied (4x300 and 1200x7)', /nn\.Linear\(300, 7\)[^]*4 × 300/],
  ['ValueError: Expected input batch_size (120) to match target batch_size (40).', /120 rows and the labels 40/],
  ['RuntimeError: Given groups=1, weight of size [8, 3, 3, 3], expected input[2, 32, 32, 3] to have 3 channels, but got 32 channels instead', /permute/],
  ['RuntimeError: "softmax_lastdim_kernel_impl" not implemented for \'Half\'', /load it for the CPU in float32/],
  ['ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable WORLD_SIZE expected, but not set', /torchrun [^]*fit\.py/],
])('%s', (error, advice) => {
  expect(answer(traceback(error)).all).toMatch(advice)
})

test('what a reset of an AMD card follows from is said of it', () => {
  const faults = explainText(
    logScanner(),
    '[ 1.0] amdgpu 0000:0a:00.0: amdgpu: 3 uncorrectable hardware errors detected in umc block\n[ 1.1] amdgpu 0000:0a:00.0: amdgpu: GPU reset begin!\n',
  )
  expect(faults.find(({ kind }) => kind === 'gpu_reset')?.verdict).toContain('had uncorrectable errors in its memory')
})

test('the driver says which GPU a memory error of CUDA was on, and that it was contained', () => {
  const faults = explainText(
    logScanner(),
    'NVRM: Xid (PCI:0000:2a:00): 94, pid=7, name=fit, Contained: SM (0x1). RST: No\nRuntimeError: CUDA error: uncorrectable ECC error encountered\n',
  )
  const reset = faults.find(({ kind }) => kind === 'ecc_error')?.remedies.at(-1)
  expect(reset?.command).toContain('-i 0000:2a:00.0')
  expect(reset?.text).toContain('It can wait'.toLowerCase())
})

test.each([
  ['"a.w", "b.w"', '"net.a.w", "net.b.w"', /begin with "net\."[^]*removeprefix\("net\."\)/],
  ['"module.a.w"', '"a.w"', /names of the model begin with "module\." \(of DataParallel\)/],
  ['"a.w"', '"step", "state_dict"', /checkpoint\["state_dict"\]/],
])('missing %s, unexpected %s', (missing, unexpected, advice) => {
  const error = `RuntimeError: Error(s) in loading state_dict for Net:\n\tMissing key(s) in state_dict: ${missing}. \n\tUnexpected key(s) in state_dict: ${unexpected}. `
  expect(answer(traceback(error)).all.split('\n')[0]).toMatch(advice)
})

test('a failed recomputation is no damaged file', () => {
  const { kinds, all } = answer(
    traceback('torch.utils.checkpoint.CheckpointError: torch.utils.checkpoint: Recomputed values for the following tensors have different metadata.'),
  )
  expect(kinds).toEqual(['python_exception'])
  expect(all).toContain('autocast')
})

test('host memory that cannot be locked is no lack of GPU memory', () => {
  const { verdict, all } = answer(
    'Traceback (most recent call last):\n  File "fit.py", line 3, in <module>\n    buffer = part.pin_memory()\nRuntimeError: CUDA error: out of memory\n',
  )
  expect(verdict).toContain('lock host memory')
  expect(all).toContain('ulimit -l')
  expect(all).not.toContain('batch size')
})

test("a model's own code is not the user's", () => {
  const { all } = answer(
    `Traceback (most recent call last):\n  File "/home/kim/.cache/huggingface/modules/transformers_modules/lab/net.py", line 4, in forward\n    past.seen\nAttributeError: 'DynamicCache' object has no attribute 'seen'\n`,
  )
  expect(all).toContain('trust_remote_code')
  expect(all).not.toContain('Open net.py')
})

test('pip builds a package where torch is not seen', () => {
  const { kinds, commands } = answer(
    'Collecting mamba-ssm\n  error: subprocess-exited-with-error\n  ╰─> [4 lines of output]\n      Traceback (most recent call last):\n        File "<string>", line 2, in <module>\n      ModuleNotFoundError: No module named \'torch\'\n      [end of output]\n',
  )
  expect(kinds).toEqual(['missing_dependency'])
  expect(commands[0]).toBe('pip install mamba-ssm --no-build-isolation')
})

test('a compiler that is too new for nvcc is named with its number', () => {
  expect(
    answer(
      'x.h:1:2: error: #error -- unsupported GNU version! gcc versions later than 12 are not supported!\nRuntimeError: Error compiling objects for extension\n',
    ).all,
  ).toContain('CC=gcc-12')
})

test('a build that was killed compiles fewer files at once', () => {
  expect(answer('[3/40] /usr/local/cuda/bin/nvcc -c a.cu\nKilled\nninja: build stopped: subcommand failed.\n').all).toContain('MAX_JOBS=2')
})

test('no words of NVIDIA for an error of HIP', () => {
  const fault = explainText(logScanner(), 'RuntimeError: HIP error: shared object initialization failed\n')[0]
  expect(fault?.kind).toBe('cuda_version_mismatch')
  expect(`${fault?.verdict}\n${fault?.remedies.map((one) => `${one.text} ${one.command ?? ''}`).join('\n')}`).not.toMatch(/CUDA|nvidia/i)
})

test.each([
  ['ImportError: Found an incompatible version of torchao. Found version 0.5, but only versions above 0.9.1 are supported', /pip install 'torchao>0\.9\.1'/],
  [
    'ValueError: the global size of its dimension 1 should be divisible by 6, but it is equal to 20 (full shape: (4, 20))',
    /axis 1 to a multiple of 6: 18 or 24/,
  ],
])('%s', (error, advice) => {
  expect(answer(traceback(error)).all).toMatch(advice)
})

test('what pip shows is named without the options that its installation needs', () => {
  const lacking = traceback("ImportError: cannot import name 'flash_attn_new' from 'flash_attn' (/srv/env/lib/python3.11/site-packages/flash_attn/__init__.py)")
  const commands = explainText(logScanner(), lacking).flatMap(({ remedies }) => remedies.map(({ command }) => command ?? ''))
  expect(commands).toContain('python -m pip show flash-attn')
  expect(commands).toContain("python -m pip install 'flash-attn==<VERSION>'")
})
