// Messages of trainers, of PyTorch on several GPUs and of installs: what the answer must say, and what it must not.
import { expect, test } from 'vitest'
import { answer } from './answer.ts'

const PACKAGES = '/opt/env/lib/python3.12/site-packages'
/** A traceback through the user's script (where there is one) and files of packages. */
const raised = (error: string, files: readonly string[] = [], script = '/home/u/tune.py'): string =>
  [
    'Traceback (most recent call last):',
    ...(script === '' ? [] : [`  File "${script}", line 12, in <module>`, '    main()']),
    ...files.flatMap((file) => [`  File "${PACKAGES}/${file}", line 41, in run`, '    run()']),
    error,
  ].join('\n')

test.each([
  [
    raised('ValueError: Pointer argument (at 3) cannot be accessed from Triton (cpu tensor?)', ['mykernels/norm.py', 'triton/backends/nvidia/driver.py']),
    'device_mismatch',
    /not on its GPU[^]*LOCAL_RANK[^]*device_map=\{"": 0\}/,
  ],
  [
    raised('NotImplementedError: Operator aten.roll.default does not have a sharding strategy registered.', ['torch/distributed/tensor/_sharding_prop.py']),
    'python_exception',
    /split aten\.roll\.default[^]*full_tensor/,
  ],
  [
    raised(
      "RuntimeError: FSDP parameters should be materialized from meta device before training, but the following were still on meta device: ['net.head.weight', 'net.head.bias']",
      ['torch/distributed/fsdp/_fully_shard/_fsdp_param_group.py'],
    ),
    'python_exception',
    /2 parameters have no values[^]*to_empty[^]*\(net\.head\.weight\)/,
  ],
  [
    raised(
      'RuntimeError: expect_autograd_hooks_ INTERNAL ASSERT FAILED at "/build/torch/csrc/distributed/c10d/reducer.cpp":1711, please report a bug to PyTorch.',
    ),
    'python_exception',
    /one backward for each forward[^]*use_reentrant=False/,
  ],
  [
    raised("torch._dynamo.exc.BackendCompilerFailed: backend='compile_fn' raised:\nKeyError: 'val'", ['torch/_dynamo/output_graph.py']),
    'compile_error',
    /for DDP[^]*optimize_ddp = False/,
  ],
  [
    raised("TypeError: scaled_dot_product_attention(): argument 'attn_mask' must be Tensor, not BlockMask", ['transformers/integrations/sdpa_attention.py']),
    'python_exception',
    /share one mask[^]*attn_implementation/,
  ],
  [
    raised('ValueError: There are not any lora modules in this network. Check your config and try again'),
    'python_exception',
    /No layer of the model takes the LoRA[^]*networks\.lora_wan/,
  ],
  [
    raised('ValueError: Attempted to assign 64 + 80 = 144 multimodal tokens to 200 placeholders', ['vllm/model_executor/models/utils.py']),
    'python_exception',
    /give 144 tokens, and the prompt has space for 200[^]*max_pixels/,
  ],
  [
    raised("AttributeError: module 'unsloth_compiled_module_tiny' has no attribute 'TinyNorm_forward'", ['unsloth_zoo/compiler.py']),
    'python_exception',
    /rm -rf unsloth_compiled_cache/,
  ],
  [
    raised("TypeError: seed_worker() missing 2 required positional arguments: 'num_workers' and 'rank'", ['torch/utils/data/_utils/worker.py']),
    'python_exception',
    /older than the installed Transformers[^]*trl>=0\.23\.1/,
  ],
  [
    raised('TypeError: Unsloth: Your model already has LoRA adapters. Your new parameters are different.', ['unsloth/models/llama.py']),
    'python_exception',
    /leave get_peft_model out/,
  ],
  [
    raised('ValueError: text input must be of type `str` (single example), `List[str]` (batch or single pretokenized example).', ['transformers/tokenizer.py']),
    'python_exception',
    /isinstance\(x\["text"\], str\)/,
  ],
  [
    raised("TypeError: '>=' not supported between instances of 'str' and 'int'", ['deepspeed/runtime/lr_schedules.py']),
    'python_exception',
    /Mostly it is "auto"[^]*Write figures/,
  ],
  [
    raised('ValueError: Argument `penalty_mode` is not a valid argument of `GenerationConfig`. It should be passed to `generate()` directly.'),
    'config_error',
    /Take penalty_mode out of GenerationConfig/,
  ],
  [raised('pyarrow.lib.ArrowInvalid: offset overflow while concatenating arrays', ['datasets/table.py']), 'python_exception', /writer_batch_size=100/],
  [raised('OSError: No such device (os error 19)', ['safetensors/torch.py']), 'python_exception', /cannot map files[^]*not \/mnt\/c/],
  [
    raised("AttributeError: Can't pickle local object 'RowTrainer._prepare.<locals>.add_end'", ['trl/trainer/row_trainer.py', 'multiprocess/reduction.py'], ''),
    'python_exception',
    /inside of RowTrainer[^]*dataset_num_proc/,
  ],
])('%s', (text, kind, advice) => {
  const reported = answer(text)
  expect(reported.kind).toBe(kind)
  expect(reported.all).toMatch(advice)
  expect(reported.all).not.toMatch(/Reproduce it|message itself says/)
})

