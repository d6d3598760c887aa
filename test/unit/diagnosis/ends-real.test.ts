// Ends in forms that people paste into threads: MPI's ways to end all ranks, Java's own heap, panics behind a logger, states of batch systems, and what is none.
import { describe, expect, test } from 'vitest'
import { explainText } from '../../../agent/diagnosis/explain.ts'
import { logScanner } from '../../../agent/diagnosis/log-scanner.ts'
import type { Facts } from '../../../agent/model/facts.ts'
import type { LogKind } from '../../../agent/model/kinds.ts'
import { answer } from './answer.ts'

const first = (text: string) => explainText(logScanner(), text)[0]

test.each<readonly [name: string, text: string, kind: LogKind, facts: Facts]>([
  [
    'Open MPI 5: who ended all ranks, on three lines',
    '------\nMPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\n  Proc: [[4411,0],3]\n  Errorcode: 7\n\nNOTE: invoking MPI_ABORT causes Open MPI to kill all MPI processes.',
    'job_failed',
    { rank: 3, exit_code: 7 },
  ],
  ['MPICH: a process that ends all others', 'application called MPI_Abort(MPI_COMM_WORLD, 16) - process 2', 'job_failed', { rank: 2, exit_code: 16 }],
  ['the same without a code', 'application called MPI_Abort(MPI_COMM_WORLD, 0) - process 5[cli_5]: aborting job:', 'job_failed', { rank: 5 }],
  [
    'the exit code that wandb prints',
    'wandb: Waiting for W&B process to finish... (failed 3). Press Control-C to abort syncing.',
    'job_failed',
    { exit_code: 3 },
  ],
  [
    'scontrol --oneliner',
    'JobId=5120 JobName=fit UserId=ana(1000) JobState=TIMEOUT Reason=TimeLimit Restarts=0 ExitCode=0:0 RunTime=02:00:12',
    'time_limit',
    {},
  ],
  [
    'memory that .NET did not get',
    "Unhandled exception. System.OutOfMemoryException: Exception of type 'System.OutOfMemoryException' was thrown.",
    'host_memory',
    {},
  ],
  [
    "Fujitsu's launcher",
    '[WARN] PLE 0608 plexec One of MPI processes was aborted.(rank=4)(nid=0x0a010002)(CODE=1903,3028,256)(DETAIL=N/A)',
    'job_failed',
    { rank: 4 },
  ],
  [
    'a panic behind a logger, with a path of Windows',
    "10:11:12.131 [panic][ERROR] thread 'main' panicked at 'no adapter: NotFound': D:\\src\\viewer\\main.rs:77\n   0: <unknown>",
    'aborted',
    {},
  ],
  [
    'an exception of C++ with its words in the same line',
    "terminate called after throwing an instance of 'std::runtime_error' what(): unexpectedly reached end of file Aborted (core dumped)",
    'checkpoint_mismatch',
    { pattern: 'unreadable' },
  ],
  [
    'Slurm says of a step that it is cancelled before it says which task failed',
    'srun: Job step aborted: Waiting up to 32 seconds for job step to finish.\nslurmstepd: error: *** STEP 5120.0 ON n07 CANCELLED AT 2026-03-04T11:02:33 ***\nsrun: error: n07: task 2: Exited with exit code 1\nsrun: error: n08: tasks 4-7: Terminated',
    'job_failed',
    { rank: 2, exit_code: 1 },
  ],
  [
    'a person cancels the job, and a task answers SIGTERM with a code',
    'slurmstepd: error: *** STEP 5121.0 ON n07 CANCELLED AT 2026-03-04T11:02:33 ***\nsrun: error: n07: task 0: Exited with exit code 1\nslurmstepd: error: *** JOB 5121 ON n07 CANCELLED AT 2026-03-04T11:02:33 ***',
    'cancelled',
    { job_id: 5121 },
  ],
  ['abort() of Visual C++', 'Microsoft Visual C++ Runtime Library\nDebug Error!\nProgram: D:\\fit\\fit.exe\nabort() has been called', 'aborted', {}],
  [
    'CRAB: killed at the limit',
    '2031-02-03 04:05:06:ERROR:RetryJob Not retrying job due to wall clock limit (job automatically killed on the worker node)\nJobs lasted 90.0 seconds vs. 60 MAX',
    'time_limit',
    {},
  ],
  [
    'a cloud that takes its machine back',
    'Feb 03 04:05:06 fit-v100-7 start-worker 2031/02/03 04:05:06 Metadata Service says termination is imminent',
    'preempted',
    {},
  ],
  ['a row of sacct -P', '4411|ann|lab1|gpu|2031-02-03T04:05:06|CANCELLED by 1042|16G||4|00:10:00|0:0', 'cancelled', {}],
  [
    'Snakemake at Ctrl-C',
    'rule trim:\n    jobid: 4\n^CTerminating processes on user request, this might take some time.\nWorkflowError:\nUnable to cancel jobs with scancel (exit code 1)',
    'cancelled',
    {},
  ],
  [
    'a scaler of mixed precision that finds no scale',
    [3, 2, 1].map((n) => `Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to ${n}.5e-40`).join('\n'),
    'nan_loss',
    {},
  ],
  [
    'a script that may not be run',
    'slurmstepd: error: execve(): fit.sh: Permission denied\nsrun: error: n7: task 0: Exited with exit code 13',
    'permission_denied',
    { path: 'fit.sh' },
  ],
  [
    'what Open MPI says of a crash keeps its process',
    '[n7:4242] *** Process received signal ***\n[n7:4242] Signal: Segmentation fault (11)\n[n7:4242] Signal code: Address not mapped (1)\n[n7:4242] [ 0] [0xc4440c]',
    'segfault',
    { signal: 'SIGSEGV', pid: 4242 },
  ],
  [
    "SageMaker's client: a code",
    'UnexpectedStatusException: Error for Training job fit-7: Failed. Reason: AlgorithmError: Exit Code: 3',
    'job_failed',
    { exit_code: 3 },
  ],
  ['and a signal', 'ValueError: Error training fit-7: Failed Reason: AlgorithmError: Exit Code: 139', 'segfault', { exit_code: 139 }],
  [
    'HTCondor: a code of its own',
    '005 (77.000.000) 2031-02-03 04:15:06 Job terminated.\n\t(1) Normal termination (return value 4)',
    'job_failed',
    { exit_code: 4 },
  ],
  [
    'HTCondor: a signal',
    '005 (77.000.000) 2031-02-03 04:15:06 Job terminated.\n\t(0) Abnormal termination (signal 9)\n\t(0) No core file',
    'job_killed',
    { signal: 'SIGKILL' },
  ],
  [
    'HTCondor: its machine is gone',
    '022 (77.000.000) 02/03 04:12:43 Job disconnected, attempting to reconnect\n    Socket between submit and execute hosts closed unexpectedly\n...\n024 (77.000.000) 02/03 04:12:51 Job reconnection failed\n    Job not found at execution machine',
    'job_killed',
    { pattern: 'node_failed' },
  ],
  ['sacct -P, with names', 'JobID|JobName|State|ExitCode\n4411|fit|TIMEOUT|0:0\n4411.batch|batch|CANCELLED|0:15', 'time_limit', { job_id: 4411 }],
  ['sacct -nP', '4411|fit|OUT_OF_MEMORY|0:125', 'host_oom_kill', {}],
  ['Ray Tune: no trial is well', '== Status ==\nNumber of trials: 3/3 (3 ERROR)\n| fit_1 | ERROR |', 'job_failed', {}],
  [
    'Ray Tune at Ctrl-C',
    '^C2031-02-03 04:05:06,001\tWARNING tune.py:219 -- Stop signal received (e.g. via SIGINT/Ctrl+C), ending Ray Tune run. This will try to checkpoint one last time.',
    'cancelled',
    {},
  ],
  [
    'a runner of GitHub, with a mark less',
    '2031-02-03T04:05:06.1Z Deploy begins\n#[error]The runner has received a shutdown signal. This can happen when the runner service is stopped.',
    'job_killed',
    {},
  ],
  [
    'a notebook on Windows: the line of the cell',
    'ValueError                                Traceback (most recent call last)\n~\\AppData\\Local\\Temp\\ipykernel_77\\123456.py in <module>\n      1 # fit\n----> 2 fit(rows)\n\n~\\AppData\\Roaming\\Python\\Python39\\site-packages\\rowlib\\fit.py in fit(rows)\n      6     # all of them\n----> 7     check(rows)\n\nValueError: no rows',
    'python_exception',
    { exception: 'ValueError', frame: '123456.py:2' },
  ],
  ['a script that prints its code', 'fit: no rows of class 3\n\nEXIT CODE: 5', 'job_failed', { exit_code: 5 }],
  [
    "Open MPI's handler of errors",
    '[n07:4411] *** An error occurred in MPI_Bcast\n[n07:4411] *** reported by process [271828,3]\n[n07:4411] *** on communicator MPI_COMM_WORLD\n[n07:4411] *** MPI_ERR_TRUNCATE: message truncated\n[n07:4411] *** MPI_ERRORS_ARE_FATAL (processes in this communicator will now abort,\n[n07:4411] ***    and potentially your MPI job)',
    'job_failed',
    { rank: 3 },
  ],
  [
    'MPI after its end',
    '*** The MPI_Barrier() function was called after MPI_FINALIZE was invoked.\n*** This is disallowed by the MPI standard.\n*** Your MPI job will now abort.',
    'job_failed',
    {},
  ],
  [
    "Mellanox' MXM",
    '[n07:4411:0] Caught signal 11 (Segmentation fault)\n==== backtrace ====\n 2 0x0000000000068d1c mxm_handle_error()',
    'segfault',
    { signal: 'SIGSEGV', pid: 4411 },
  ],
  [
    "Intel's Fortran, ended by another",
    'forrtl: error (78): process killed (SIGTERM)\nImage              PC                Routine            Line        Source',
    'job_killed',
    { signal: 'SIGTERM' },
  ],
  [
    'Julia, refused by CUDA',
    'ERROR: Out of GPU memory\nStacktrace:\n  [1] throw_api_error(res::CUDA.cudaError_enum)\n    @ CUDA ~/.julia/packages/CUDA/Wx/lib/cudadrv/libcuda.jl:28',
    'cuda_oom',
    {},
  ],
  [
    "A notebook's server starts a new kernel",
    '[I 2031-02-03 04:05:06.700 ServerApp] AsyncIOLoopKernelRestarter: restarting kernel (1/5), keep random ports',
    'worker_died',
    {},
  ],
  [
    'Azure ML',
    'UserError: AzureMLCompute job failed. PreemptionError: Nodes of this job got pre-empted. Reason: Received pre-emption warning signal.',
    'preempted',
    {},
  ],
  ['EC2 has no room', '2031-02-03T04:05:06+0000 : Spot Instance terminated. [instance-terminated-no-capacity]', 'preempted', {}],
  ['EC2, by its user', '2031-02-03T04:05:06+0000 : Spot Instance terminated due to user-initiated termination. [instance-terminated-by-user]', 'cancelled', {}],
  [
    'Keras ends where the loss is gone',
    ' 3/90 [>....] - ETA: 12:04 - loss: 44.4110Batch 3: Invalid loss, terminating training\n 4/90 [>....] - ETA: 11:58 - loss: inf',
    'nan_loss',
    {},
  ],
  ['Snakemake', 'Error in rule align:\n    jobid: 7\n    shell:\n\talign a.fq > a.bam\n        (command exited with non-zero exit code)', 'job_failed', {}],
  ["Grid Engine's qacct", 'jobname      fit\njobnumber    4411\nfailed       0\nexit_status  3\nru_wallclock 12', 'job_failed', { exit_code: 3 }],
  [
    "Triton's server",
    'Signal (11) received.\n 0# 0x0000602207409 in /opt/tritonserver/bin/tritonserver\n 1# 0x00007f24 in /usr/lib64/libc.so.6',
    'segfault',
    { signal: 'SIGSEGV' },
  ],
  [
    "Windows' event log",
    '<Data Name="AppName">python.exe</Data>\n<Data Name="ModuleName">torch_cpu.dll</Data>\n<Data Name="ExceptionCode">c0000005</Data>',
    'segfault',
    { signal: 'SIGSEGV' },
  ],
  [
    'TorchServe watched a worker that died',
    '2031-02-03 04:05:06,130 [DEBUG] W-9006-fit org.pytorch.serve.wlm.WorkerThread - Backend worker monitoring thread interrupted or backend worker process died.\njava.lang.InterruptedException\n\tat java.util.concurrent.ArrayBlockingQueue.poll(ArrayBlockingQueue.java:418)\n\tat org.pytorch.serve.wlm.WorkerThread.run(WorkerThread.java:128)\n\tat java.lang.Thread.run(Thread.java:748)',
    'worker_died',
    {},
  ],
  [
    "Torch 7's memory",
    '/opt/torch/bin/luajit: $ Torch: not enough memory: you tried to allocate 3GB. Buy new RAM! at /tmp/luarocks_torch-scm-1-77/torch7/lib/TH/THGeneral.c:266\nstack traceback:\n\t[C]: at 0x7f00\n\t/opt/torch/share/lua/5.1/nn/Linear.lua:21: in function <init>\n\tfit.lua:31: in main chunk',
    'host_memory',
    { frame: 'fit.lua:31', requested_bytes: 3 * 2 ** 30 },
  ],
  [
    'Go, pasted without its tabs',
    'panic: runtime error: index out of range [1] with length 1\n\ngoroutine 7 [running]:\nexample.com/fit/vendor/k8s.io/util.HandleCrash(0x0)\n/home/ann/fit/vendor/k8s.io/util/runtime.go:58 +0x107\npanic(0xfb2f60)\n/home/ann/go/src/runtime/panic.go:502 +0x229\nmain.(*job).rows.func1(...)\n/home/ann/fit/rows.go:41\nmain.main()\n/home/ann/fit/main.go:9 +0x1d',
    'aborted',
    { frame: 'rows.go:41' },
  ],
  [
    'Julia, without words',
    'ERROR: StackOverflowError:\nStacktrace:\n [1] fit(x::Int64) (repeats 79984 times)\n   @ Main ~/fit.jl:4',
    'python_exception',
    { exception: 'StackOverflowError' },
  ],
])('%s', (_, text, kind, facts) => {
  const fault = first(text)
  expect(fault?.kind).toBe(kind)
  expect(fault?.facts).toMatchObject(facts)
})

