// Ends of jobs of the kind cancelled; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'Ctrl-C',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\n  File "/srv/job/loop.py", line 12, in wait\n    time.sleep(1)\nKeyboardInterrupt',
    kinds: ['cancelled'],
    facts: { exception: 'KeyboardInterrupt', frame: 'loop.py:12' },
  },
  {
    name: 'scancel',
    text: 'step 4\nslurmstepd: error: *** JOB 4411 ON gpu-7 CANCELLED AT 2026-03-02T10:00:00 ***',
    kinds: ['cancelled'],
    facts: { job_id: 4411 },
  },
  {
    name: 'DeepSpeed',
    text: '[2026-03-02 10:00:00,000] [INFO] [launch.py:351:sigkill_handler] Main process received SIGINT, exiting',
    kinds: ['cancelled'],
    facts: { signal: 'SIGINT' },
  },
  {
    name: 'after a failure it is the clean-up',
    text: 'Traceback (most recent call last):\n  File "/srv/job/main.py", line 41, in <module>\n    run(settings)\nKeyError: \'x\'\nsrun: error: gpu-7: task 3: Exited with exit code 1\nslurmstepd: error: *** STEP 4411.0 ON gpu-7 CANCELLED AT 2026-03-02T10:00:00 ***',
    kinds: ['python_exception'],
    facts: { exit_code: 1, rank: 3, job_id: 4411 },
  },
  { name: 'quiet: an order', text: 'order 4411 was cancelled at checkout', kinds: [] },
  { name: 'quiet: documentation', text: 'A job that was cancelled by the user shows code 130.', kinds: [] },
  { name: 'GitHub Actions', text: 'pass 2 cost 0.31\nError: The operation was canceled.', kinds: ['cancelled'] },
  { name: 'Jenkins', text: 'Aborted by Kim Example\nSending interrupt signal to process\nFinished: ABORTED', kinds: ['cancelled'] },
  { name: 'HTCondor', text: '009 (77.000.000) 2026-02-01 08:00:00 Job was aborted.\n\tvia condor_rm (by user kim)', kinds: ['cancelled'] },
  { name: 'seff', text: 'Job ID: 4711\nState: CANCELLED (exit code 0)', kinds: ['cancelled'] },
  {
    name: 'GitHub Actions',
    text: '2026-03-01T10:00:05.1Z epoch 5/20: loss=0.702\n2026-03-01T10:00:44.3Z ##[error]The operation was canceled.\n2026-03-01T10:00:44.9Z Post job cleanup.',
    kinds: ['cancelled'],
  },
  {
    name: 'Buildkite',
    text: 'step 4 of 9\n# Received cancellation signal, interrupting',
    kinds: ['cancelled'],
  },
]
