// Ends of jobs of the kind worker_died; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const BLOCK =
  '(EngineCore_DP0 pid=133) INFO 03-02 10:11:12 [shm_broadcast.py:466] No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging or doing some time-consuming work (e.g. compilation).'

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
    name: 'a scheduler of SGLang',
    text: '[2026-03-02 07:23:48 TP0] Load weight begin. avail mem=78.60 GB\n[2026-03-02 07:24:10] Received sigquit from a child process. It usually means the child failed.',
    kinds: ['worker_died'],
  },
  {
    name: 'a shard of TGI that was killed while it loaded',
    text: '2026-03-02T10:11:24.140000Z ERROR shard-manager: text_generation_launcher: Shard process was signaled to shutdown with signal 9 rank=1\n2026-03-02T10:11:24.230000Z ERROR text_generation_launcher: Shard 1 failed to start\nError: ShardCannotStart',
    kinds: ['worker_died'],
    facts: { rank: 1, signal: 'SIGKILL' },
  },
  {
    name: "a shard's own error comes first",
    text: '2026-03-02T10:11:24.140000Z ERROR shard-manager: text_generation_launcher: Shard complete standard error output:\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.10 GiB is free.\n2026-03-02T10:11:24.230000Z ERROR text_generation_launcher: Shard 0 failed to start',
    kinds: ['cuda_oom', 'worker_died'],
  },
  {
    name: 'quiet: shards that wait and start',
    text: '2026-03-02T10:11:12.120000Z  INFO text_generation_launcher: Starting shard rank=0\n2026-03-02T10:11:22.130000Z  INFO text_generation_launcher: Waiting for shard to be ready... rank=0\n2026-03-02T10:11:29.130000Z  INFO text_generation_launcher: Shard ready in 17.1s rank=0',
    kinds: [],
  },
  {
    name: "SGLang's health check",
    text: "[2026-03-02 09:31:10] Health check failed. Server couldn't get a response from detokenizer for last 20 seconds. tic start time: 09:30:50. last_heartbeat time: 09:12:01",
    kinds: ['worker_died'],
  },
  {
    name: "vLLM's engine waited for its workers",
    text: `${BLOCK}\n(EngineCore_DP0 pid=133) ERROR 03-02 10:16:12 [core.py:866] TimeoutError: RPC call to sample_tokens timed out.`,
    kinds: ['worker_died'],
  },
  {
    name: 'the same in an older version under compose',
    text: 'chat-1  | ERROR 03-02 10:16:12 core.py:387] RuntimeError: RPC call to execute_model timed out.',
    kinds: ['worker_died'],
  },
  { name: 'quiet: a worker of vLLM that compiles', text: `${BLOCK}\n${BLOCK}\n(APIServer pid=1) INFO:     Application startup complete.`, kinds: [] },
  {
    name: 'an older Ray with the pid in its line',
    text: '2026-03-02 10:00:00,000 WARNING worker.py:1400 -- A worker died or was killed while executing a task by an unexpected system error. RayTask ID: ff01 Worker IP address: 10.0.0.9 Worker port: 10002 Worker PID: 733',
    kinds: ['worker_died'],
    facts: { pid: 733 },
  },
  {
    name: 'a slow load',
    text: 'level=ERROR source=sched.go:456 msg="error loading llama server" error="timed out waiting for llama runner to start - progress 0.10 - "',
    kinds: ['worker_died'],
  },
  {
    name: "LocalAI's backend",
    text: 'ERR Server error error="could not load model - all backends returned error: [llama-cpp]: could not load model: rpc error: code = Unavailable desc = error reading from server: EOF"',
    kinds: ['worker_died'],
  },
]