test.each<readonly [name: string, text: string, kind: LogKind, said: RegExp]>([
  [
    "Java's heap is not the host's memory",
    'Exception in thread "main" java.lang.OutOfMemoryError: Java heap space\n\tat org.fit.rows.Reader.read(Reader.java:41)\n\tat org.fit.Main.main(Main.java:9)',
    'host_memory',
    /^Java's heap is full[^]*JAVA_TOOL_OPTIONS=-Xmx/,
  ],
  [
    'of Spark',
    'ERROR SparkUncaughtExceptionHandler: Uncaught exception in thread Thread[Executor task launch worker-3,5,main]\njava.lang.OutOfMemoryError: GC overhead limit exceeded\n\tat org.fit.Rows.read(Rows.java:7)',
    'host_memory',
    /spark-submit --driver-memory/,
  ],
  [
    'a heap that cannot be had',
    'java -Xmx900G -jar fit.jar\nError occurred during initialization of VM\nCould not reserve enough space for 943718400KB object heap',
    'host_memory',
    /smaller -Xmx/,
  ],
  ['Node', 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory', 'host_memory', /^Node's heap is full[^]*--max-old-space-size/],
  [
    'Slurm on a machine that knows no cluster',
    'srun: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\nsrun: error: fetch_config: DNS SRV lookup failed\nsrun: fatal: Could not establish a configuration source',
    'config_error',
    /^Slurm is not set up here[^]*SLURM_CONF/,
  ],
])('%s', (_, text, kind, said) => {
  const got = answer(text)
  expect(got.kind).toBe(kind)
  expect(got.all).toMatch(said)
})

