// Which of several errors in one log ended the job: that of the last run, of the program rather than of its batch script, of the rank that failed first.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faultsOf = (...lines: readonly string[]) => explainText(logScanner(), `${lines.join('\n')}\n`)
const uncaught = (file: string, line: number, error: string, rank = ''): readonly string[] =>
  ['Traceback (most recent call last):', `  File "/srv/job/${file}", line ${line}, in <module>`, '    main()', error].map((text) => `${rank}${text}`)

describe('several runs in one log', () => {
  test('the last run of the same script counts', () => {
    const [first] = faultsOf(
      ...uncaught('fit.py', 30, "TypeError: 'int' object is not iterable"),
      'module gcc loaded',
      ...uncaught('fit.py', 31, "KeyError: 'mask'"),
    )
    expect(first?.facts).toMatchObject({ exception: 'KeyError', frame: 'fit.py:31' })
  })
  test('what another process leaves behind is none', () => {
    const [first] = faultsOf(
      ...uncaught('fit.py', 30, "KeyError: 'mask'"),
      'rank 1 ends',
      ...uncaught('fit.py', 8, 'ConnectionResetError: [Errno 104] Connection reset by peer'),
    )
    expect(first?.facts).toMatchObject({ exception: 'KeyError', frame: 'fit.py:30' })
  })
})

describe('a line of the batch script', () => {
  const lmod = ['Lmod has detected the following error: The following module(s) are unknown:', '"cudnn/8"']
  test('does not explain what its program failed by later', () => {
    const [first] = faultsOf(...lmod, ...uncaught('query.py', 9, 'requests.exceptions.ReadTimeout: the server did not answer'))
    expect(first).toMatchObject({ kind: 'network_error', facts: { exception: 'ReadTimeout', frame: 'query.py:9' } })
    expect(first?.facts).not.toHaveProperty('module')
  })
  test('explains a module that its program does not find', () => {
    const [first] = faultsOf(...lmod, ...uncaught('query.py', 9, "ModuleNotFoundError: No module named 'torch'"))
    expect(first?.kind).toBe('missing_dependency')
  })
})

test('of ranks that fail alike the one that the launcher names', () => {
  const [first] = faultsOf(
    ...uncaught('fit.py', 30, "KeyError: 'mask'", '[rank2]: '),
    ...uncaught('fit.py', 30, "KeyError: 'mask'", '[rank0]: '),
    'torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ',
    'Root Cause (first observed failure):',
    '[0]:',
    '  rank      : 0 (local_rank: 0)',
    '  exitcode  : 1 (pid: 4711)',
  )
  expect(first?.facts).toMatchObject({ rank: 0, pid: 4711, exit_code: 1, exception: 'KeyError' })
})

describe('native code', () => {
  test('TCMalloc ends its process, whatever a bar still writes', () => {
    const lines = [
      '40/90 [=====>....] - ETA: 3:10 - loss: 0.41src/tcmalloc.cc:283] Attempt to free invalid pointer 0x55d0c0de',
      '41/90 [=====>....] - ETA: 3:09 - loss: 0.40',
    ]
    expect(faultsOf(...lines)[0]?.kind).toBe('aborted')
  })
})

describe('what a package warns of itself', () => {
  const warning =
    '/opt/env/lib/python3.12/site-packages/bitsandbytes/cextension.py:34: UserWarning: The installed version of bitsandbytes was compiled without GPU support.'
  test('is no fault of a job at work, nor by itself', () => {
    expect(faultsOf(warning, 'step 10 loss 2.31', 'step 20 loss 2.11')).toEqual([])
    expect(faultsOf(warning)).toEqual([])
  })
  test('explains what failed below it', () => {
    const kinds = faultsOf(warning, ...uncaught('load.py', 3, "AttributeError: 'NoneType' object has no attribute 'cquantize_blockwise_fp16_nf4'")).map(
      ({ kind }) => kind,
    )
    expect(kinds[0]).toBe('bitsandbytes_setup')
  })
})

