// Processes that ended by SIGKILL; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['job_killed']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'torchrun',
    text: '[0]:\n  rank      : 3 (local_rank: 3)\n  exitcode  : -9 (pid: 4411)\n  error_file: <N/A>\n  traceback : Signal 9 (SIGKILL) received by PID 4411',
    kinds: one,
    facts: { pid: 4411, signal: 'SIGKILL' },
  },
  {
    name: 'in one line',
    text: 'ERROR torch.distributed.elastic: failed (exitcode: -9) local_rank: 1 (pid: 977) of binary: /usr/bin/python3',
    kinds: one,
    facts: { pid: 977, rank: 1 },
  },
  { name: 'a subprocess', text: "subprocess.CalledProcessError: Command '['python', 'train.py']' died with <Signals.SIGKILL: 9>.", kinds: one },
  { name: 'another kind: another code', text: 'failed (exitcode: 1) local_rank: 0 (pid: 31) of binary: /usr/bin/python3', kinds: ['job_failed'] },
  { name: 'quiet: an ordinary line', text: 'Process 4411 exits successfully.', kinds: [] },
  { name: 'quiet: advice about a code', text: 'Hint: exit code 137 means that the container ran out of memory.', kinds: [] },
  { name: 'quiet: a worker that is started again', text: 'worker 2 exited with code 137, restarting\nworker 2 is ready', kinds: [] },
  {
    name: 'supervisord',
    text: "2026-03-02 10:00:00,100 WARN exited: fit (terminated by SIGKILL; not expected)\n2026-03-02 10:00:01,100 INFO spawned: 'fit' with pid 812",
    kinds: ['job_killed'],
    facts: { signal: 'SIGKILL' },
  },
  { name: 'a probe', text: 'Normal  Killing  2m  kubelet  Container api failed liveness probe, will be restarted', kinds: ['job_killed'] },
  { name: 'a full emptyDir', text: 'Warning  Evicted  8s  kubelet  Usage of EmptyDir volume "scratch" exceeds the limit "50Gi".', kinds: ['job_killed'] },
  {
    name: 'a process that does not end',
    text: 'slurmstepd: error: *** STEP 31.0 STEPD TERMINATED ON n31 AT 2026-02-03T04:05:06 DUE TO JOB NOT ENDING WITH SIGNALS ***',
    kinds: ['job_killed'],
  },
  { name: 'a table of containers', text: 'web-llm-1   acme/llm   "serve"   llm   3 minutes ago   Exited (137) About a minute ago', kinds: ['job_killed'] },
  {
    name: 'a runner that is gone',
    text: 'The self-hosted runner: box-4 lost communication with the server.',
    kinds: ['job_killed'],
    facts: { pattern: 'node_failed' },
  },
  { name: 'Argo', text: 'fit-a1b2c  Error  pod deleted', kinds: ['job_killed'], facts: { pattern: 'node_failed' } },
  { name: 'Airflow', text: 'INFO - Task exited with return code Negsignal.SIGTERM', kinds: ['job_killed'], facts: { signal: 'SIGTERM' } },
  {
    name: 'glued behind a spinner',
    text: 'clustering:  31% (174/558) [##     ] eta 22:11:09 |Terminated',
    kinds: ['job_killed'],
    facts: { signal: 'SIGTERM' },
  },
  {
    name: 'a worker of Celery',
    text: "[2026-03-01 09:10:11,326: ERROR/MainProcess] Process 'ForkPoolWorker-7' pid:88 exited with 'signal 9 (SIGKILL)'",
    kinds: ['job_killed'],
    facts: { signal: 'SIGKILL' },
  },
  {
    name: 'the runner was shut down',
    text: 'make: *** [Makefile:9: fit] Terminated\n##[error]Process completed with exit code 143.\n##[error]The runner has received a shutdown signal. This can happen when the runner service is stopped.',
    kinds: ['job_killed'],
    facts: { exit_code: 143, pattern: 'node_failed' },
  },
  {
    name: "mpiexec's exit string",
    text: '==========================\n=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   PID 4242 RUNNING AT node-b\n=   EXIT CODE: 9\n=   CLEANING UP REMAINING PROCESSES\n==========================\nYOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)',
    kinds: ['job_killed'],
    facts: { signal: 'SIGKILL', pid: 4242 },
  },
]
