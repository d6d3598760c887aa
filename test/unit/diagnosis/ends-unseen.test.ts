// Ends in forms that unseen logs brought: text set in bold, blanks of a bar, words that are wrapped, other batch systems, and what is below a program.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Facts } from '../../../agent/model/facts.ts'
import type { LogKind } from '../../../agent/model/kinds.ts'
import { answer } from './answer.ts'

const first = (text: string) => explainText(logScanner(), text)[0]
const traceback = (error: string, code = 'run(rows)', where: readonly string[] = []): string =>
  ['Traceback (most recent call last):', '  File "/home/u/fit.py", line 31, in <module>', `    ${code}`, ...where, error].join('\n')
const below = (file: string): readonly string[] => [`  File "/opt/env/lib/python3.12/${file}", line 7, in inner`, '    call()']

test.each<readonly [name: string, text: string, kind: LogKind, facts: Facts]>([
  [
    'bold up to within the line',
    "**ImportError: cannot import name 'Rows' from 'rowlib'** (/opt/rowlib/__init__.py)",
    'missing_dependency',
    { module: 'rowlib' },
  ],
  [
    'bold that ends in a later line',
    traceback(
      '**RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for head.weight: copying a param with shape torch.Size([9, 4]) from checkpoint, the shape in current model is torch.Size([2, 4]).**',
    ),
    'checkpoint_mismatch',
    { pattern: 'sizes', frame: 'fit.py:31' },
  ],
  [
    'behind the blanks of a bar',
    `Epoch 2:  71%|███ | 5/7 [00:09<00:03]${' '.repeat(90)}free(): invalid size\n   Aborted (core dumped)`,
    'aborted',
    { signal: 'SIGABRT' },
  ],
  [
    'wrapped C++',
    "terminate called after throwing an instance of \n'std::length_error'\n  what():  vector::reserve\n Aborted (core dumped)",
    'aborted',
    { signal: 'SIGABRT' },
  ],
  ['a worker of a DataLoader', 'step 40 loss 0.3\nERROR: Unexpected segmentation fault encountered in worker.', 'segfault', { signal: 'SIGSEGV' }],
  [
    'a proxy that is no file',
    `requests.exceptions.ProxyError: HTTPSConnectionPool(host='hub.example', port=443): Max retries exceeded with url: /rows (Caused by ProxyError('Cannot connect to proxy.', FileNotFoundError(2, 'No such file or directory')))`,
    'network_error',
    { exception: 'ProxyError' },
  ],
  ['a mail of PBS: preempted', 'PBS Job Id: 6612.head\nJob Name:   fit\njob preempted (node failure)', 'preempted', { job_id: 6612 }],
  ['a mail of PBS: deleted', 'PBS Job Id: 6613.head\nJob Name:   fit\nJob deleted at request of ann@login', 'cancelled', { job_id: 6613 }],
  [
    'a name of the hub wrapped',
    'OSError: org/rows-7b is not a local folder and is not a \nvalid model identifier listed on https://huggingface.co/models',
    'model_access',
    {},
  ],
  [
    'a repository without an owner',
    'huggingface_hub.errors.RepositoryNotFoundError: 404 Client Error.\nRepository Not Found for url: https://huggingface.co/rows-small/resolve/main/config.json.',
    'model_access',
    { path: 'rows-small' },
  ],
  [
    'Ray: the node of the owner',
    "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\nThe actor is dead because its owner has died. Worker exit detail: Owner's node has crashed.",
    'job_killed',
    { pattern: 'node_failed' },
  ],
  [
    'a tensor handed out by a worker that is gone',
    traceback('FileNotFoundError: [Errno 2] No such file or directory', 'for batch in loader:', below('multiprocessing/resource_sharer.py')),
    'worker_died',
    {},
  ],
  [
    'whole numbers',
    traceback('RuntimeError: linalg.norm: Expected a floating point or complex tensor as input. Got Long'),
    'dtype_mismatch',
    { found: 'Long' },
  ],
  [
    'a model on two kinds of devices',
    traceback("ValueError: DistributedDataParallel's input module must be on the same type of devices, but input module parameters locate in {'cpu', 'cuda'}."),
    'device_mismatch',
    { frame: 'fit.py:31' },
  ],
  [
    'extensions of PyTorch for another CUDA',
    traceback(
      'RuntimeError: Detected that PyTorch and torchrows were compiled with different CUDA versions. PyTorch has CUDA version 12.4 whereas torchrows has CUDA version 11.8.',
    ),
    'cuda_version_mismatch',
    { exception: 'RuntimeError' },
  ],
])('%s', (_, text, kind, facts) => {
  const fault = first(text)
  expect(fault?.kind).toBe(kind)
  expect(fault?.facts).toMatchObject(facts)
})

