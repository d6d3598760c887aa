// Ends of programs that were run for this: warnings as errors, threads, last words, what launchers and frameworks wrap around them; and what ended well.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Facts } from '../../../agent/model/facts.ts'
import type { LogKind } from '../../../agent/model/kinds.ts'

const explained = (text: string) => explainText(logScanner(), text)
const THREAD = [
  'Exception in thread feeder:',
  'Traceback (most recent call last):',
  '  File "/usr/lib/python3.11/threading.py", line 1045, in _bootstrap_inner',
  '    self.run()',
  '  File "/w/feed.py", line 9, in fill',
  '    rows.put(decode(raw))',
].join('\n')
const traceback = (error: string): string =>
  ['Traceback (most recent call last):', '  File "/w/fit.py", line 44, in <module>', '    step(x, y)', error].join('\n')

test.each<readonly [name: string, text: string, kind: LogKind, facts: Facts]>([
  [
    'a warning where warnings are errors',
    'Traceback (most recent call last):\n  File "/w/scale.py", line 8, in <module>\n    print(scaled(x))\n          ^^^^^^^^^\n  File "/w/scale.py", line 3, in scaled\n    return x / x.max()\n           ~~^~~~~~~~~\nRuntimeWarning: invalid value encountered in divide',
    'python_exception',
    { exception: 'RuntimeWarning', frame: 'scale.py:3' },
  ],
  [
    'a thread failed, the main one worked for a moment, and gave up',
    `round 1\nround 2\n${THREAD}\nUnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte\nround 3\nround 4\nround 5\nfeeder is gone, giving up`,
    'python_exception',
    { exception: 'UnicodeDecodeError', frame: 'feed.py:9' },
  ],
  [
    'sys.exit() with a text that begins with the name of the program',
    'reading rows\nfit.py: cannot start: the table has 7 columns, the model wants 9',
    'job_failed',
    {},
  ],
  [
    'a shell that writes a log after its program failed',
    `row 1 ok\n${traceback('IndexError: list index out of range')}\nwrote out/run.log`,
    'python_exception',
    { exception: 'IndexError', frame: 'fit.py:44' },
  ],
  [
    'arguments that a parser of Transformers does not know',
    traceback("ValueError: Some specified arguments are not used by the HfArgumentParser: ['--eval_every', '50']"),
    'config_error',
    { exception: 'ValueError', frame: 'fit.py:44' },
  ],
  [
    'Hydra, which quotes an exception of its own',
    "[rank2]: hydra.errors.InstantiationException: Error in call to target 'app.Loop':\n[rank2]: InstantiationException(\"Error locating target 'app.data.Rows', set env var HYDRA_FULL_ERROR=1 to see chained exception.\\nfull_key: rows\")\n[rank2]: full_key: loop",
    'config_error',
    { exception: 'InstantiationException', rank: 2 },
  ],
  [
    'sizes of a distributed checkpoint, behind the prefix of an actor',
    '(Actor pid=71)     raise ValueError(\n(Actor pid=71) ValueError: Size mismatch between saved torch.Size([900, 64]) and current: torch.Size([57600]) for ckpt.model.embed.weight',
    'checkpoint_mismatch',
    { pattern: 'sizes', exception: 'ValueError' },
  ],
  [
    'an engine that only points at the stack trace above it',
    `${traceback("KeyError: 'temperature'")}\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File "/usr/lib/python3.11/site-packages/vllm/engine/async_llm_engine.py", line 37, in _raise\n    raise AsyncEngineDeadError(\nvllm.engine.async_llm_engine.AsyncEngineDeadError: Task finished unexpectedly. This should never happen! Please open an issue on Github. See stack trace above for the actual cause.`,
    'python_exception',
    { exception: 'KeyError', frame: 'fit.py:44' },
  ],
  [
    "Nextflow's task without an exit code",
    "Error executing process > 'align (s1)'\n\nCaused by:\n  Process `align (s1)` terminated for an unknown reason -- Likely it has been terminated by the external system",
    'job_failed',
    {},
  ],
  [
    'a process of a pool of Hugging Face datasets that is gone',
    traceback('RuntimeError: One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing.'),
    'worker_died',
    { exception: 'RuntimeError', frame: 'fit.py:44' },
  ],
  [
    'a folder without the weights',
    traceback('OSError: Error no file named model.safetensors, or pytorch_model.bin, found in directory out/m7.'),
    'file_missing',
    { path: 'out/m7/model.safetensors', frame: 'fit.py:44' },
  ],
  [
    "Slurm's word for a job that Snakemake gave to it",
    "Error in rule score:\n    message: SLURM-job '7712' failed, SLURM status is: 'TIMEOUT'. For further error details see the cluster/cloud log.\n    jobid: 4",
    'time_limit',
    { job_id: 7712 },
  ],
  [
    "torchelastic's events",
    '{"name": "torchelastic.worker.status.FAILED", "source": "WORKER", "timestamp": 0, "metadata": {"run_id": "none", "global_rank": 3, "state": "FAILED", "agent_restarts": 3}}',
    'job_failed',
    {},
  ],
  [
    'a panic in a record of a logger, in the code of a dependency',
    '2031-02-03T04:05:06.442057Z ERROR fit::logger: PANIC => panicked at C:\\Users\\u\\.cargo\\git\\checkouts\\ops-058c\\5c7f\\src\\server.rs:66:17:\nno such kernel',
    'aborted',
    {},
  ],
  [
    'a signal whose name the shell prints right before a multi-line command',
    "start\n./go.sh: line 6:    12 Floating point exceptionpython - <<'PY'\nimport os\nPY\n",
    'aborted',
    { signal: 'SIGFPE', pid: 12 },
  ],
  ["a test that prints its exception as Python's repr", "ok test_a\nFAIL test_b KeyError('alpha')", 'python_exception', { exception: 'KeyError' }],
  [
    'a package that python -m does not find',
    "/opt/v/bin/python: Error while finding module specification for 'fit.main' (ModuleNotFoundError: No module named 'fit')",
    'missing_dependency',
    { module: 'fit' },
  ],
  [
    'what a generator passes on happened within it',
    'Traceback (most recent call last):\n  File "/w/rows.py", line 3, in rows\n    yield next(it)\nStopIteration\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File "/w/rows.py", line 9, in <module>\n    print(sum(rows(it)))\nRuntimeError: generator raised StopIteration',
    'python_exception',
    { exception: 'RuntimeError', frame: 'rows.py:3' },
  ],
  [
    'all that a parent knows of the command that it started',
    traceback("subprocess.CalledProcessError: Command 'make data' returned non-zero exit status 3."),
    'job_failed',
    { exception: 'CalledProcessError', exit_code: 3 },
  ],
  [
    'Snakemake, which passes on that a command of a rule failed',
    'RuleException:\nCalledProcessError in line 7 of /w/rules/fit.smk:\nCommand \'set -euo pipefail;  python fit.py\' returned non-zero exit status 2.\n  File "/w/rules/fit.smk", line 7, in __rule_fit',
    'job_failed',
    { exit_code: 2 },
  ],
])('%s', (_, text, kind, facts) => {
  expect(explained(text)[0]).toMatchObject({ kind, facts })
})

