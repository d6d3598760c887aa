// Ends in words that no test had named: of tools around a job, of R and make, of programs that catch their own exception; and what is tried again.
import { expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Facts } from '../../../agent/model/facts.ts'
import type { LogKind } from '../../../agent/model/kinds.ts'

const explained = (text: string) => explainText(logScanner(), text)
const loop = 'step 10/90 loss 0.51\nstep 20/90 loss 0.42\n'

test.each<readonly [name: string, text: string, kind: LogKind, facts: Facts]>([
  [
    "the interpreter's own error, in a long line",
    'Fatal Python error: PyEval_SaveThread: the function must be called with the GIL held, but the GIL is released (the current Python thread state is NULL)\nPython runtime state: initialized\n\nCurrent thread 0x00007f1a2b3c (most recent call first):\n  File "/w/bind.py", line 31 in take\n',
    'aborted',
    { frame: 'bind.py:31' },
  ],
  [
    'an interpreter that does not start says below why',
    "Fatal Python error: init_fs_encoding: failed to get the Python codec of the filesystem encoding\nPython runtime state: core initialized\nModuleNotFoundError: No module named 'encodings'\n\nCurrent thread 0x00007f1a2b3c (most recent call first):\n<no Python frame>",
    'missing_dependency',
    { module: 'encodings', exception: 'ModuleNotFoundError' },
  ],
  [
    'a child whose parent could not send itself, above the parent',
    [
      'Traceback (most recent call last):',
      '  File "<string>", line 1, in <module>',
      '  File "D:\\own\\venv\\lib\\multiprocessing\\spawn.py", line 126, in _main',
      '    self = reduction.pickle.load(from_parent)',
      'EOFError: Ran out of input',
      'Traceback (most recent call last):',
      '  File "fit.py", line 88, in <module>',
      '    main()',
      '  File "D:\\own\\venv\\lib\\multiprocessing\\reduction.py", line 60, in dump',
      '    ForkingPickler(file, protocol).dump(obj)',
      "AttributeError: Can't pickle local object 'roll.<locals>.turn'",
    ].join('\n'),
    'python_exception',
    { frame: 'fit.py:88', exception: 'AttributeError' },
  ],
  [
    'a worker of PyTorch with its exit code',
    `${loop}RuntimeError: DataLoader worker (pid 4711) exited unexpectedly with exit code 1. Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace.`,
    'worker_died',
    { pid: 4711, exit_code: 1 },
  ],
  ['workers of batchgenerators', `${loop}RuntimeError: Some background workers are no longer alive`, 'worker_died', { exception: 'RuntimeError' }],
  [
    "R's cli: the deepest reason",
    'Epoch 1/20\nError in `FUN()`:\n! Error while calling callback with class <own/Callback/R6> at\n  on_train_batch_end.\nCaused by error in `as_tensor()`:\n! R type not handled',
    'python_exception',
    {},
  ],
  ["R's cli: a package", 'Error in `library()`:\n! there is no package called ‘torch’', 'missing_dependency', { module: 'torch' }],
  ['DVC', `${loop}ERROR: failed to reproduce 'fit': failed to run: python src/fit.py --epochs 5, exited with 137`, 'job_killed', { exit_code: 137 }],
  [
    "Docker's older builder",
    "/bin/sh: conda: command not found\nThe command '/bin/sh -c conda env update --file env.yaml' returned a non-zero code: 127",
    'missing_dependency',
    { exit_code: 127 },
  ],
  ['dash names the script twice', 'tools/fit.sh: 15: tools/fit.sh: -u: not found', 'missing_dependency', {}],
  ['conda run', `${loop}\nERROR conda.cli.main_run:execute(125): \`conda run python -u fit.py\` failed. (See above for error)`, 'job_failed', {}],
  [
    'a sweep of Weights & Biases that gives up',
    "Run k1l2m3n4 errored: IndexError('list index out of range')\nwandb: ERROR Run k1l2m3n4 errored: IndexError('list index out of range')\nDetected 3 failed runs in the first 60 seconds, killing sweep.\nwandb: ERROR Detected 3 failed runs in the first 60 seconds, killing sweep.",
    'python_exception',
    { exception: 'IndexError' },
  ],
  [
    'Ray Tune, where no trial is well',
    '2031-02-03 04:05:06,007\tERROR tune.py:1035 -- Trials did not complete: [own_0, own_1]\n\nTrial status: 2 ERROR\n',
    'job_failed',
    {},
  ],
  ['GNU parallel', 'parallel: This job failed:\npython fit.py 3', 'job_failed', {}],
  ['make, of a program that crashed', 'make: *** [Makefile:12: fit] Segmentation fault (core dumped)', 'segfault', { signal: 'SIGSEGV' }],
  [
    'a shell, of SIGQUIT',
    `${loop}./run.sh: line 12:  4711 Quit                    (core dumped) python fit.py`,
    'job_killed',
    { signal: 'SIGQUIT', pid: 4711 },
  ],
  ['uv', 'error: Failed to spawn: `fit`\n  Caused by: No such file or directory (os error 2)', 'missing_dependency', { module: 'fit' }],
  ['a download of its script', 'curl: (6) Could not resolve host: files.own.test', 'network_error', {}],
  ['another', "wget: unable to resolve host address 'files.own.test'", 'network_error', {}],
  ['Ninja', 'ninja: build stopped: subcommand failed.', 'compile_error', {}],
  ['an exception in words of its program', `${loop}Training failed: ValueError: width 12 is odd`, 'python_exception', { exception: 'ValueError' }],
  ['with its place', `${loop}FATAL KeyError at /w/fit.py:11: 'peak'`, 'python_exception', { exception: 'KeyError', frame: 'fit.py:11' }],
  [
    'an error of the system so',
    `${loop}Exception caught in main: FileNotFoundError: [Errno 2] No such file or directory: '/d/rows.json'`,
    'file_missing',
    { errno: 2, path: '/d/rows.json', exception: 'FileNotFoundError' },
  ],
  [
    'what a logger says of the whole work, and the program clears up',
    'INFO:root:step 3\nERROR:root:Training crashed\nTraceback (most recent call last):\n  File "/w/fit.py", line 8, in main\n    fit()\nOSError: [Errno 116] Stale file handle\nINFO:root:uploading logs\nINFO:root:bye',
    'storage_error',
    { errno: 116, frame: 'fit.py:8' },
  ],
  ['a program that ends at Ctrl-C', `${loop}[INFO] Caught KeyboardInterrupt, exiting gracefully`, 'cancelled', {}],
  ['SIGTERM by its number', `${loop}INFO | Received signal 15, terminating`, 'job_killed', { signal: 'SIGTERM' }],
  ['a logger that has nothing above its level', `${loop}2024-03-04 05:06:07,891 - own - CRITICAL - cannot go on: shard 3 has no rows`, 'job_failed', {}],
  ['an error with which a program gives up', `${loop}2024-03-04 05:06:07,891 - own - ERROR - training aborted after 3 retries`, 'job_failed', {}],
  ['the same without a logger', `${loop}cannot go on: the validation split is empty`, 'job_failed', {}],
  ['and behind the reason', `${loop}No rows left after the filter, aborting.`, 'job_failed', {}],
  ["a script's copy of what is not there", `${loop}cp: cannot stat 'last.pt': No such file or directory`, 'file_missing', { path: 'last.pt' }],
  ['a name without a folder', `${loop}cat: rows.csv: No such file or directory`, 'file_missing', { path: 'rows.csv' }],
  ['with the quotes of UTF-8', `${loop}mkdir: cannot create directory ‘/out/own’: Read-only file system`, 'permission_denied', { path: '/out/own' }],
  ['a program that stops at no number', `${loop}NaN in gradients at step 12, stopping`, 'nan_loss', { step: 12 }],
  ['the same in other words', `${loop}non-finite loss, ending training at step 12`, 'nan_loss', { step: 12 }],
  [
    'Julia on Windows',
    'Exception: EXCEPTION_ACCESS_VIOLATION at 0x7ffd11aa22b3 -- unknown function (ip: 00007ffd11aa22b3)\nin expression starting at C:\\own\\fit.jl:9\nunknown function (ip: 00007ffd11aa2000)\nAllocations: 310 (Pool: 300; Big: 10); GC: 0',
    'segfault',
    { signal: 'SIGSEGV', frame: 'fit.jl:9' },
  ],
  [
    'Java on Windows',
    '#\n# A fatal error has been detected by the Java Runtime Environment:\n#\n#  EXCEPTION_ACCESS_VIOLATION (0xc0000005) at pc=0x00007ffd, pid=512, tid=12\n#',
    'segfault',
    { signal: 'SIGSEGV', pid: 512 },
  ],
  [
    "a rule's own code in Snakemake",
    'NameError in file "/w/own/Snakefile", line 31:\nname \'folds\' is not defined\n  File "/w/own/Snakefile", line 31, in __rule_fit\nWorkflowError:\nAt least one job did not complete successfully.',
    'python_exception',
    { exception: 'NameError', frame: 'Snakefile:31' },
  ],
  [
    "a worker of vLLM's older executor",
    'Traceback (most recent call last):\n  File "/v/lib/python3.12/site-packages/vllm/executor/multiproc_worker_utils.py", line 51, in set_result\nChildProcessError: worker died (-9)',
    'worker_died',
    { signal: 'SIGKILL' },
  ],
  ['pm2', 'PM2        | App [own:0] exited with code [1] via signal [SIGINT]', 'job_failed', { exit_code: 1 }],
  ['SIGTERM first', `${loop}SIGTERM caught, saving and exiting`, 'job_killed', { signal: 'SIGTERM' }],
])('%s', (_, text, kind, facts) => {
  expect(explained(text)[0]).toMatchObject({ kind, facts })
})

