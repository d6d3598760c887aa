// What a program got over, and what only looks as if it had: ports, imports, requests, bars that close, helpers that died. And what reports of an end name.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faultsOf = (...lines: readonly string[]) => explainText(logScanner(), `${lines.join('\n')}\n`)
const kinds = (...lines: readonly string[]): readonly string[] => faultsOf(...lines).map(({ kind }) => kind)
const raised = (error: string, file = '/srv/job/web.py'): readonly string[] => [
  'Traceback (most recent call last):',
  `  File "${file}", line 8, in draw`,
  error,
]

test.each(['Attempting port 4042.', 'trying another port.', 'using 4042 instead'])('a port that was taken is none where the program says: %s', (words) => {
  const taken = [
    '2031-02-03 04:05:06,007 WARN --- [main] own.Server: FAILED {0.0.0.0:4041}: java.net.BindException: Address already in use: bind',
    'java.net.BindException: Address already in use: bind',
  ]
  const goesOn = '2031-02-03 04:05:09,007 INFO --- [main] own.Server: reading part 3'
  expect(kinds(...taken, goesOn)).toEqual(['port_in_use'])
  expect(kinds(...taken, ...Array.from({ length: 40 }, (_, i) => `\tat own.net.Part${i}`), `WARN could not bind on port 4041, ${words}`, goesOn)).toEqual([])
})

describe('a package that warns while it is imported', () => {
  const warning = (file: string): string =>
    `/venv/lib/${file}.py:86: UserWarning: An issue occurred while importing 'own-scatter'. Disabling its usage. Stacktrace: /venv/own_scatter/_v.so: undefined symbol: _ZN5torch3jit4oldE`
  test('is no fault of its own', () => {
    expect(kinds(warning('graph'), 'fitting')).toEqual([])
  })
  test('does not stand beside what failed later', () => {
    expect(kinds(warning('graph'), 'step 1 loss 0.5', 'step 2 loss 0.4', ...raised("KeyError: 'mask'"))).toEqual(['python_exception'])
  })
  test('is reported where the import itself fails', () => {
    expect(kinds(...raised('ImportError: /venv/own_scatter/_v.so: undefined symbol: _ZN5torch3jit4oldE'))).toEqual(['missing_dependency'])
  })
})

describe('a request that failed', () => {
  const request = ['ERROR:    Exception in ASGI application', ...raised('RuntimeError: probability tensor contains either `inf`, `nan` or element < 0')]
  const closed = ['INFO:     Shutting down', 'INFO:     Application shutdown complete.', 'INFO:     Finished server process [41]']
  test('is none of a server that was closed in good order', () => {
    expect(kinds(...request, ...closed)).toEqual([])
  })
  test('is told while nothing shows that its server goes on', () => {
    expect(kinds(...request)).toEqual(['nan_loss'])
  })
  test('is no end of its server', () => {
    const [fault] = faultsOf('Internal Server Error: /draw', ...raised("KeyError: 'mask'"))
    expect(fault).toMatchObject({ kind: 'python_exception', severity: 'warning', facts: { frame: 'web.py:8' } })
    expect(fault?.verdict).toContain('A request failed')
  })
  test('and is told where its server then ends badly', () => {
    expect(kinds(...request, ...closed, 'srun: error: node7: task 0: Exited with exit code 3')).toEqual(['nan_loss'])
  })
})

describe('a bar behind a failure', () => {
  const bar = (done: number, loss: number): string => `Fitting:  ${done}%|##  | ${done}/100 [00:${done}<01:00, 1.00it/s, Loss=${loss}]`
  const full = raised(
    'torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 24.00 GiB total capacity; 20.00 GiB already allocated)',
  )
  test('is drawn once more where it closes', () => {
    expect(kinds(bar(10, 0.4), bar(20, 0.3), ...full, bar(21, 0.2))).toEqual(['cuda_oom'])
  })
  test('that moves on shows that the program does', () => {
    expect(kinds(bar(10, 0.4), bar(20, 0.3), ...full, bar(21, 0.2), bar(30, 0.1))).toEqual([])
  })
})

test('a helper that died by a signal is told with it, not the pipe to it', () => {
  const pipe = raised('ConnectionResetError: [Errno 104] Connection reset by peer', '/usr/lib/python3.12/multiprocessing/reduction.py')
  const [first] = faultsOf(
    ...pipe,
    'Traceback (most recent call last):',
    '  File "/venv/lib/python3.12/site-packages/torch/utils/data/_utils/signal_handling.py", line 73, in handler',
    '    _error_if_any_worker_fails()',
    'RuntimeError: DataLoader worker (pid 812) is killed by signal: Segmentation fault. ',
    '',
    'The above exception was the direct cause of the following exception:',
    '',
    ...raised('RuntimeError: DataLoader worker (pid(s) 812) exited unexpectedly'),
  )
  expect(first).toMatchObject({ kind: 'segfault', facts: { signal: 'SIGSEGV', pid: 812, exception: 'RuntimeError', frame: 'web.py:8' } })
  expect(kinds(...pipe)).toEqual(['worker_died'])
})

