// Ends of jobs of the kind preempted; written for this test.
import type { Facts } from '../../../../agent/model/facts.ts'
import type { LogKind } from '../../../../agent/model/kinds.ts'

export const examples: readonly { name: string; text: string; kinds: readonly LogKind[]; facts?: Facts }[] = [
  {
    name: 'Slurm',
    text: 'slurmstepd: error: *** JOB 17 ON gpu-1 CANCELLED AT 2026-03-02T10:00:00 DUE TO PREEMPTION ***',
    kinds: ['preempted'],
    facts: { job_id: 17 },
  },
  {
    name: 'requeued',
    text: 'slurmstepd: error: *** JOB 18 ON gpu-1 CANCELLED AT 2026-03-02T10:00:00 DUE TO JOB REQUEUE ***',
    kinds: ['preempted'],
    facts: { job_id: 18 },
  },
  { name: 'a spot machine', text: 'agent: Spot Instance interruption notice received, stopping in 2 minutes', kinds: ['preempted'] },
  { name: 'quiet: a partition', text: '2026-03-02 10:00:00,000 INFO plan: partition preempt, 4 nodes', kinds: [] },
  { name: 'AWS Batch lost its host', text: 'statusReason: Host EC2 (instance i-00ff00ff00ff) terminated.', kinds: ['preempted'] },
  { name: 'HTCondor', text: '004 (77.000.000) 2026-02-01 08:00:00 Job was evicted.', kinds: ['preempted'] },
]