describe('ended well', () => {
  test.each<readonly [name: string, text: string]>([
    [
      'a thread failed after the last epoch, and the weights were written',
      `9 epochs completed in 0.2 hours.\n${THREAD}\nEOFError\nOptimizer stripped from runs/t/last.pt, 6.2MB`,
    ],
    [
      'a thread failed, and the program went on speaking',
      `${THREAD}\nOSError: no such endpoint\nloading rows\nbuilding the index\nrows are sorted\nindex is built\nserving`,
    ],
    [
      'a traceback that a loop prints before it tries again',
      [1, 2].map((at) => `${traceback('ConnectionError: 503 from the store')}\nretry ${at}/5 in 2 s`).join('\n') + '\nstored: ok\n3 parts are stored',
    ],
    [
      'what a server was still waiting for when it was told to stop',
      'INFO:     Shutting down\nINFO:     Finished server process [70]\nERROR:    Traceback (most recent call last):\n  File "/w/life.py", line 13, in receive\n  File "/usr/lib/python3.11/asyncio/queues.py", line 166, in get\nasyncio.exceptions.CancelledError',
    ],
    ['a script that goes round what it does not find', 'epoch 2 loss 0.4\nconf.py: could not find the table, using the default one'],
    ['a warning between other lines, without a traceback', 'epoch 1 loss 0.5\nRuntimeWarning: divide by zero\nepoch 2 loss 0.4'],
  ])('%s', (_, text) => {
    expect(explained(text)).toEqual([])
  })
})

test('what a mapping has not is quoted, and what to print is not taken for a secret', () => {
  const text =
    'Traceback (most recent call last):\n  File "/w/serve.py", line 5, in <module>\n    out = table["stop_token"]\n          ~~~~~^^^^^^^^^^^^^^\nKeyError: \'stop_token\''
  expect(JSON.stringify(explained(text))).toContain('print(list(table))')
})

test.each([
  [
    traceback("ValueError: Some specified arguments are not used by the HfArgumentParser: ['--evaluation_strategy', 'steps']"),
    '--evaluation_strategy is --eval_strategy',
  ],
  [traceback('OSError: [Errno 27] File too large'), 'ulimit -f'],
])('what to do about %#', (text, wanted) => {
  expect(JSON.stringify(explained(text)[0]?.remedies)).toContain(wanted)
})
