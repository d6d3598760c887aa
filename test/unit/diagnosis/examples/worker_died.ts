// Ends of jobs of the kind worker_died; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a DataLoader',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\n  File "/opt/env/lib/python3.11/site-packages/torch/utils/data/dataloader.py", line 1304, in _try_get_data\n    raise RuntimeError(\nRuntimeError: DataLoader worker (pid(s) 8123) exited unexpectedly',
    kinds: ['worker_died'],
    facts: { pid: 8123, frame: 'main.py:41' },
  },
  {
    name: 'a pool',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nconcurrent.futures.process.BrokenProcessPool: A process in the process pool was terminated abruptly while the future was running or pending.',
    kinds: ['worker_died'],
    facts: { exception: 'BrokenProcessPool' },
  },
  {
    name: 'joblib',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\njoblib.externals.loky.process_executor.TerminatedWorkerError: A worker process managed by the executor was unexpectedly terminated.\n\nThe exit codes of the workers are {SIGKILL(-9)}',
    kinds: ['worker_died'],
    facts: { signal: 'SIGKILL' },
  },
  { name: 'quiet: workers come and go', text: '2026-03-02 10:00:00,000 INFO pool: worker 3 finished its tasks', kinds: [] },
  {
    name: "Ollama's runner",
    text: 'time=2026-01-05T10:00:00Z level=ERROR source=sched.go:470 msg="error loading" error="llama runner process has terminated: exit status 2"',
    kinds: ['worker_died'],
    facts: { exit_code: 2 },
  },
  {
    name: "raylet's report",
    text: '(raylet) A worker died or was killed while executing a task by an unexpected system error. Worker PID: 4411 Worker exit type: SYSTEM_ERROR Worker exit detail: connection error code 2. End of file.',
    kinds: ['worker_died'],
    facts: { pid: 4411 },
  },
  {
    name: 'an older Ray with the pid in its line',
    text: '2026-03-02 10:00:00,000 WARNING worker.py:1400 -- A worker died or was killed while executing a task by an unexpected system error. RayTask ID: ff01 Worker IP address: 10.0.0.9 Worker port: 10002 Worker PID: 733',
    kinds: ['worker_died'],
    facts: { pid: 733 },
  },
]
