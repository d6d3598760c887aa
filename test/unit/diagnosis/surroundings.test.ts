// What a training does not find around it: variables, a user, compiled parts, files that can be read.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const PACKAGES = '/opt/env/lib/python3.12/site-packages'
const traceback = (error: string, frames: readonly (readonly [file: string, name: string])[] = []): string =>
  [
    'Traceback (most recent call last):',
    '  File "/home/u/tune.py", line 12, in <module>',
    '    main()',
    ...frames.flatMap(([file, name]) => [`  File "${file}", line 41, in ${name}`, '    run()']),
    error,
  ].join('\n')

test('a missing environment variable is not taken for a missing key of the data', () => {
  const os = [['/opt/env/lib/python3.12/os.py', '__getitem__']] as const
  expect(answer(traceback("KeyError: 'LOCAL_RANK'", os)).all).toMatch(/variable LOCAL_RANK is not set[^]*torchrun[^]*tune\.py/)
  const { all } = answer(traceback("KeyError: 'ROW_TABLE'", [['<frozen os>', '__getitem__']]))
  expect(all).toMatch(/variable ROW_TABLE is not set[^]*export ROW_TABLE=/)
  expect(all).not.toMatch(/torchrun|keys of the sample/)
  expect(answer(traceback("KeyError: 'ROW_TABLE'")).all).not.toMatch(/variable ROW_TABLE is not set/)
})

test.each([
  [
    traceback("KeyError: 'getpwuid(): uid not found: 4711'", [['/opt/env/lib/python3.12/getpass.py', 'getuser']]),
    'python_exception',
    /no name[^]*TORCHINDUCTOR_CACHE_DIR/,
  ],
  [
    traceback('ImportError: /home/u/.cache/torch_extensions/py312_cu126/cpu_adam/cpu_adam.so: cannot open shared object file: No such file or directory'),
    'file_missing',
    /cpu_adam was not compiled[^]*rm -rf ~\/\.cache\/torch_extensions[^]*CPUAdamBuilder/,
  ],
  [
    traceback('ImportError: /home/u/.cache/torch_extensions/py312_cu126/rows/rows.so: cannot open shared object file: No such file or directory'),
    'file_missing',
    /rows was not compiled(?![^]*CPUAdam)/,
  ],
  [
    traceback('MisconfigurationException: Cannot use `RowMonitor` callback with `Trainer` that has no logger.'),
    'config_error',
    /needs a logger[^]*logger=True/,
  ],
  [
    traceback('MisconfigurationException: No `training_step()` method defined. Lightning `Trainer` expects as minimum `training_step()`.'),
    'config_error',
    /lacks a method[^]*pytorch_lightning do not mix/,
  ],
  [
    traceback("NameError: name 'has_rows' is not defined", [['/home/u/unsloth_compiled_cache/UnslothRowTrainer.py', 'step']]),
    'python_exception',
    /Unsloth generated[^]*rm -rf unsloth_compiled_cache/,
  ],
  [
    traceback('RuntimeError: Could not push packet to decoder: Invalid data found when processing input'),
    'python_exception',
    /video of the data set[^]*ffmpeg -v error/,
  ],
  [
    traceback(
      'draccus.utils.DecodingError: `rows`: Could not decode the value into any of the given types:\n    RowConfig: The fields `row_root` are not valid for RowConfig',
    ),
    'config_error',
    /Correct row_root/,
  ],
  [
    traceback('AssertionError: 10000 is not divisible by 3', [[`${PACKAGES}/vllm/distributed/utils.py`, 'ensure_divisibility']]),
    'config_error',
    /split over 3 ranks[^]*1, 2, 4, 5, 8/,
  ],
  [traceback('AssertionError: expected size 8==8, stride 64==1 at dim=1'), 'python_exception', /Compiled code[^]*TORCH_COMPILE_DISABLE=1[^]*register_fake/],
  [
    traceback("ImportError: cannot import name 'helpers' from 'megatron.data' (/home/u/mlm/megatron/data/__init__.py)"),
    'missing_dependency',
    /helpers of Megatron are not compiled[^]*pybind11(?![^]*hides)/,
  ],
  [
    traceback("ImportError: cannot import name 'Row' from 'rows.table' (/home/u/job/rows/table.py)"),
    'missing_dependency',
    /define Row in \/home\/u\/job\/rows\/table\.py(?![^]*(?:hides|pip install))/,
  ],
  [
    traceback('RuntimeError: DDP expects same model across all ranks, but Rank 2 has 51 params, while rank 0 has inconsistent 0 params.'),
    'python_exception',
    /log of rank 0 first/,
  ],
  [
    traceback(
      'RuntimeError: comm != nullptr INTERNAL ASSERT FAILED at "/b/ProcessGroupNCCL.cpp":7, please report a bug to PyTorch. Parent communicator missing in eager initialization mode.',
    ),
    'python_exception',
    /not connected[^]*device_id=torch\.device/,
  ],
  [traceback('RuntimeError: Resource temporarily unavailable'), 'python_exception', /No more threads[^]*OMP_NUM_THREADS/],
  [
    traceback('ValueError("type fp8e4nv not supported in this architecture. The supported fp8 dtypes are (\'fp8e5\')")'),
    'compile_error',
    /capability 8\.9[^]*Use weights in a format[^]*bf16/,
  ],
])('%s', (text, kind, words) => {
  const { kind: reported, all } = answer(text)
  expect(reported).toBe(kind)
  expect(all).toMatch(words)
})

