// Ends that their program, shell or scheduler words in its own way: Hydra, shells' other signals, reports of PBS and Grid Engine, Horovod, scripts that do not begin.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faultsOf = (...lines: readonly string[]) => explainText(logScanner(), `${lines.join('\n')}\n`)
const first = (...lines: readonly string[]) => faultsOf(...lines)[0]
const SEE_ALL = 'Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.'

describe('Hydra without the names of its exceptions', () => {
  test.each([
    [
      ["Error executing job with overrides: ['seed=1']", "Error locating target 'nets.unet.Small', see chained exception above.", 'full_key: net', '', SEE_ALL],
      /import nets\.unet/,
    ],
    [["Key 'sweep_dir' not in 'JobConf'", '    full_key: hydra.job.sweep_dir', '', SEE_ALL], /hydra-core/],
    [["In 'main': Could not find 'net/huge'", '', "Available options in 'net':", '\tsmall', '', SEE_ALL], /net\/huge\.yaml/],
    [['Primary config directory not found.', "Check that the config directory '/job/conf' exists and readable"], /config_path/],
    [["You must specify 'store', e.g, store=<OPTION>", 'Available options:', '\tlocal'], /store=<OPTION>/],
    [["Interpolation key 'paths.root' not found", '    full_key: data.dir', '', SEE_ALL], /paths\.root=<VALUE>/],
  ])('%o', (lines, advice) => {
    const fault = first(...lines)
    expect(fault?.kind).toBe('config_error')
    expect(fault?.remedies.map(({ text, command }) => `${text} ${command ?? ''}`).join('\n')).toMatch(advice)
  })

  test('the missing module is named where the text has it', () => {
    const fault = first(
      "ModuleNotFoundError: No module named 'lmdb'",
      '',
      'The above exception was the direct cause of the following exception:',
      '',
      'Traceback (most recent call last):',
      '  File "/job/fit.py", line 21, in main',
      '    net = instantiate(cfg.net)',
      "hydra.errors.InstantiationException: Error locating target 'nets.unet.Small', set env var HYDRA_FULL_ERROR=1 to see chained exception.",
    )
    expect(fault).toMatchObject({ kind: 'missing_dependency', facts: { module: 'lmdb', frame: 'fit.py:21' } })
  })
})

test.each([
  [['step 40 loss 1.2', 'User defined signal 2'], { signal: 'SIGUSR2' }],
  [['/var/spool/slurmd/job71/slurm_script: line 9: 40123 User defined signal 1   python fit.py'], { signal: 'SIGUSR1', pid: 40123 }],
  [['srun: error: node7: task 3: User defined signal 2'], { signal: 'SIGUSR2', rank: 3 }],
  [['waiting for the lock', 'Alarm clock'], { signal: 'SIGALRM' }],
  [['PBS Job Id: 4711.head.local', 'Job Name:   fold', 'Execution terminated', 'Exit_status=271'], { signal: 'SIGTERM', job_id: 4711 }],
  [['Job 812 (fold) Aborted', ' Exit Status      = 137', ' Signal           = KILL'], { signal: 'SIGKILL', job_id: 812 }],
])('ended by a signal: %o', (lines, facts) => {
  expect(first(...lines)).toMatchObject({ kind: 'job_killed', facts })
})

test.each([
  [['PBS Job Id: 4711.head.local', 'Job Name:   fold', 'Aborted by PBS Server', 'Job exceeded its walltime limit. Job was aborted', 'Exit_status=-11'], 4711],
  [['PBS Job Id: 26.head', 'job deleted', 'MOAB_INFO:  job exceeded wallclock limit'], 26],
  [['Job ID: 555', 'Cluster: c', 'State: TIMEOUT (exit code 0)', 'Nodes: 1'], 555],
])('a report of a time limit names its job: %o', (lines, job) => {
  expect(first(...lines)).toMatchObject({ kind: 'time_limit', facts: { job_id: job } })
})

