// Ends of jobs of the kind job_failed; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  { name: 'an exit code', text: 'epoch 2 done\nsrun: error: gpu-3: task 1: Exited with exit code 3', kinds: ['job_failed'], facts: { exit_code: 3, rank: 1 } },
  { name: 'a runtime', text: 'state:\n  terminated:\n    exitCode: 128\n    reason: StartError', kinds: ['job_failed'], facts: { exit_code: 128 } },
  { name: 'last words', text: 'reading shards\nerror: the manifest holds no shards', kinds: ['job_failed'] },
  { name: 'quiet: code 0', text: 'Process finished with exit code 0', kinds: [] },
  {
    name: "a server's record says why",
    text: "E0103 10:11:12.100000 1 model_lifecycle.cc:597] failed to load 'rank' version 2: Internal: the file ends early\nI0103 10:11:13.100000 1 server.cc:300] stopping\nerror: creating server: Internal - failed to load all models",
    kinds: ['job_failed'],
  },
  {
    name: 'supervisord',
    text: '2026-03-02 10:00:00,100 INFO exited: fit (exit status 4; not expected)\n2026-03-02 10:00:09,100 INFO gave up: fit entered FATAL state, too many start retries too quickly',
    kinds: ['job_failed'],
    facts: { exit_code: 4 },
  },
  {
    name: 'Open MPI, over two lines',
    text: 'MPI_ABORT was invoked on rank 2 in communicator MPI_COMM_WORLD\nwith errorcode 9.',
    kinds: ['job_failed'],
    facts: { rank: 2, exit_code: 9 },
  },
  { name: 'a credential', text: 'srun: error: Task launch for StepId=6.0 failed on node n8: Invalid job credential', kinds: ['job_failed'] },
  { name: 'a pod that crashes', text: 'llm-5c9f7d5d8b-zzzzz    0/1     CrashLoopBackOff   11 (2m ago)    48m', kinds: ['job_failed'] },
  { name: 'Jenkins', text: "+ python fit.py\nBuild step 'Execute shell' marked build as failure\nFinished: FAILURE", kinds: ['job_failed'] },
  { name: 'Vertex AI', text: 'The replica workerpool1-0 exited with a non-zero status of 3.', kinds: ['job_failed'], facts: { exit_code: 3 } },
  {
    name: 'MPICH',
    text: '=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   RANK 2 PID 5151 RUNNING AT box-4\n=   EXIT CODE: 7\n=   CLEANING UP REMAINING PROCESSES',
    kinds: ['job_failed'],
    facts: { exit_code: 7, rank: 2, pid: 5151 },
  },
  {
    name: 'Hydra without its traceback',
    text: "[2026-02-01 08:00:00,000][__main__][ERROR] - Error executing job with overrides: ['lr=0.1']",
    kinds: ['job_failed'],
  },
  { name: 'quiet: Jenkins was content', text: '+ python fit.py\nFinished: SUCCESS', kinds: [] },
  { name: 'SkyPilot', text: 'ERROR: Job 3 failed with return code list: [9]', kinds: ['job_failed'], facts: { exit_code: 9 } },
  { name: 'supervisord', text: 'INFO gave up: fit entered FATAL state, too many start retries too quickly', kinds: ['job_failed'] },
  {
    name: 'Slurm clears away what is left of a step that failed',
    text: 'srun: error: n12: tasks 1,3: Exited with exit code 3\nsrun: Terminating StepId=8812.0\nslurmstepd: error: *** STEP 8812.0 ON n12 CANCELLED AT 2026-02-11T08:40:12 ***\nsrun: error: n12: tasks 0,2: Exited with exit code 3',
    kinds: ['job_failed'],
    facts: { exit_code: 3, job_id: 8812 },
  },
  {
    name: 'LSF names its job above',
    text: 'Subject: Job 55120: <fit> in cluster <north> Exited\n\nJob <fit> was submitted from host <login2>.\n\n# LSBATCH: User input\n./run.sh\n\nExited with exit code 7.\n\nResource usage summary:',
    kinds: ['job_failed'],
    facts: { exit_code: 7, job_id: 55_120 },
  },
  {
    name: 'MPICH ends all ranks',
    text: 'Abort(5) on node 2 (rank 2 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 5) - process 2',
    kinds: ['job_failed'],
    facts: { exit_code: 5, rank: 2 },
  },
  {
    name: 'Snakemake',
    text: 'Error in rule fit:\n    jobid: 3\n    output: models/m3.pt\n\nShutting down, this might take some time.\nExiting because a job execution failed. Look below for error messages\nComplete log: .snakemake/log/2026-05-09.snakemake.log',
    kinds: ['job_failed'],
  },
  {
    name: 'NAMD says more below its error',
    text: 'ERROR: Atoms moving too fast; simulation has become unstable (3 atoms on patch 4 pe 1).\nERROR: Exiting prematurely; see error messages above.\n====================================================\n\nWallClock: 12.4  CPU',
    kinds: ['job_failed'],
  },
  {
    name: 'what a program says before it ends all ranks',
    text: ' wrong number of slices\n Error detected, aborting MPI... proc            0\n--------------------------------------------------------------------------\nMPI_ABORT was invoked on rank 0 in communicator MPI_COMM_WORLD\nwith errorcode 30.',
    kinds: ['job_failed'],
    facts: { rank: 0, exit_code: 30 },
  },
  {
    name: 'a call of CUDA in a transport',
    text: 'node-b.4242fit: CUDA failure: cuIpcOpenMemHandle() (at /tmp/psm/cache.c:281)returned 208\nnode-b.4242Error returned from CUDA function.',
    kinds: ['job_failed'],
  },
  {
    name: "SageMaker's last word",
    text: '2026-02-03 09:00:01 Uploading - Uploading generated training model\n2026-02-03 09:00:01 Failed - Training job failed',
    kinds: ['job_failed'],
  },
  {
    name: 'Taskcluster',
    text: '[taskcluster 2026-02-03 09:00:01.532Z] Unsuccessful task run with exit code: 3 completed in 41.2 seconds',
    kinds: ['job_failed'],
    facts: { exit_code: 3 },
  },
]
