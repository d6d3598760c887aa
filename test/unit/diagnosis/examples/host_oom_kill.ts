// Processes killed for want of host memory; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

const one: readonly LogKind[] = ['host_oom_kill']

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'a cgroup limit',
    text: '[  812.100000] python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n[  812.100100] memory: usage 2097152kB, limit 2097152kB, failcnt 70\n[  812.100200] oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/docker/aa,task_memcg=/docker/aa,task=python3,pid=6001,uid=0\n[  812.100300] Memory cgroup out of memory: Killed process 6001 (python3) total-vm:9000000kB, anon-rss:2000000kB, file-rss:100kB, shmem-rss:0kB, UID:0 pgtables:5000kB oom_score_adj:0',
    kinds: one,
    facts: { pid: 6001, process: 'python3', limit_bytes: 2097152 * 1024, anon_rss_bytes: 2000000 * 1024, total_vm_bytes: 9000000 * 1024 },
  },
  {
    name: 'the whole host',
    text: 'Nov 20 10:00:00 node1 kernel: Out of memory: Killed process 915 (My Trainer) total-vm:500kB, anon-rss:400kB, file-rss:0kB, shmem-rss:0kB',
    kinds: one,
    facts: { pid: 915, process: 'My Trainer' },
  },
  {
    name: 'an old kernel',
    text: 'Out of memory: Kill process 77 (java) score 900 or sacrifice child\nKilled process 77 (java) total-vm:2000kB, anon-rss:1000kB, file-rss:0kB',
    kinds: one,
    facts: { pid: 77, anon_rss_bytes: 1000 * 1024 },
  },
  { name: 'Docker', text: '        "Status": "exited",\n        "OOMKilled": true,\n        "ExitCode": 137,', kinds: one, facts: { exit_code: 137 } },
  { name: 'Kubernetes', text: '    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137', kinds: one, facts: { exit_code: 137 } },
  { name: 'Slurm', text: 'slurmstepd: error: Detected 3 oom_kill events in StepId=42.0. Some of the step tasks have been OOM Killed.', kinds: one },
  { name: 'DataLoader', text: 'RuntimeError: DataLoader worker (pid 4040) is killed by signal: Killed.', kinds: one, facts: { pid: 4040 } },
  { name: 'the shell', text: 'loading shard 11\nKilled\n', kinds: one },
  { name: 'another kind: Docker says no', text: '        "OOMKilled": false,\n        "ExitCode": 137,', kinds: ['job_killed'] },
  { name: 'another kind: 137 alone', text: 'container exited with code 137', kinds: ['job_killed'] },
  { name: 'quiet: TCP', text: 'kernel: TCP: out of memory -- consider tuning tcp_mem', kinds: [] },
  { name: 'quiet: somebody killed a process', text: 'systemd[1]: session-4.scope: Killing process 99 (bash) with signal SIGKILL.', kinds: [] },
  {
    name: 'another kind: the shell says that a program was killed which had failed already',
    text: 'Traceback (most recent call last):\n  File "/srv/fit.py", line 40, in <module>\n    main()\n  File "/srv/fit.py", line 12, in main\n    raise ValueError("no batches")\nValueError: no batches\nKilled\n',
    kinds: ['python_exception'],
  },
  {
    name: 'another kind: the header of the traceback is far above',
    text: `Traceback (most recent call last):\n${'  File "/srv/deep.py", line 9, in step\n    step(n - 1)\n'.repeat(20)}RecursionError: maximum recursion depth exceeded\nrun.sh: line 4: 812 Killed   python deep.py\n`,
    kinds: ['python_exception'],
  },
  {
    name: 'another kind: somebody killed it by hand, a watchdog or a time limit did',
    text: '$ kill -9 4311\nKilled\n\n\n',
    kinds: ['job_killed'],
  },
  {
    name: 'another kind: Slurm ended the job at its time limit',
    text: 'slurmstepd: error: *** JOB 77 ON n1 CANCELLED AT 2031-02-03T04:05:06 DUE TO TIME LIMIT ***\nKilled\n',
    kinds: ['time_limit'],
  },
  {
    name: 'a traceback that tells of a killed process speaks for the kernel',
    text: "Traceback (most recent call last):\n  File \"/srv/launch.py\", line 8, in <module>\n    run()\nsubprocess.CalledProcessError: Command ['python', 'fit.py'] died with <Signals.SIGKILL: 9>.\nKilled\n",
    kinds: one,
  },
  { name: 'a traceback for want of host memory, too', text: '  File "/srv/load.py", line 8, in read\nMemoryError\nKilled\n', kinds: one },
  { name: 'LSF', text: 'TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\nExited with exit code 137.', kinds: one, facts: { exit_code: 137 } },
  { name: 'PBS', text: '=>> PBS: job killed: mem 9437184kb exceeded limit 8388608kb', kinds: one },
  {
    name: 'systemd-oomd',
    text: 'systemd-oomd[8]: Killed /user.slice/user-7.slice/run-u4.scope due to memory pressure for /user.slice being 71.10% > 50.00% for > 20s with reclaim activity',
    kinds: ['host_oom_kill'],
  },
  {
    name: 'AWS Batch',
    text: 'container reason: OutOfMemoryError: Container killed due to memory usage\nexitCode: 137',
    kinds: ['host_oom_kill'],
    facts: { exit_code: 137 },
  },
  {
    name: 'HTCondor',
    text: 'Error from slot2@box-4: Job has gone over cgroup memory limit of 8192 megabytes.',
    kinds: ['host_oom_kill'],
    facts: { limit_bytes: 8_589_934_592 },
  },
  {
    name: 'Vertex AI',
    text: 'The replica workerpool1-0 ran out-of-memory and exited with a non-zero status of 137(SIGKILL).',
    kinds: ['host_oom_kill'],
    facts: { exit_code: 137 },
  },
  { name: 'YARN', text: 'Reason: Container killed by YARN for exceeding memory limits. 9.1 GB of 9 GB physical memory used.', kinds: ['host_oom_kill'] },
  { name: 'Kaggle', text: 'Your notebook tried to allocate more memory than is available. It has restarted.', kinds: ['host_oom_kill'] },
  { name: 'sacct', text: '4711         fit        gpu OUT_OF_ME+    0:125', kinds: ['host_oom_kill'] },
  {
    name: 'Databricks',
    text: 'The Python process exited with exit code 137 (SIGKILL: Killed). This may have been caused by an OOM error.',
    kinds: ['host_oom_kill'],
    facts: { exit_code: 137 },
  },
  {
    name: 'Torque',
    text: 'PBS Job Id: 9812.head\njob deleted\nJob deleted at request of root@head\njob 9812 exceeded MEM usage hard limit (5210 > 4096)',
    kinds: ['host_oom_kill'],
  },
  {
    name: "Dask's nanny, older",
    text: 'distributed.nanny - WARNING - Worker exceeded 95% memory budget.  Restarting\nTraceback (most recent call last):\n  File "/srv/job/mean.py", line 12, in <module>\n    frame.mean().compute()\n  File "/opt/py/lib/python3.8/site-packages/distributed/client.py", line 1652, in gather\n    asynchronous=asynchronous)\ndistributed.scheduler.KilledWorker: (\'mean\', 3)',
    kinds: ['host_oom_kill'],
    facts: { exception: 'KilledWorker', frame: 'mean.py:12' },
  },
  {
    name: 'HTCondor, of a job in Docker',
    text: '012 (77.000.000) 02/03 09:00:01 Job was held.\n	Error from slot1_2@shore: Docker job has gone over memory limit of 3072 Mb\n	Code 34 Subcode 0',
    kinds: ['host_oom_kill'],
  },
]