describe('an error below a warning of the driver', () => {
  const warning =
    '/opt/py/lib/python3.12/site-packages/torch/cuda/__init__.py:141: UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver. (Triggered internally at ../c10/cuda/CUDAFunctions.cpp:108.)'
  const raised = (message: string): readonly string[] => [
    'Traceback (most recent call last):',
    '  File "/job/fit.py", line 12, in <module>',
    '    fit(rows)',
    '  File "/job/solve.py", line 40, in fit',
    '    return rows[0][:, None]',
    message,
  ]
  test('leads where it is about something else', () => {
    expect(faultsOf(warning, ...raised('TypeError: list indices must be integers or slices, not tuple')).map(({ kind }) => kind)).toEqual([
      'python_exception',
      'cuda_version_mismatch',
    ])
  })
  test('follows where the program ended for want of a GPU', () => {
    expect(first(warning, ...raised('ValueError: this job needs 2 GPUs'))?.kind).toBe('cuda_version_mismatch')
  })
})

test('the last run of a script counts, also after one that Python could not read', () => {
  const fault = first(
    '  File "/job/make.py", line 71',
    '    rows = torchify(rows)',
    '    ^',
    'SyntaxError: invalid syntax',
    'Traceback (most recent call last):',
    '  File "/job/make.py", line 3, in <module>',
    '    from parts.pdb import Pdb',
    "ModuleNotFoundError: No module named 'parts'",
  )
  expect(fault).toMatchObject({ kind: 'missing_dependency', facts: { frame: 'make.py:3', exception: 'ModuleNotFoundError' } })
})

test('a rank of Horovod that is gone', () => {
  const said =
    'W tensorflow/core/framework/op_kernel.cc:1318] OP_REQUIRES failed at mpi_ops.cc:422 : Aborted: Horovod has been shut down. This was caused by an exception on one of the ranks.'
  const box = ['Primary job  terminated normally, but 1 process returned', 'a non-zero exit code. Per user-direction, the job has been aborted.']
  expect(first(...box, `2031-02-03 06:41:52.525932: ${said}`)?.kind).toBe('worker_died')
  expect(first(...box)?.kind).toBe('job_failed')
})

test.each([
  ["Error: Invalid value for '--plan' / '-p': 'conf/plan.yml': No such file or directory", 'config_error', 'conf/plan.yml'],
  ["Error: Invalid value for '--plan': Path 'conf/plan.yml' does not exist.", 'config_error', 'conf/plan.yml'],
  ["FileExistsError: [Errno 17] File exists: 'runs/first'", 'python_exception', 'runs/first'],
  ['tensorflow.python.framework.errors_impl.NotFoundError: /data/rows.tfrecord; No such file or directory', 'file_missing', '/data/rows.tfrecord'],
])('the path: %s', (line, kind, path) => {
  expect(first('Traceback (most recent call last):', '  File "/job/fit.py", line 12, in <module>', '    fit(rows)', line)).toMatchObject({
    kind,
    facts: { path },
  })
})

test('a script in the bin folder of a project is its user’s, one of an environment is not', () => {
  const from = (file: string) =>
    first('Traceback (most recent call last):', `  File "${file}", line 23, in <module>`, '    run()', "KeyError: 'rows'")?.facts.frame
  expect(from('/home/ana/fold/bin/fold.py')).toBe('fold.py:23')
  expect(from('/home/ana/.local/bin/fold.py')).toBeUndefined()
  expect(from('/opt/conda/envs/fold/bin/fold-train')).toBeUndefined()
})

test('quotation marks of a word processor, and the border of a box', () => {
  expect(first(' File “fold/run.py”, line 179, in main', '   go()', "KeyError: 'rows'")?.facts.frame).toBe('run.py:179')
  expect(first('╭─ Error ──────────────╮', "│ Missing argument 'plan'.                 │", '╰──────────────────────╯')?.verdict).toContain(
    `"Missing argument 'plan'."`,
  )
})