test.each<readonly [name: string, text: string, kind: LogKind, said: RegExp]>([
  [
    'a stream of C++',
    "terminate called after throwing an instance of 'std::ios_base::failure'\n  what():  basic_ios::clear: iostream error\nAborted",
    'aborted',
    /file could not be opened/,
  ],
  [
    'a checkpoint on a full disk',
    traceback('RuntimeError: basic_ios::clear: iostream error', 'torch.save(net, path)'),
    'disk_full',
    /could not write a checkpoint/,
  ],
  [
    'a newer glibc',
    'ImportError: /opt/env/lib/librows.so.2: undefined symbol: __libc_single_threaded',
    'missing_dependency',
    /librows\.so\.2 was built on a newer distribution[^]*ldd --version/,
  ],
  ['the loader ends a program', './fit: symbol lookup error: ./fit: undefined symbol: mkl_rows', 'missing_dependency', /fit is there[^]*mkl_rows/],
  [
    'an older runtime of CUDA',
    'ImportError: /opt/env/torch/lib/libtorch_cuda.so: undefined symbol: cudaLaunchKernelExC, version libcudart.so.11.0',
    'cuda_library_missing',
    /older CUDA runtime \(libcudart\) comes first[^]*grep -i "cudart"/,
  ],
  [
    'a package that is a folder',
    "ImportError: cannot import name 'Rows' from 'rowlib' (unknown location)",
    'missing_dependency',
    /without an __init__\.py[^]*rowlib\.__path__/,
  ],
  ['a folder that torch.save does not make', traceback('RuntimeError: Parent directory out/runs/3 does not exist.'), 'file_missing', /mkdir -p out\/runs\/3/],
  [
    'a setting that Hydra does not have',
    "Could not override 'net.rows'.\nTo append to your config use +net.rows=4",
    'config_error',
    /plus sign[^]*\+net\.rows=<VALUE>/,
  ],
  ['Git LFS', "_pickle.UnpicklingError: invalid load key, 'v'.", 'checkpoint_mismatch', /pointer of Git LFS[^]*git lfs pull/],
  ['a page', "_pickle.UnpicklingError: invalid load key, '<'.", 'checkpoint_mismatch', /page of HTML/],
  ['a text taken for a dict', traceback('TypeError: string indices must be integers', "print(row['name'])"), 'python_exception', /row is a text, not a dict/],
  [
    'a call that lacks an argument',
    traceback("TypeError: step() missing 1 required positional argument: 'metrics'", 'step()'),
    'python_exception',
    /Give metrics in that call/,
  ],
  [
    'a method on its class',
    traceback("TypeError: Net.run() missing 1 required positional argument: 'self'", 'Net.run()'),
    'python_exception',
    /make an object first, Net\(…\)/,
  ],
  ['LSF has commands of its own', 'Job <fit> was submitted to LSF\nTERM_RUNLIMIT: job killed after reaching LSF run time limit.', 'time_limit', /bsub -W/],
  ['PBS has commands of its own', '=>> PBS: job killed: walltime 372 exceeded limit 360', 'time_limit', /qsub -l walltime/],
  ['a CPU without the instruction', 'Illegal instruction (core dumped)', 'aborted', /instruction that this CPU does not have(?![^]*lines just above)/],
  [
    'a label out of range, printed late',
    `${traceback('RuntimeError: CUDA error: device-side assert triggered')}\n\n\n\n\n\n../src/NLLLoss.cu:105: row_kernel: block: [0,0,0], thread: [0,0,0] Assertion \`t >= 0 && t < n_classes\` failed.`,
    'illegal_memory_access',
    /label is out of range/,
  ],
  [
    'a rank of MPI that lost another',
    '[r1:402] An MPI communication peer process has unexpectedly disconnected.  This\nusually indicates a failure in the peer process\n\n  Local host: r1\n  Peer host:  r2',
    'worker_died',
    /ranks on r2/,
  ],
  [
    'a chain whose first half was cut off',
    `The above exception was the direct cause of the following exception:\n\n${traceback('ValueError: rows of two kinds')}`,
    'python_exception',
    /ValueError: rows of two kinds/,
  ],
  [
    'a tensor that could not be copied',
    traceback(
      'RuntimeError: While copying the parameter named net.rows.weight, whose dimensions in the model are torch.Size([5, 6]) and whose dimensions in the checkpoint are torch.Size([7, 6]).',
    ),
    'checkpoint_mismatch',
    /net\.rows\.weight is \[7, 6\] in the checkpoint and \[5, 6\] in the model/,
  ],
  [
    'a number of CUDA in brackets',
    traceback('Exception: Error waiting for rows: CUDA error (700) at /src/Rows.cpp:11'),
    'illegal_memory_access',
    /A kernel read or wrote memory/,
  ],
  [
    'CUDA inside NCCL, as JAX says it',
    'jaxlib.xla_extension.XlaRuntimeError: INTERNAL: NCCL operation ncclGroupEnd() failed: unhandled cuda error',
    'nccl_error',
    /A CUDA call inside NCCL failed/,
  ],
  [
    'a library that gave torch the tensor',
    'Traceback (most recent call last):\n  File "/env/lib/python3.11/site-packages/torch/nn/modules/module.py", line 50, in _call_impl\n    return forward_call(*args)\n  File "/env/lib/python3.11/site-packages/rowlib/rows.py", line 5, in forward\n    return self.linear(rows)\nRuntimeError: Expected all tensors to be on the same device, but found at least two devices, cpu and cuda:0!',
    'device_mismatch',
    /input or rowlib is at fault/,
  ],
  [
    'a tensor of TensorFlow 1 on the CPU',
    `${traceback('tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,384]')}\n\t [[Node: rows/sub = Sub[T=DT_FLOAT, _device="/job:w/replica:0/task:0/cpu:0"]]`,
    'host_memory',
    /\[64,384\] in host memory/,
  ],
  [
    'a tensor of TensorFlow 1 on the GPU',
    `${traceback('tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,384]')}\n\t [[Node: rows/sub = Sub[T=DT_FLOAT, _device="/job:w/replica:0/task:0/gpu:0"]]`,
    'cuda_oom',
    /on GPU 0/,
  ],
])('%s: %s', (_, text, kind, said) => {
  const { kind: found, all } = answer(text)
  expect(found).toBe(kind)
  expect(all).toMatch(said)
})