test('the command that an ImportError names is given, and what it is not is no name of a package', () => {
  const error = (message: string): string => answer(raised(`ImportError: ${message}`)).all
  expect(error('Rows needs fastrow. Please install it with `pip install -U fastrow rowtools`.')).toMatch(
    /^fastrow is missing[^]*\$ pip install -U fastrow rowtools/,
  )
  expect(error('fastrow is not installed. Install it from source: `pip install git+https://github.com/rows/fastrow.git@0123abc`')).toMatch(
    /^fastrow is missing[^]*\$ pip install git\+https:\/\/github\.com\/rows\/fastrow\.git@0123abc/,
  )
  expect(error('s9:// paths require s9fs to be installed')).toMatch(/^s9fs is missing/)
  expect(error('Run `pip install -e .[rows]` first')).not.toMatch(/-e is missing/)
  expect(error('run `pip install fastrow; curl evil` to go on')).not.toMatch(/curl evil"? \$|\$ [^\n]*curl/)
  expect(error('row_size > 1 but fastrow is not installed')).not.toMatch(/Install row_size/)
})

test('a setting that a check refuses: what it may be, or that the check itself is wrong', () => {
  const check = (message: string): string => answer(raised(`ValueError: ${message}`, ['rowlib/config.py'])).all
  expect(check("row_mode must be one of ['near', 'far'], got 'up'")).toMatch(/Set row_mode to one of near, far \(it is up\)/)
  expect(check("row_mode must be either 'near' or 'far', got 'far'.")).toMatch(/Update rowlib: its message rejects far[^]*--upgrade rowlib/)
  expect(check('Packed rows are not supported with sparse rows.')).toMatch(/Leave out one of the two/)
})

test('a layer of a library: its input is corrected, not the layer; vectors side by side are recognized', () => {
  const { all } = answer(
    raised('RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x2304 and 768x96)', ['diffusers/models/rows.py', 'torch/nn/modules/linear.py']),
  )
  expect(all).toMatch(/2304 is 3 × 768/)
  expect(all).toMatch(/part of a model of diffusers/)
  expect(all).not.toMatch(/nn\.Linear\(/)
})

test('the reason that fake tensors found is quoted, not the call before it', () => {
  const call = 'call_function <built-in function add>(*(FakeTensor(..., size=(7, 3)), FakeTensor(..., size=(5,))), **{})'
  const old = answer(
    `torch._dynamo.exc.TorchRuntimeError: Failed running ${call}:\nAttempting to broadcast a dimension of length 5 at -1! Mismatching argument at index 1`,
  )
  expect(old.kind).toBe('shape_mismatch')
  expect(old.all).toMatch(/"TorchRuntimeError: Attempting to broadcast/)
  const now = answer(
    `torch._dynamo.exc.TorchRuntimeError: Dynamo failed to run FX node with fake tensors: ${call}: got RuntimeError('a and b must have same reduction dim, but got [7, 3] X [5, 2].')`,
  )
  expect(now.kind).toBe('shape_mismatch')
  expect(now.all).toMatch(/"TorchRuntimeError: a and b must have same reduction dim/)
})

test('a program that was started failed: Windows says more by its code than the one that started it', () => {
  expect(answer(raised('RuntimeError: Row Tuner training failed with code 3')).all).toMatch(/Row Tuner training ended with exit code 3[^]*further above/)
  expect(answer(raised('RuntimeError: Row Tuner training failed with code 3221225477')).kind).toBe('segfault')
  expect(answer("subprocess.CalledProcessError: Command '['row.exe']' returned non-zero exit status 3221225477.").kind).toBe('segfault')
})

test('what is no NaN, no data type and no second device', () => {
  const kind = (error: string) => answer(raised(error)).kind
  expect(kind('ValueError: Invalid loss_agg_mode: token')).not.toBe('nan_loss')
  expect(kind('ValueError: Invalid loss type: huber')).not.toBe('nan_loss')
  expect(kind('ValueError: NaN values found in loss_rows')).toBe('nan_loss')
  expect(kind("NotImplementedError: Row weights are not implemented for 'far' because rows are sorted")).not.toBe('dtype_mismatch')
  expect(kind('RuntimeError: "row_kernel" not implemented for \'Half\'')).toBe('dtype_mismatch')
  expect(kind('ValueError: Expected tensor with trailing dimensions of shape 8 for argument rows, got 3')).not.toBe('device_mismatch')
})

test('Windows does not find a library of a compiled part: its package is named, not the part', () => {
  const text = `Traceback (most recent call last):
  File "D:\\env\\Lib\\site-packages\\rowattention\\core.py", line 7, in <module>
    from . import _rows
ImportError: DLL load failed while importing _rows: The specified procedure could not be found.`
  const { all } = answer(text)
  expect(all).toMatch(/Windows cannot load rowattention[^]*in another release[^]*wheel of rowattention/)
  expect(all).not.toMatch(/pip install -rows|Install _rows/)
})

test('the compiler of Triton on Windows lacks the headers of Python: no search for nvcc', () => {
  const { all } = answer(`C:\\rows\\python_embeded\\Lib\\site-packages\\triton\\windows_utils.py:300: UserWarning: Failed to find Python libs.
C:/Users/u/AppData/Local/Temp/tmp1/cuda_utils.c:9: error: include file 'Python.h' not found
Failed to compile. cc_cmd: ['C:\\\\rows\\\\python_embeded\\\\Lib\\\\site-packages\\\\triton\\\\runtime\\\\tcc\\\\tcc.exe', 'cuda_utils.c']`)
  expect(all).toMatch(/folders include and libs/)
  expect(all).not.toMatch(/nvcc/)
})

test('uv and Meson say why a build does not begin', () => {
  const uv = answer(
    '  × Failed to download and build `rowkit==1.4`\n  ╰─▶ Extra build requirement `torch` was declared with `match-runtime\n      = true`, but `rowkit` does not declare static metadata, making\n      runtime-matching impossible',
  )
  expect(uv.kind).toBe('missing_dependency')
  expect(uv.all).toMatch(/rowkit = \["torch==<VERSION>"\][^]*no-build-isolation-package = \["rowkit"\]/)
  const meson = answer(
    "      Project name: rowkit\n      Project version: 0.9\n      ../meson.build:31:0: ERROR: Unknown compiler(s): [['gfortran'], ['flang']]\nerror: metadata-generation-failed",
  )
  expect(meson.all).toMatch(/pip builds rowkit from source[^]*release 0\.9[^]*--only-binary rowkit rowkit[^]*gfortran/)
})

test('the server of TRL on the GPU of the training; JAX without room for its libraries', () => {
  expect(
    answer(
      raised('RuntimeError: NCCL error: invalid usage (run with NCCL_DEBUG=WARN for details)', ['trl/extras/vllm_client.py', 'vllm/distributed/pynccl.py']),
    ).all,
  ).toMatch(/trl vllm-serve[^]*colocate/)
  expect(
    answer(raised('RuntimeError: Attempting to use the same CUDA device (UUID: 4f1c0b7a-11) for multiple distinct roles/ranks within the same communicator.'))
      .all,
  ).toMatch(/share a GPU[^]*both use 4f1c0b7a-11/)
  expect(
    answer('jax.errors.JaxRuntimeError: INTERNAL: jaxlib/gpu/solver_handle_pool.cc:37: operation gpusolverDnCreate(&handle) failed: cuSolver internal error')
      .all,
  ).toMatch(/XLA_PYTHON_CLIENT_MEM_FRACTION=\.60/)
  const code = answer(
    'jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: [1] Failed to load in-memory CUBIN (compiled for a different GPU?).: CUDA_ERROR_OUT_OF_MEMORY: out of memory',
  )
  expect(code.all).toMatch(/XLA_PYTHON_CLIENT_MEM_FRACTION=\.60/)
  expect(code.all).not.toMatch(/0\.95/)
})

test('what a check says of memory is no memory that ran out', () => {
  const { kind, all } = answer(
    raised(
      'ValueError: auto_find_batch_size is not supported by ROWS, because a batch holds whole groups, and reducing the batch size on out-of-memory breaks them.',
    ),
  )
  expect(kind).toBe('config_error')
  expect(all).toMatch(/Leave auto_find_batch_size out/)
  expect(answer(raised('ValueError: NaNs detected in the merged weights. The adapter rows seems to be broken')).all).toMatch(/adapter holds NaN[^]*float32/)
})

test('the setting that a check names, and what it allows', () => {
  const all = (error: string) => answer(raised(error)).all
  expect(all("ValueError: Invalid row_backend: fast. Must be one of 'slow' or 'exact'.")).toMatch(/Set row_backend to one of slow, exact/)
  expect(all("ValueError: Invalid value for row_scale: 9. Must be one of ['batch', 'group'].")).toMatch(/Set row_scale to one of batch, group/)
  expect(all('ValueError: `row_rank` should be a positive integer, got -1.')).toMatch(/rejected its configuration: row_rank[^]*Correct row_rank/)
  expect(all("ValueError: Row type `flat` is not supported by this path. Supported row types: ['deep', 'wide'].")).toMatch(
    /one of deep, wide(?![^]*Leave out one)/,
  )
})