test.each([
  [
    'a task that Ray starts again',
    '(raylet) Task shard failed. There are 3 retries remaining, so the task will be retried. Error: User exception:\nray::shard() (pid=159, ip=127.0.0.1)\n  File "/w/export.py", line 10, in shard\n    raise TimeoutError("no answer in 10 s")\nTimeoutError: no answer in 10 s\n(shard pid=159) shard 0 done\nsum 6\nexport complete',
  ],
  ['a helper that its program ended', 'epoch 4/4 done\nmonitor stopped with exit code -15\njob finished: 4 epochs, best loss 0.21'],
  [
    'a fold that crashed, and the next ones',
    'ERROR:root:Training crashed on fold 2\nTraceback (most recent call last):\n  File "/w/fit.py", line 8, in main\n    fit()\nValueError: fold is empty\nfold 3 epoch 1 loss 0.5\nfold 3 epoch 2 loss 0.4\nfold 3 epoch 3 loss 0.3\ndone',
  ],
  ['an exception that a server logs', 'ERROR 03-04 05:06:07 [chat.py:300] ValueError: max_tokens must be at least 1, got 0.'],
  ['a download that failed at first', 'curl: (6) Could not resolve host: files.own.test\nstep 1 loss 0.5\nstep 2 loss 0.4'],
  ['no number that is skipped', 'nan loss detected at step 2, skipping batch\nstep 3 loss 0.4'],
  ['no number at which a part ended', 'loss is NaN at step 2, stopping this phase\nphase 2\nstep 3 loss 0.4\nstep 4 loss 0.3'],
  ['what a logger takes up again', 'step 1 loss 0.5\n2024-03-04 05:06:07,891 - own - ERROR - aborting the upload, will retry'],
  ['what was meant to end', 'step 1 loss 0.5\nval_loss did not improve for 5 epochs, aborting'],
  ['a part that is given up', 'step 1 loss 0.5\ngiving up on the metrics host'],
  ['a target that was reached', 'step 1 loss 0.5\nExiting: target reached, no nan seen in loss'],
  ['a pool that grows smaller', 'step 1 loss 0.5\nERROR - own - terminating idle workers'],
  ['what is left out', 'Error in evaluation of sample 3: ValueError: bad label, skipped\nmean score 0.71'],
])('no end: %s', (_, text) => {
  expect(explained(text)).toEqual([])
})
