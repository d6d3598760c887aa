// Ends of jobs of the kind python_exception; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a plain one',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\n  File "/srv/job/data.py", line 7, in pick\n    return table[name]\nKeyError: \'river\'',
    kinds: ['python_exception'],
    facts: { exception: 'KeyError', frame: 'data.py:7' },
  },
  {
    name: 'raised from another, in rank 3',
    text: '[rank3]: Traceback (most recent call last):\n[rank3]:   File "/srv/job/main.py", line 41, in <module>\n[rank3]:     run(settings)\n[rank3]: ValueError: no schedule\n[rank3]: \n[rank3]: The above exception was the direct cause of the following exception:\n[rank3]: \n[rank3]: Traceback (most recent call last):\n[rank3]:   File "/srv/job/plan.py", line 19, in step\n[rank3]:     raise RuntimeError("planning failed") from err\n[rank3]: RuntimeError: planning failed',
    kinds: ['python_exception'],
    facts: { exception: 'RuntimeError', frame: 'plan.py:19', rank: 3 },
  },
  {
    name: 'a syntax error has no header',
    text: '  File "/srv/job/main.py", line 12\n    if x = 3:\n       ^^^^^\nSyntaxError: invalid syntax',
    kinds: ['python_exception'],
    facts: { exception: 'SyntaxError', frame: 'main.py:12' },
  },
  {
    name: 'quoted by Ray',
    text: 'ray.exceptions.RayTaskError(IndexError): ray::tokenize() (pid=8123, ip=10.1.0.4)\n  File "/srv/job/tokens.py", line 31, in tokenize\n    return rows[at]\nIndexError: list index out of range',
    kinds: ['python_exception'],
    facts: { exception: 'IndexError', frame: 'tokens.py:31', pid: 8123 },
  },
  {
    name: 'a notebook cell',
    text: '---------------------------------------------------------------------------\nZeroDivisionError                         Traceback (most recent call last)\nCell In[7], line 3\n      1 total = 0\n      2 n = 0\n----> 3 total / n\n\nZeroDivisionError: division by zero',
    kinds: ['python_exception'],
    facts: { exception: 'ZeroDivisionError' },
  },
  {
    name: 'a box of rich',
    text: "╭───────────────────── Traceback (most recent call last) ──────────────────────╮\n│ /srv/job/serve.py:17 in <module>                                             │\n│                                                                              │\n│   16 name = None                                                             │\n│ ❱ 17 print(name.upper())                                                     │\n╰──────────────────────────────────────────────────────────────────────────────╯\nAttributeError: 'NoneType' object has no attribute 'upper'",
    kinds: ['python_exception'],
    facts: { exception: 'AttributeError', frame: 'serve.py:17' },
  },
  {
    name: 'quiet: ignored in a destructor',
    text: 'Exception ignored in: <function Pool.__del__ at 0x7f001>\nTraceback (most recent call last):\n  File "/usr/lib/python3.11/weakref.py", line 5, in __del__\n    self.close()\nTypeError: cannot close twice',
    kinds: [],
  },
  {
    name: 'quiet: logged, and the program went on',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\n  File "/srv/job/sync.py", line 9, in push\n    send(x)\nTypeError: cannot send None\n2026-03-02 10:00:05,100 INFO trainer: epoch 4 begins\n2026-03-02 10:00:09,200 INFO trainer: step 400 of 1000',
    kinds: [],
  },
  {
    name: 'a failed test of pytest',
    text: 'tests/test_a.py:7: KeyError\n=== short test summary info ===\nFAILED tests/test_a.py::test_one - KeyError: 0\n=== 1 failed in 0.1s ===',
    kinds: ['python_exception'],
    facts: { exception: 'KeyError', frame: 'test_a.py:7' },
  },
  {
    name: "SageMaker's toolkit",
    text: 'ExecuteUserScriptError:\nExitCode 1\nErrorMessage "ValueError: no samples in split dev"\nCommand "/opt/conda/bin/python3.11 fit.py"',
    kinds: ['python_exception'],
    facts: { exception: 'ValueError' },
  },
  {
    name: 'parameters without gradients',
    text: `RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.`,
    kinds: ['python_exception'],
  },
  { name: 'torchvision of another release', text: `RuntimeError: operator torchvision::nms does not exist`, kinds: ['python_exception'] },
  {
    name: 'Dagster names the exception above its frames',
    text: 'dagster._core.errors.DagsterExecutionStepExecutionError: Error occurred while executing op "fit"::\n\nKeyError: \'target\'\n\nStack Trace:\n  File "/usr/lib/python3.12/site-packages/dagster/_core/execution/plan/utils.py", line 56, in op_execution_error_boundary\n    yield\n  File "/srv/pipe/fit.py", line 31, in fit\n    y = row["target"]',
    kinds: ['python_exception'],
    facts: { exception: 'KeyError', frame: 'fit.py:31' },
  },
  {
    name: 'Dagster names the cause below what it caused',
    text: 'dagster._core.errors.DagsterExecutionStepExecutionError: Error occurred while executing op "fit":\n\nStack Trace:\n  File "/usr/lib/python3.12/site-packages/dagster/_core/execution/plan/utils.py", line 86, in op_execution_error_boundary\n    raise error_cls(\n\nThe above exception was caused by the following exception:\nIndexError: pop from empty list\n\nStack Trace:\n  File "/srv/pipe/queue.py", line 12, in take\n    return jobs.pop()',
    kinds: ['python_exception'],
    facts: { exception: 'IndexError', frame: 'queue.py:12' },
  },
  {
    name: 'Hydra without its traceback',
    text: "Error executing job with overrides: ['mode=fit']\nError in call to target 'nets.Head':\nAttributeError(\"'NoneType' object has no attribute 'values'\")\nfull_key: head\n\nSet the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.",
    kinds: ['python_exception'],
    facts: { exception: 'AttributeError' },
  },
  {
    name: 'two ranks say it at once',
    text: '  File "fit.py", line 9\n  File "fit.py", line 9\n    x = (1\n    x = (1\n        ^\n        ^\nSyntaxErrorSyntaxError: : invalid syntaxinvalid syntax\n',
    kinds: ['python_exception'],
    facts: { exception: 'SyntaxError', frame: 'fit.py:9' },
  },
  {
    name: 'PowerShell breaks the line of a frame',
    text: "Traceback (most recent call last):\n  File \"C:\\Users\\Public\\projects\\a-long-folder\\another-long-folder\\code\\\nfit_again.py\", line 99, in <module>\n    print(\"\\u2713 done\")\nUnicodeEncodeError: 'charmap' codec can't encode character '\\u2713' in position 0: character maps to <undefined>",
    kinds: ['python_exception'],
    facts: { exception: 'UnicodeEncodeError', frame: 'fit_again.py:99' },
  },
  {
    name: 'Fortran names the line first',
    text: "At line 31 of file read_in.f90 (unit = 10, file = 'in.nml')\nFortran runtime error: End of file",
    kinds: ['python_exception'],
    facts: { frame: 'read_in.f90:31' },
  },
  {
    name: 'Lua',
    text: "/opt/bin/luajit: fit.lua:7: attempt to call field 'grad' (a nil value)\nstack traceback:\n\tfit.lua:7: in main chunk",
    kinds: ['python_exception'],
    facts: { frame: 'fit.lua:7' },
  },
  {
    name: 'R passes on what Python raised',
    text: 'Error in py_call_impl(callable, dots$args, dots$keywords) : \n  ValueError: The layer takes no list\nCalls: fit -> do.call\nExecution halted',
    kinds: ['python_exception'],
    facts: { exception: 'ValueError' },
  },
  {
    name: 'several threads of Java at once',
    text: 'Exception in thread "pool-1-thread-2" Exception in thread "pool-1-thread-1" java.lang.IllegalStateException: no window\n\tat org.example.trade.Window.cut(Window.java:31)\n\tat org.example.trade.Main.run(Main.java:9)',
    kinds: ['python_exception'],
    facts: { exception: 'IllegalStateException', frame: 'Window.java:31' },
  },
  {
    name: 'MATLAB behind its counter',
    text: 'train: epoch 02:   7/ 90:Error using cut_window\nA window is longer than the signal.\n\nError in fit_all (line 31)\n    w = cut_window(s, n);',
    kinds: ['python_exception'],
  },
  {
    name: 'as repr() writes it, behind words of a failure',
    text: "epoch 6 loss 0.31\nTraining run failed: KeyError('boxes_of_gulls')",
    kinds: ['python_exception'],
    facts: { exception: 'KeyError' },
  },
  {
    name: 'a record of it with the comma of an older Python',
    text: "epoch 6 loss 0.31\nERROR: an <class 'ValueError'> error occurred in the fit loop: ValueError('no tiles were left',)",
    kinds: ['python_exception'],
    facts: { exception: 'ValueError' },
  },
  {
    name: 'quiet: a warning of one, gone round',
    text: "epoch 6 loss 0.31\nWARNING load failed, skipping: ValueError('tile is empty')",
    kinds: [],
  },
  {
    name: 'quiet: a queue that closes with its session',
    text: 'Traceback (most recent call last):\n  File "/home/user/gulls/feed.py", line 31, in run\n    session.run(enqueue)\ntensorflow.python.framework.errors_impl.CancelledError: Enqueue operation was cancelled\nfinished training',
    kinds: [],
  },
]