const CRASH = `step 11\n${traceback("KeyError: 'rows'")}\n`
test.each([
  ['cat -n', (line: string, at: number) => `${String(at + 9).padStart(6)}\t${line}`],
  ['a pager', (line: string, at: number) => `${String(at + 1).padStart(4)}  ${line}`],
  ['a bar', (line: string, at: number) => `${at + 97} | ${line}`],
  ['grep -n', (line: string, at: number) => `${at + 41}:${line}`],
  ['a mail', (line: string) => `> ${line}`],
  ['srun --label', (line: string) => ` 3: ${line}`],
  ['blanks', (line: string) => `    ${line}`],
])('a log comes out of %s', (_, put) => {
  const bare = answer(CRASH)
  expect(bare.kind).toBe('python_exception')
  expect(answer(CRASH.split('\n').map(put).join('\n')).all).toContain("KeyError: 'rows'")
  expect(answer(CRASH.split('\n').map(put).join('\n')).kind).toBe(bare.kind)
})
test('an abort with the number of its task, a kill with its service', () => {
  expect(answer(' 3: step 11\n 3: double free or corruption (out)\n 3: Aborted (core dumped)').kind).toBe('aborted')
  expect(answer('trainer-1  | step 11\ntrainer-1  | Killed').kind).toBe('host_oom_kill')
  expect(answer('step 11\nKilled  ').kind).toBe('host_oom_kill')
})
test('numbers that do not count lines stay', () => {
  expect(answer('1: 0.52\n2: 0.48\n4: 0.44\nValueError: rows of two kinds').all).toContain('rows of two kinds')
})
test('a line of source that lost its indentation is no exception', () => {
  const lines = traceback('RuntimeError: rows of two kinds', 'handler.close(number)')
    .split('\n')
    .map((line) => line.trimStart())
  expect(answer(lines.join('\n')).all).toMatch(/RuntimeError: rows of two kinds/)
})

test('nothing is printed in a line that Python could not read', () => {
  const { all } = answer('  File "fit.py", line 3\n    loss = f(, rows)\n             ^\nSyntaxError: invalid syntax')
  expect(all).toMatch(/Open fit\.py:3/)
  expect(all).not.toMatch(/print\(|debugger/)
})

test('what a program logs and goes on without does not lead over its own exception', () => {
  const logged = 'INFO:root:no ranks: The server socket has failed to bind to [::]:4011 (errno: 98 - Address already in use).'
  expect(answer(`${logged}\n${traceback("KeyError: 'rows'")}`).kind).toBe('python_exception')
  expect(answer(`${logged}\n${traceback('ValueError: Default process group has not been initialized')}`).kind).toBe('port_in_use')
})
