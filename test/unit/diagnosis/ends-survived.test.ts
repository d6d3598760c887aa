// What a program got over is no end: restarts, retries, warnings, trials. And ends whose words are elsewhere than in a traceback.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'

const faultsOf = (...lines: readonly string[]) => explainText(logScanner(), `${lines.join('\n')}\n`)
const kinds = (...lines: readonly string[]): readonly string[] => faultsOf(...lines).map(({ kind }) => kind)

describe('survived', () => {
  test.each([
    [
      'a worker group that the launcher started again',
      'E0401 10:00:00.100000 55 torch/distributed/elastic/multiprocessing/api.py:800] failed (exitcode: 3) local_rank: 1 (pid: 61) of binary: /opt/py/bin/python',
      'I0401 10:00:00.200000 55 torch/distributed/elastic/agent/server/api.py:800] [default] Worker group FAILED. 2/2 attempts left; will restart worker group',
      'I0401 10:40:00.000000 55 torch/distributed/elastic/agent/server/api.py:801] [default] worker group successfully finished. Waiting 60 seconds for other agents to finish.',
    ],
    [
      'a task that a scheduler of workflows tried again',
      'TimeoutError: no answer from the feature store',
      '[2031-02-03, 04:05:06 UTC] {runner.py:10} INFO - Marking task as UP_FOR_RETRY',
      '[2031-02-03, 04:15:06 UTC] {runner.py:10} INFO - Marking task as SUCCESS',
    ],
    ['an error that a renderer prints while it leaves', 'Frame 9 finished', 'Error: 3 blocks were not given back', 'Renderer quit'],
    [
      'what NCCL warns of, where steps go on',
      'node3:91:97 [2] net_x.cc:12 NCCL WARN NET/IB : could not open port 2',
      'step 10 of 900: loss 2.31',
      'step 20 of 900: loss 2.11',
    ],
    [
      'a worker that its server replaced',
      '[2031-02-03 04:05:06 +0000] [1] [WARNING] Worker with pid 61 was terminated due to signal 15',
      '10.0.0.4 - - [03/Feb/2031:04:05:20 +0000] "POST /answer HTTP/1.1" 200 40',
    ],
    [
      'a pod that completed after a restart',
      'State:   Terminated',
      '  Reason:       Completed',
      '  Exit Code:    0',
      'Last State: Terminated',
      '  Reason:       Error',
      '  Exit Code:    4',
    ],
    ['a rule of a workflow that is tried again', 'Error in rule trim:', '    jobid: 3', 'Trying to restart job 3.', '3 of 3 steps (100%) done'],
    [
      'a traceback that the program printed, where its counter goes on',
      'tile 3 of 80 items 24',
      'Traceback (most recent call last):',
      '  File "/job/tiles.py", line 8, in cut',
      '    read(tile)',
      'ValueError: tile 4 is empty',
      'tile 5 of 80 items 40',
    ],
    [
      'a traceback that the program printed before its result',
      'Traceback (most recent call last):',
      '  File "/job/tiles.py", line 8, in cut',
      '    read(tile)',
      'RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 23.69 GiB total capacity; 21.00 GiB already allocated; 1.00 GiB free)',
      'half of the tiles at once',
      'best score 0.71',
    ],
    [
      'a worker that its framework replaced',
      '(raylet) A worker died or was killed while executing a task by an unexpected system error. Worker PID: 61',
      '(raylet) Task cut failed. There are 2 retries remaining, so the task will be retried.',
      'cut 4',
    ],
    [
      'what the engine of a server says while the server stops as it was told',
      '(Api pid=61) INFO 02-03 04:05:06 [x.py:10] [shutdown] Api: shutdown triggered',
      '(Api pid=61) ERROR 02-03 04:05:06 [y.py:20] Traceback (most recent call last):',
      '(Api pid=61) ERROR 02-03 04:05:06 [y.py:20]   File "/opt/py/lib/python3.12/site-packages/vllm/v1/engine/y.py", line 20, in get',
      '(Api pid=61) ERROR 02-03 04:05:06 [y.py:20]     raise EngineDeadError()',
      '(Api pid=61) ERROR 02-03 04:05:06 [y.py:20] vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.',
      '(Api pid=61) INFO:     Application shutdown complete.',
    ],
    [
      'a trial of a study that failed',
      'Traceback (most recent call last):',
      '  File "/job/search.py", line 8, in objective',
      "    raise ValueError('rate')",
      'ValueError: rate',
      '',
      'Trial t3 errored after 0 iterations',
      '2031-02-03 04:05:06,100\tINFO x.py:10 -- Wrote the latest version of all results',
      'best 0.5',
    ],
    [
      'a loss of one trial, in the words of its exception',
      '[W 2031-02-03 04:05:06,100] Trial 4 failed with parameters: {} because of the following error: ArithmeticError()',
      'Traceback (most recent call last):',
      '  File "/job/search.py", line 8, in objective',
      "    raise ArithmeticError('loss is nan')",
      'ArithmeticError: loss is nan',
      '[I 2031-02-03 04:06:06,100] Trial 5 finished with value: 0.5',
    ],
    ['a part of the work that a user ended', 'case 1 score 0.4', 'case 2 stopped by user, on to the next', 'case 3 score 0.5'],
    ['what did not fit at once and was done in pieces', 'MemoryError: Unable to allocate 90. TiB -> in pieces', 'piece 1/3 done', 'piece 3/3 done'],
    ['a helper that its script killed', 'epoch 4 acc 0.7', './go.sh: line 9:  812 Killed                  watch.sh', 'exit status of training: 0'],
    ['a full disk that is ignored', 'tile 3 of 80 items', 'OSError: [Errno 28] No space left on device (ignored)', 'tile 4 of 80 items', 'tile 5 of 80 items'],
    ['a title in quotes', 'read 40 notes on "CUDA out of memory" and other tales', 'Early stopping: no better since round 3'],
    [
      'a run that was preempted and resumed',
      'slurmstepd: error: *** JOB 61 ON node3 CANCELLED AT 2031-02-03T04:05:06 DUE TO PREEMPTION ***',
      'Resuming from save_400',
      'step 401 of 900: loss 1.90',
    ],
    ['a script that ended well at the second time', 'script exited with code 3', 'Second simulation finished successfully. Now resting.'],
    ['a row of a data set, as Python prints it', "{'question': 'What is a Segmentation fault (core dumped)?', 'answer': 'A crash.'}"],
    ['a tool that looks for a file', "ls: cannot access '/dev/gpu*': No such file or directory"],
  ])('%s', (_, ...lines) => {
    expect(kinds(...lines)).toEqual([])
  })
  test('output that comes late because it was buffered does not make a failure one that was got over', () => {
    expect(
      kinds(
        'Traceback (most recent call last):',
        '  File "/job/tiles.py", line 8, in cut',
        '    read(tile)',
        'ValueError: tile 4 is empty',
        'tile 1 of 80 items 8',
        'tile 2 of 80 items 16',
      ),
    ).toEqual(['python_exception'])
  })
  test('a run that is cut still prints for a moment', () => {
    const cut = 'slurmstepd: error: *** JOB 61 ON node3 CANCELLED AT 2031-02-03T04:05:06 DUE TO PREEMPTION ***'
    expect(kinds(cut, 'step 401 of 900: loss 1.90')).toEqual(['preempted'])
    expect(kinds(cut, 'Will be resumed from save_400')).toEqual(['preempted'])
  })
  test('the same words are an end where nothing goes on below', () => {
    expect(kinds('Loading scene', 'Error: the scene needs version 9')).toEqual(['job_failed'])
    expect(kinds('step 10 of 900: loss 2.31', 'node3:91:97 [2] net_x.cc:12 NCCL WARN NET/IB : could not open port 2')).toEqual(['nccl_error'])
  })
})