describe('none', () => {
  test.each([
    [
      'a scaler that finds its scale',
      [65536, 32768, 16384].map((n) => `Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to ${n}.0`).join('\n'),
    ],
    [
      'a signal that Lightning ignores, and goes on',
      'Epoch 1:  10%|█         | 10/100 [00:10<01:30,  1.0it/s]\n[rank: 0] Received SIGTERM: 15\nBypassing SIGTERM: 15\nEpoch 1:  20%|██        | 20/100 [00:20<01:20,  1.0it/s]\nEpoch 1:  30%|███       | 30/100 [00:30<01:10,  1.0it/s]\nEpoch 1:  40%|████      | 40/100 [00:40<01:00,  1.0it/s]',
    ],
    ['HTCondor: a good end', '005 (77.000.000) 2031-02-03 04:15:06 Job terminated.\n\t(1) Normal termination (return value 0)'],
    [
      'a full disk that is only a warning',
      '/env/site-packages/joblib/_multiprocessing_helpers.py:46: UserWarning: [Errno 28] No space left on device.  joblib will operate in serial mode\n  warnings.warn(\nfold 1: auc 0.81\nfold 2: auc 0.83',
    ],
    ["Triton's server is asked to stop", 'Signal (15) received.\nWaiting for in-flight requests to complete.'],
    ["Grid Engine's qacct: a good end", 'jobnumber    4411\nfailed       0\nexit_status  0'],
    ['a table of tests', '1|parse|TIMEOUT\n2|fit|ok'],
    ['advice on limits', 'Note: jobs may be killed due to wall clock limit; ask for more time if yours exceed the run time limit.'],
    [
      'a launcher that goes on',
      'Job 7 was given 3 h; checkpoint every 30 min so that a run that exceeds the time limit can go on\nstep 100 of 900: loss 2.31\nstep 200 of 900: loss 2.11',
    ],
  ])('%s', (_, text) => {
    expect(explainText(logScanner(), text)).toEqual([])
  })
})