describe('errors of a launcher', () => {
  const BAR = '='.repeat(60)
  const alone = 'torch.distributed.elastic.multiprocessing.errors.ChildFailedError: '
  test.each([[[alone]], [[alone, BAR, 'fit.py FAILED']], [[alone, BAR, 'fit.py FAILED', '-'.repeat(60), 'Failures:', '[1]:']]])(
    'torchrun without the rows of its table: %o',
    (lines) => {
      expect(first(...lines)).toMatchObject({ kind: 'job_failed', facts: { exception: 'ChildFailedError' } })
    },
  )

  test('the signal of one rank is not told beside the error of another', () => {
    const fault = first(
      '[rank0]: Traceback (most recent call last):',
      '[rank0]:   File "/job/fit.py", line 12, in <module>',
      '[rank0]:     fit(rows)',
      "[rank0]: KeyError: 'rows'",
      alone,
      BAR,
      'fit.py FAILED',
      '-'.repeat(60),
      'Root Cause (first observed failure):',
      '[0]:',
      '  time      : 2031-01-01_10:00:00',
      '  host      : node1',
      '  rank      : 1 (local_rank: 1)',
      '  exitcode  : -15 (pid: 471)',
      '  traceback : Signal 15 (SIGTERM) received by PID 471',
    )
    expect(fault).toMatchObject({ kind: 'python_exception', facts: { rank: 0, exception: 'KeyError', frame: 'fit.py:12' } })
    expect(fault?.facts).not.toHaveProperty('signal')
    expect(fault?.facts).not.toHaveProperty('pid')
    expect(fault?.facts).not.toHaveProperty('exit_code')
  })
})

describe('a compiler', () => {
  test.each([
    ["subprocess.CalledProcessError: Command '['/usr/bin/gcc', '/tmp/tmp1/main.c', '-O3', '-I/opt/conda/inc", {}],
    ["subprocess.CalledProcessError: Command '['ninja', '-v']' returned non-zero exit status 255.", { exit_code: 255 }],
    ['E0305 20:23:38.890000 755 site-packages/torch/_inductor/runtime/triton_heuristics.py:533] Triton compilation failed: triton_poi_fused_0', {}],
  ])('%s', (line, facts) => {
    expect(first(line)).toMatchObject({ kind: 'compile_error', facts })
  })

  test('is not every program', () => {
    expect(first("subprocess.CalledProcessError: Command '['/usr/bin/python3', 'fit.py']' returned non-zero exit status 1.")?.kind).not.toBe('compile_error')
  })
})

describe('a loss without a name', () => {
  const bare = (...values: readonly string[]): readonly string[] => values.map((value) => `tensor(${value}, device='cuda:0', grad_fn=<NllLossBackward0>)`)
  test('is gone after three in a row', () => {
    expect(first(...bare('2.31', '2.2', 'nan', 'nan', 'nan'))?.kind).toBe('nan_loss')
  })
  test.each([[['2.31', 'nan', 'nan']], [['nan', 'nan', 'nan']], [['2.3', 'nan', 'nan', 'nan', '2.2']]])(
    'is none where it came back or was never there: %o',
    (values) => {
      expect(first(...bare(...values))).toBeUndefined()
    },
  )
})

test.each([
  [['step 3', '**Killed**'], 'job_killed'],
  [['Traceback (most recent call last):', 'File "fit.py", line 20, in main', 'serve()', '**RuntimeError: Address already in use**'], 'port_in_use'],
  [
    [
      'Traceback (most recent call last):',
      '  File "fit.py", line 88, in <module>',
      '    run(merged)',
      'tensorflow.python.framework.errors_impl.InvalidArgumentError: Nan in summary histogram for: conv1/weights',
    ],
    'nan_loss',
  ],
])('%o', (lines, kind) => {
  expect(first(...lines)?.kind).toBe(kind)
})

test('a label that the output layer does not have', () => {
  const fault = first('IndexError: Target 7 is out of bounds.')
  expect(fault?.verdict).toContain('A label is 7')
  expect(fault?.remedies[0]?.text).toContain('more than 7 classes')
  expect(first('IndexError: Target -1 is out of bounds.')?.remedies[0]?.text).toContain('ignore_index=-1')
})
