// Ends of jobs of the kind time_limit; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'Slurm',
    text: 'slurmstepd: error: *** JOB 991 ON gpu-1 CANCELLED AT 2026-03-02T10:00:00 DUE TO TIME LIMIT ***\nTraceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nKeyboardInterrupt',
    kinds: ['time_limit'],
    facts: { job_id: 991 },
  },
  { name: 'Kubernetes', text: 'status:\n  reason: DeadlineExceeded\n  phase: Failed', kinds: ['time_limit'] },
  { name: 'PBS', text: '=>> PBS: job killed: walltime 7210 exceeded limit 7200', kinds: ['time_limit'] },
  { name: 'quiet: it is only told', text: '2026-03-02 10:00:00,000 INFO plan: time limit is 4 h', kinds: [] },
  { name: 'a time-out of a CI step after the shell said that it terminated it', text: 'Terminated\nscript returned exit code 124', kinds: ['time_limit'] },
  { name: 'Jenkins', text: 'pass 2 cost 0.31\nBuild timed out (after 45 minutes). Marking the build as aborted.\nFinished: ABORTED', kinds: ['time_limit'] },
  { name: 'a runner of GitLab', text: 'ERROR: Job failed: execution took longer than 2h0m0s seconds', kinds: ['time_limit'] },
  { name: 'a runner of GitHub', text: "Error: The action 'Fit' has timed out after 30 minutes.", kinds: ['time_limit'] },
  { name: 'AWS Batch', text: 'statusReason: Job attempt duration exceeded timeout', kinds: ['time_limit'] },
  { name: 'SageMaker', text: '2026-02-01 08:00:00 MaxRuntimeExceeded - the run took longer than it may', kinds: ['time_limit'] },
  { name: 'systemd', text: "fit.service: Failed with result 'timeout'.", kinds: ['time_limit'] },
  { name: 'quiet: a limit of a build that is only set', text: 'options: timeout(time: 45, unit: MINUTES)\nFinished: SUCCESS', kinds: [] },
  { name: 'CircleCI', text: 'Too long with no output (exceeded 15m0s): context deadline exceeded', kinds: ['time_limit'] },
  { name: 'salloc', text: 'salloc: Job 4711 has exceeded its time limit and its allocation has been revoked.', kinds: ['time_limit'] },
  { name: 'seff', text: 'Job ID: 4711\nState: TIMEOUT (exit code 0)', kinds: ['time_limit'] },
  { name: 'quiet: seff of a job that ended well', text: 'Job ID: 4711\nState: COMPLETED (exit code 0)', kinds: [] },
  {
    name: 'two jobs in one file: the last decides',
    text: 'slurmstepd: error: *** JOB 4101 ON n7 CANCELLED AT 2026-02-01T12:04:20 DUE TO TIME LIMIT ***\nslurmstepd: error: *** JOB 4188 ON n7 CANCELLED AT 2026-02-02T21:17:22 DUE TO TIME LIMIT ***',
    kinds: ['time_limit'],
    facts: { job_id: 4188 },
  },
  {
    name: 'Torque',
    text: 'Exec host:  node-4/0\nAborted by PBS Server\nJob exceeded its walltime limit. Job was aborted\nSee Administrator for help\nExit_status=-11\nresources_used.walltime=24:00:12',
    kinds: ['time_limit'],
  },
  {
    name: 'Moab',
    text: 'job deleted\nJob deleted at request of root@head\nMOAB_INFO:  job exceeded wallclock limit',
    kinds: ['time_limit'],
  },
]