test('a socket or a file that is not ready is no limit of threads', () => {
  const error = 'BlockingIOError: [Errno 11] Resource temporarily unavailable'
  expect(answer(traceback(error, [['/opt/env/lib/python3.12/multiprocessing/popen_fork.py', '_launch']])).all).toMatch(/No more threads/)
  expect(answer(traceback(error, [['/opt/env/lib/python3.12/socket.py', 'recv_into']])).all).not.toMatch(/No more threads/)
})

test('what a launcher started failed elsewhere; the members of a job did not meet', () => {
  const command = "subprocess.CalledProcessError: Command '['/opt/env/bin/accelerate', 'launch', 'rows.py']' returned non-zero exit status 1."
  expect(answer(traceback(command, [[`${PACKAGES}/axolotl/cli/main.py`, 'cli']])).all).toMatch(
    /What accelerate ran ended with exit code 1[^]*further above(?![^]*(?:Update Axolotl|pdb))/,
  )
  const lost = traceback('torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError')
  expect(answer(`master_addr is only used for static rdzv_backend and when rdzv_endpoint is not specified.\n${lost}`).all).toMatch(
    /did not use the address[^]*--rdzv-endpoint=<FIRST_HOST>/,
  )
  expect(answer(`+ torchrun --standalone --nnodes=3 rows.py\n${lost}`).all).toMatch(/--standalone is for one host/)
  expect(answer(`+ torchrun --standalone --nnodes=1 rows.py\n${lost}`).all).not.toMatch(/--standalone is for one host/)
})

test('weights of 8 bits in FSDP, a patch that does not fit, a compiled line of a library', () => {
  expect(answer(traceback('ValueError: Cannot flatten integer dtype tensors', [[`${PACKAGES}/torch/distributed/fsdp/_flat_param.py`, 'f']])).all).toMatch(
    /weights of 8 bits[^]*bnb_4bit_quant_storage/,
  )
  expect(answer(traceback('RuntimeError: Unsloth: Please file a bug report! Error patching RowTrainer')).all).toMatch(
    /could not change RowTrainer for the installed TRL/,
  )
  const { kind, all } = answer(
    `${traceback('torch._dynamo.exc.TorchRuntimeError: Failed running call_function iadd:\nAttempting to broadcast a dimension of length 4 at -1! Mismatching argument at index 1 had torch.Size([4]); but expected shape should be broadcastable to [5]')}\n\nfrom user code:\n   File "${PACKAGES}/rowkernels/soft.py", line 67, in soft`,
  )
  expect(kind).toBe('shape_mismatch')
  expect(all).toMatch(/code of rowkernels \(soft\.py:67\)/)
})