describe('ends without a traceback', () => {
  test.each([
    ['aborted', 'F0401 10:00:00.100000 4411 service.h:70] Ending the process: a peer is gone'],
    ['aborted', '2031-02-03T04:05:06Z [12ms] [Fatal] [carb.crashreporter.plugin] [crash] Crash detected in pid 41 thread 43'],
    ['missing_dependency', 'bash: ./go.sh: /bin/zsh^M: bad interpreter: No such file or directory'],
    ['job_failed', 'ERROR: the mask is empty in /opt/src/mask.cuh at line 40 (error-code 9)', 'leaving'],
    ['job_killed', 'The queue is slow', 'This job was killed because it sent no heartbeat.'],
    ['host_memory', 'memory allocation of 8589934592 bytes failed', 'Aborted (core dumped)'],
    ['job_failed', 'Exiting because a step failed. Look above.'],
    ['job_failed', 'Process `TRIM (2)` terminated with an error exit status (4)'],
    ['file_missing', 'tar: /in/set.tar: Cannot open: No such file or directory', 'tar: Error is not recoverable: exiting now'],
    ['file_missing', 'talk.mkv: No such file or directory'],
    ['job_failed', 'frame=  0 fps=0', 'Rendering failed!'],
    ['python_exception', '--> FOAM FATAL ERROR: ', 'the mesh of this case has no cells', '', 'FOAM exiting'],
    ['missing_dependency', '/usr/bin/env: ‘ruby3’: No such file or directory'],
    ['permission_denied', 'Feb 03 04:05:06 node3 systemd[1]: fit.service: Failed at step EXEC spawning /opt/fit/go.sh: Permission denied'],
    ['config_error', "FATAL Flags parsing error: Unknown command line flag 'stpes'. Did you mean: steps ?", 'Pass --helpfull to see all flags.'],
    ['job_failed', '  Warning  BackoffLimitExceeded  3m  job-controller  Job has reached the specified backoff limit'],
    ['segfault', 'forrtl: severe (174): SIGSEGV, segmentation fault occurred', 'srun: error: n4: task 2: Exited with exit code 174'],
    ['file_missing', 'Could not open the plan: /etc/fit/plan.yaml: No such file or directory'],
    [
      'network_error',
      "fatal: unable to access 'https://git.own.example/x.git/': Could not resolve host: git.own.example",
      'srun: error: n4: task 0: Exited with exit code 128',
    ],
    ['job_failed', 'Pod: team.train-worker-1 exited with code 4\t{"type": "Normal"}'],
    [
      'network_error',
      'Traceback (most recent call last):',
      '  File "/job/fit.py", line 4, in <module>',
      '    connect()',
      'XlaRuntimeError: DEADLINE_EXCEEDED: Barrier x',
    ],
  ])('%s: %s', (kind, ...lines) => {
    expect(kinds(...lines)).toEqual([kind])
  })
  test('what it got round before is not what it ended by', () => {
    const [first] = faultsOf(
      'WARNING: OOM, reducing batch size from 8 to 4',
      'Traceback (most recent call last):',
      '  File "/job/fit.py", line 4, in <module>',
      '    forward()',
      'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.50 GiB of which 1.00 GiB is free.',
    )
    expect(first).toMatchObject({ kind: 'cuda_oom', facts: { frame: 'fit.py:4' } })
  })
  test('a full disk that hinders only a part of the work is a warning', () => {
    const full = "OSError: [Errno 28] No space left on device: '/logs/events'"
    expect(faultsOf('tile 3 of 80 items', full)[0]?.severity).toBe('critical')
    expect(faultsOf('tile 3 of 80 items', full, 'tile 4 of 80 items')[0]).toMatchObject({ kind: 'disk_full', severity: 'warning' })
  })
  test('an exception of another process has its frame there', () => {
    const [fault] = faultsOf(
      'multiprocessing.pool.RemoteTraceback: ',
      '"""',
      'Traceback (most recent call last):',
      '  File "/job/tiles.py", line 3, in cut',
      '    return 1 / tile',
      'ZeroDivisionError: division by zero',
      '"""',
      '',
      'The above exception was the direct cause of the following exception:',
      '',
      'Traceback (most recent call last):',
      '  File "/job/tiles.py", line 9, in <module>',
      '    pool.map(cut, tiles)',
      'ZeroDivisionError: division by zero',
    )
    expect(fault?.facts.frame).toBe('tiles.py:3')
  })
  test('a traceback behind a prefix that nobody knows', () => {
    const behind = (line: string): string => `[5/fit/2 (pid 9)] ${line}`
    const text = ['Traceback (most recent call last):', '  File "/job/fit.py", line 7, in go', '    x["a"]', "KeyError: 'a'", 'leaving'].map(behind)
    expect(faultsOf(...text)).toMatchObject([{ kind: 'python_exception', facts: { exception: 'KeyError', frame: 'fit.py:7' } }])
  })
  const TRACEBACK = ['Traceback (most recent call last):', '  File "/job/fit.py", line 7, in go', '    x["a"]', "KeyError: 'a'"]
  test.each([
    ["a logger's JSON object", [JSON.stringify({ level: 'error', msg: 'stopped', exc_info: TRACEBACK.join('\n') })]],
    ["a container engine's own file", TRACEBACK.map((line) => JSON.stringify({ log: `${line}\n`, stream: 'stderr', time: '2031-02-03T04:05:06Z' }))],
  ])('a traceback in %s', (_, lines) => {
    expect(faultsOf(...lines)).toMatchObject([{ kind: 'python_exception', facts: { exception: 'KeyError', frame: 'fit.py:7' } }])
  })
  test('of two runs in one file the last one counts', () => {
    const second = ['Traceback (most recent call last):', '  File "/job/late.py", line 3, in go', '    x[9]', 'IndexError: list index out of range']
    expect(faultsOf(...TRACEBACK, '=== run started 2031-02-03 04:05:06 ===', 'reading', ...second)).toMatchObject([
      { kind: 'python_exception', facts: { exception: 'IndexError', frame: 'late.py:3' } },
    ])
    expect(faultsOf(...TRACEBACK, 'reading', ...second)[0]).toMatchObject({ facts: { exception: 'KeyError' } })
  })
  test("an eviction is the pod's, whatever the node lacked, and names it", () => {
    const [fault, ...others] = faultsOf(
      'Status:   Failed',
      'Reason:   Evicted',
      'Message:  The node was low on resource: ephemeral-storage. Threshold quantity: 5Gi, available: 4Gi.',
    )
    expect(fault).toMatchObject({ kind: 'job_killed', facts: { pattern: 'evicted', reason: 'ephemeral-storage' } })
    expect(fault?.verdict).toContain('ran low on ephemeral-storage')
    expect(others).toEqual([])
  })
  test("a shell's Killed says how sure the cause is", () => {
    expect(faultsOf('epoch 3', './go.sh: line 4:  812 Killed                  python fit.py')[0]).toMatchObject({
      severity: 'warning',
      title: 'Killed by SIGKILL, likely because host memory ran out',
    })
  })
})

