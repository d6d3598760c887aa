// Ends in logs of solvers, own loops and other platforms that no test had named, and what is none.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Facts } from '../../../agent/model/facts.ts'
import type { LogKind } from '../../../agent/model/kinds.ts'

const first = (text: string) => explainText(logScanner(), text)[0]
/** Lines of a loop that are as long as each other, and end within a word. */
const loop = (at: number): string => `epoch   0 | batch   ${at}00 | examples/s:  12.5 | loss: 0.2500${at} | time elapsed: 00h0${at}m38s`

const traceback = (error: string): string =>
  ['Traceback (most recent call last):', '  File "/w/fit.py", line 44, in <module>', '    step(x, y)', error].join('\n')

test.each<readonly [name: string, text: string, kind: LogKind, facts: Facts]>([
  ['a word of the shell below lines of one length', `${loop(1)}\n${loop(2)}\nTerminated`, 'job_killed', { signal: 'SIGTERM' }],
  ['the same below one that is wrapped nowhere', `${loop(1)}\n${loop(2)}\n${loop(3)}\nKilled`, 'host_oom_kill', { signal: 'SIGKILL' }],
  [
    'a panic without its thread, and the code of Windows',
    "panicked at C:\\Users\\u\\.cargo\\registry\\src\\index.crates.io-0011\\gfx-1.0.1\\src\\core.rs:77:18:\n\nthread panicked while processing panic. aborting.\nerror: process didn't exit successfully: `target\\release\\fit.exe` (exit code: 0xc0000409, STATUS_STACK_BUFFER_OVERRUN)",
    'aborted',
    { signal: 'SIGABRT' },
  ],
  [
    "zsh's word for an abort",
    "thread '<unnamed>' panicked at src/id.rs:12:18:\ninternal error: entered unreachable code\nzsh: IOT instruction  ./build/fit",
    'aborted',
    { signal: 'SIGABRT' },
  ],
  [
    "HDF5's stack, in a solver",
    'IO: writing data for time = 0.2 file = rho_02.h5\nHDF5-DIAG: Error detected in HDF5 (1.8.17) MPI-process 3:\n  #000: H5D.c line 194 in H5Dcreate2(): unable to create dataset\n    major: Dataset\n    minor: Unable to initialize object\n  #001: H5Dint.c line 455 in H5D__create_named(): unable to create and link to dataset',
    'storage_error',
    {},
  ],
  [
    "HDF5's stack ends with what the system said",
    "HDF5-DIAG: Error detected in HDF5 (1.12.1) thread 0:\n  #000: H5F.c line 532 in H5Fopen(): unable to open file\n    major: File accessibilty\n    minor: Unable to open file\n  #001: H5FD.c line 721 in H5FD_open(): open failed\n    major: Virtual File Layer\n    minor: Unable to initialize object\n  #002: H5FDsec2.c line 352 in H5FD_sec2_open(): unable to open file: name = '/d/rows.h5', errno = 116, error message = 'Stale file handle', flags = 0, o_flags = 0\n    major: File accessibilty",
    'storage_error',
    { errno: 116, path: '/d/rows.h5' },
  ],
  [
    "h5py's message alone",
    "\"Unable to open object (file read failed: time = Mon Oct  9 10:52:03 2031\\n, filename = '/d/rows.h5', file descriptor = 24, errno = 5, error message = 'Input/output error', buf = 0x7770, total read size = 512, offset = 0)\"",
    'storage_error',
    { errno: 5, path: '/d/rows.h5' },
  ],
  [
    "the state of Kubeflow's job",
    '  Message:               TFJob fit has failed because 1 Worker replica(s) failed.\n    Reason:                TFJobFailed\n    Status:                True',
    'job_failed',
    {},
  ],
  [
    'Slurm, its line wrapped before the reason',
    'fit started\nslurmstepd: error: *** JOB 38193 ON n33 CANCELLED AT 2031-07-02T16:35:48\nDUE TO TIME LIMIT ***',
    'time_limit',
    { job_id: 38193 },
  ],
  [
    "Cray's compiler",
    'ftn-2116 ftn: INTERNAL  \n  "/opt/cray/bin/optcg" was terminated due to receipt of signal 07:  Bus error (core dumped).',
    'bus_error',
    { signal: 'SIGBUS' },
  ],
  [
    "Paddle's launcher",
    'ERROR 2031-12-12 04:02:41,061 launch.py:269] ABORT!!! Out of all 4 trainers, the trainer process with rank=[0, 2] was aborted. Please check its log.',
    'job_failed',
    {},
  ],
  [
    'Orbax: trees that do not match',
    'Traceback (most recent call last):\n  File "/w/eval.py", line 88, in restore\n    state = ckptr.restore(path, item=state)\nValueError: User-provided restore item and on-disk value metadata tree structures do not match: {}',
    'checkpoint_mismatch',
    { pattern: 'keys', frame: 'eval.py:88' },
  ],
  [
    'JAX: types',
    traceback(
      'TypeError: dot_general requires equal dtypes, got float32 and bfloat16. (Tip: jnp.dot is a similar function that does automatic type promotion on inputs).',
    ),
    'dtype_mismatch',
    { expected: 'float32', found: 'bfloat16', frame: 'fit.py:44' },
  ],
  [
    'JAX: devices',
    traceback(
      'ValueError: Received incompatible devices for jitted computation. Got argument x of step with shape float32[8] and device ids [0] on platform GPU and argument y of step with shape float32[8] and device ids [1] on platform GPU',
    ),
    'device_mismatch',
    { frame: 'fit.py:44' },
  ],
  [
    'TensorFlow: types',
    traceback(
      'tensorflow.python.framework.errors_impl.InvalidArgumentError: cannot compute MatMul as input #1(zero-based) was expected to be a float tensor but is a double tensor [Op:MatMul]',
    ),
    'dtype_mismatch',
    { expected: 'float', found: 'double' },
  ],
  [
    'Paddle: shapes',
    traceback(
      "ValueError: (InvalidArgument) The shape of input[0] and input[1] is expected to be equal. But received input[0]'s shape = [4, 64, 31, 31], input[1]'s shape = [4, 64, 32, 32].",
    ),
    'shape_mismatch',
    {},
  ],
  [
    'MXNet: shapes',
    traceback('mxnet.base.MXNetError: Error in operator conv0: Shape inconsistent, Provided = [64,3,7,7], inferred shape=(64,1,7,7)'),
    'shape_mismatch',
    {},
  ],
  [
    "a file behind a check of Caffe's",
    'F0501 10:00:00.123456  1234 io.cpp:36] Check failed: fd != -1 (-1 vs. -1) File not found: models/net/fit.prototxt\n*** Check failure stack trace: ***\nAborted (core dumped)',
    'file_missing',
    { path: 'models/net/fit.prototxt' },
  ],
  [
    'Keras: another number of layers',
    traceback('ValueError: Layer count mismatch when loading weights from file. Model expected 10 layers, found 12 saved layers.'),
    'checkpoint_mismatch',
    { pattern: 'keys' },
  ],
  [
    'Keras: weights of another size',
    traceback(
      'ValueError: Shape mismatch in layer #2 (named dense_1) for weight dense_1/kernel. Weight expects shape (128, 10). Received saved weight with shape (128, 12)',
    ),
    'checkpoint_mismatch',
    { pattern: 'sizes' },
  ],
  [
    'MindSpore: weights of another size',
    traceback(
      "RuntimeError: For 'load_param_into_net', head.weight in the argument 'net' should have the same shape as head.weight in the argument 'parameter_dict'. But got its shape (10, 512) in the argument 'net' and shape (1000, 512) in the argument 'parameter_dict'.",
    ),
    'checkpoint_mismatch',
    { pattern: 'sizes' },
  ],
  [
    "tyro's box",
    '╭─ Unrecognized options ───────────────────╮\n│ Unrecognized options: --pipeline.model.foo │\n│ ────────────────────────────────────────── │\n│ For full helptext, run fit --help          │\n╰────────────────────────────────────────────╯',
    'config_error',
    {},
  ],
])('%s', (_, text, kind, facts) => {
  expect(first(text)).toMatchObject({ kind, facts })
})

test('a program that asks HDF5 for what is not there goes on', () => {
  const text =
    "HDF5-DIAG: Error detected in HDF5 (1.10.1) thread 0:\n  #000: H5Adeprec.c line 306 in H5Aopen_name(): unable to load attribute info from object header for attribute: 'units'\n    major: Attribute\n    minor: Unable to initialize object\nstep 1 loss 0.5\nstep 2 loss 0.4"
  expect(explainText(logScanner(), text)).toEqual([])
})