test("what TensorFlow's allocator refused is the error that it raises below its list", () => {
  const faults = faultsOf(
    'W tsl/framework/bfc_allocator.cc:501] Allocator (GPU_0_bfc) ran out of memory trying to allocate 20.00MiB (rounded to 20971520)requested by op AddV2',
    ...Array.from({ length: 60 }, (_, i) => `I tsl/framework/bfc_allocator.cc:1083] InUse at 7f00000${i} of size 256 next ${i}`),
    ...raised('tensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node own_device_/task:0/device:GPU:0}} failed to allocate memory'),
  )
  expect(faults).toMatchObject([{ kind: 'cuda_oom', facts: { exception: 'ResourceExhaustedError', frame: 'web.py:8', requested_bytes: 20_971_520 } }])
})

test('a task that hangs is not laid on storage where its trace names none', () => {
  const hangs = (...trace: readonly string[]): readonly string[] => [
    '[  500.000001] INFO: task own-writer:77 blocked for more than 120 seconds.',
    '[  500.000002] Call Trace:',
    ...trace.map((name) => `[  500.000003]  ${name}+0x10/0x20`),
  ]
  expect(faultsOf(...hangs('__schedule', 'mutex_lock', 'own_release'))[0]).toMatchObject({ kind: 'job_failed', severity: 'warning' })
  expect(faultsOf(...hangs('__schedule', 'io_schedule', 'xfs_file_read_iter'))[0]).toMatchObject({ kind: 'storage_error' })
})

test("TensorFlow's word on its import is told once, and not of PyTorch's programs", () => {
  const word = 'I external/local_xla/cudart_stub.cc:32] Could not find cuda drivers on your machine, GPU will not be used.'
  expect(faultsOf(word).map(({ title }) => title)).toEqual(['TensorFlow runs on the CPU'])
  expect(kinds(word, 'import torch', 'torch 2.9.0 on cuda:0')).toEqual([])
})

test("a compiler's place is the user's where the file is", () => {
  const build = (file: string) => faultsOf(`${file}:64:6: error: no match for 'operator[]'`, 'make: *** [own.o] Error 1')[0]
  expect(build('force/Field.H')).toMatchObject({ kind: 'compile_error', facts: { frame: 'Field.H:64' } })
  expect(build('/usr/lib/own/include/List.H')?.facts).not.toHaveProperty('frame')
})

test("Slurm's seff names the job whose end it tells", () => {
  const report = ['Job ID: 71501', 'Cluster: own', 'State: FAILED (exit code 1)', 'CPU Utilized: 00:00:02']
  expect(faultsOf(...raised("KeyError: 'mask'"), ...report)[0]).toMatchObject({ kind: 'python_exception', facts: { job_id: 71_501, exit_code: 1 } })
})

test("Matplotlib's folder is no model cache: it makes itself another one", () => {
  const failed = (path: string): string => `mkdir -p failed for path ${path}: [Errno 13] Permission denied: '${path}'`
  expect(kinds(failed('/home/own/.cache/matplotlib'), 'reading')).toEqual([])
  expect(kinds(failed('/home/own/.cache/huggingface'), 'reading')).toEqual(['cache_permission'])
})

describe('what healthy programs print', () => {
  test.each([
    [
      'who is logged in at W&B',
      'wandb: Currently logged in as: ada (team-x). Use `wandb login --relogin` to force relogin',
      'wandb: Tracking run with wandb version 0.13.4',
    ],
    ["git's answer to a tool that asks which commit it runs", 'scoring 64/64', 'fatal: not a git repository (or any of the parent directories): .git'],
    ['the same where the folder is another user’s', 'fatal: detected dubious ownership in repository at /work/own'],
    [
      'a request that failed and was answered',
      '[2031-02-03 04:05:06,007] ERROR in app: Exception on /draw [POST]',
      ...raised("KeyError: 'text'"),
      '10.0.0.4 - - [03/Feb/2031 04:05:06] "POST /draw HTTP/1.1" 500 -',
    ],
    ['the same of another server', 'Internal Server Error: /draw', ...raised("KeyError: 'text'"), '[03/Feb/2031 04:05:06] "GET /draw HTTP/1.1" 500 145'],
    [
      "a service of a user's desktop",
      ...['sshd', 'cron', 'NetworkManager', 'gdm', 'rtkit', 'polkitd'].map((unit) => `Feb 03 04:05:06 node7 ${unit}[812]: ready`),
      'Feb 03 04:05:07 node7 systemd[2210]: tracker.service: Main process exited, code=exited, status=1/FAILURE',
    ],
    [
      'a traceback that was cut off, below a warning',
      'Token indices sequence length is longer than the specified maximum sequence length for this model (4595 > 2048). Running this sequence through the model will result in indexing errors',
      'Traceback (most recent call last):',
      '  File "/srv/job/web.py", line 3, in start',
      '    main()',
    ],
  ])('%s', (_, ...lines) => {
    expect(kinds(...lines)).toEqual([])
  })
  test('a request that nobody answered, and one that the API of W&B refused', () => {
    expect(kinds('[2031-02-03 04:05:06,007] ERROR in app: Exception on /draw [POST]', ...raised("KeyError: 'text'"))).toEqual(['python_exception'])
    expect(kinds(...raised('wandb.errors.errors.AuthenticationError: 401: the API key is invalid. Run wandb login --relogin'))).toEqual(['python_exception'])
  })
})