test('semaphores lie in shared memory', () => {
  const [first] = faultsOf(
    'Traceback (most recent call last):',
    '  File "/srv/job/fit.py", line 12, in <module>',
    '    lock = multiprocessing.Semaphore()',
    '  File "/usr/lib/python3.12/multiprocessing/synchronize.py", line 57, in __init__',
    '    sl = self._semlock = _multiprocessing.SemLock(',
    'OSError: [Errno 28] No space left on device',
  )
  expect(first?.remedies.map(({ command }) => command).join()).toContain('/dev/shm')
})

test("libsndfile's file is missing", () => {
  const [first] = faultsOf(...uncaught('say.py', 4, "soundfile.LibsndfileError: Error opening 'data/a.wav': System error."))
  expect(first).toMatchObject({ kind: 'file_missing', facts: { path: 'data/a.wav' } })
})

describe('files of a model', () => {
  test('are missing where its folder is there', () => {
    const [first] = faultsOf(
      ...uncaught(
        'serve.py',
        8,
        "OSError: /data/models/arm does not appear to have a file named config.json. Checkout 'https://huggingface.co//data/models/arm/tree/None' for available files.",
      ),
    )
    expect(first).toMatchObject({ kind: 'file_missing', facts: { path: '/data/models/arm/config.json' } })
  })
  test('of a repository are for its hub', () => {
    const [first] = faultsOf(
      ...uncaught(
        'serve.py',
        8,
        "OSError: acme/arm-7b does not appear to have a file named config.json. Checkout 'https://huggingface.co/acme/arm-7b/tree/main' for available files.",
      ),
    )
    expect(first?.kind).toBe('model_access')
  })
})

test('a check names what it expects before it says what came', () => {
  const lines = [
    "terminate called after throwing an instance of 'dmlc::Error'",
    '  what():  src/storage/gpu.h:39: Check failed: e == cudaSuccess || e == cudaErrorCudartUnloading CUDA: out of memory',
  ]
  expect(faultsOf(...lines)[0]?.kind).toBe('cuda_oom')
  const other = faultsOf(...lines.map((line) => line.replace('out of memory', 'invalid configuration argument')))
  expect(other.map(({ verdict }) => verdict).join()).not.toContain('already ending')
})

test('pytest says what it could not import', () => {
  const [first] = faultsOf(
    '_____ ERROR collecting tests/test_fit.py _____',
    'tests/test_fit.py:3: in <module>',
    '    import fitting',
    "E   ModuleNotFoundError: No module named 'fitting'",
  )
  expect(first).toMatchObject({ kind: 'missing_dependency', facts: { module: 'fitting' } })
})

describe('a command that fails again and again', () => {
  const failing = (done: number): string =>
    `Importing:   1%|          | ${done}/900 [00:${done}<05:00,  1.00it/s]Error: Command '['gh', 'issue', 'close', '${done}']' returned non-zero exit status 1.`
  test('while the program goes on is no end', () => {
    expect(faultsOf(failing(10), failing(11), failing(12), failing(13))).toEqual([])
  })
  test('is one where it fails the first time', () => {
    expect(faultsOf("Error: Command '['gh', 'issue', 'close', '7']' returned non-zero exit status 1.")[0]?.kind).toBe('job_failed')
  })
})

test.each([
  ['only the code of an application that is run as it is: its deepest place', 'fooocus.py', '/srv/Fooocus/modules/worker.py', 'worker.py:41'],
  ['a package that is installed, too: none', 'x.py', '/venv/lib/python3.11/site-packages/gradio/blocks.py', undefined],
])('%s', (_, script, file, frame) => {
  const [first] = faultsOf(
    'Traceback (most recent call last):',
    `  File "/venv/lib/python3.11/site-packages/${script}", line 3, in run`,
    '    work()',
    `  File "${file}", line 41, in work`,
    '    return sizes[name]',
    "KeyError: 'large'",
  )
  expect(first?.facts).toMatchObject({ exception: 'KeyError' })
  expect(first?.facts['frame']).toBe(frame)
})