describe('one fault for what is one', () => {
  test('ranks that NCCL stops', () => {
    const cry = (rank: number): string =>
      `[rank${rank}]:[E401 10:00:0${rank}.100 ProcessGroupNCCL.cpp:600] [Rank ${rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7, OpType=ALLREDUCE, Timeout(ms)=60000) ran for 6000${rank} milliseconds before timing out.`
    const faults = faultsOf(cry(2), cry(0), cry(5))
    expect(faults.map(({ title }) => title)).toEqual(['A rank waited too long for another one (3 ranks)'])
    expect(faults[0]?.verdict).toContain('3 ranks report it: 0, 2, 5.')
    expect(faults[0]?.evidence).toHaveLength(3)
  })
  test('a cache and the folder in it that cannot be written', () => {
    expect(
      kinds(
        "PermissionError: [Errno 13] Permission denied: '/.cache/huggingface/hub/models--own--net'",
        '',
        'There was a problem when trying to write in your cache folder (/.cache/huggingface/hub).',
      ),
    ).toEqual(['cache_permission'])
  })
  test('what MATLAB prints of a full GPU', () => {
    expect(kinds('Error using gpuArray/ones', "Out of memory on device. To view more detail about available memory on the GPU, use 'gpuDevice()'.")).toEqual([
      'cuda_oom',
    ])
  })
})

test('the kernels that vLLM cannot do without count, though it only warns of them; a step shows that it could', () => {
  const warned =
    "WARNING 02-03 04:05:06 ops.py:9] Failed to import from vllm._C with ImportError('libcudart.so.13: cannot open shared object file: No such file or directory')"
  const starts = 'INFO 02-03 04:05:09 engine.py:70] Starting the engine'
  expect(kinds(warned, starts)).toEqual(['cuda_library_missing'])
  expect(kinds(warned, starts, 'step 10 of 900: loss 2.31', 'step 20 of 900: loss 2.11')).toEqual([])
  expect(kinds(warned.replace('vllm._C', 'other._C'), starts)).toEqual([])
})
