// A job with all that a row can hold.
import type { JobRow, Run } from '../../../agent/model/job.ts'
import { T } from './fixture.ts'
import { INCIDENT } from './incident-fixture.ts'

export const RUN: Run = {
  job_id: INCIDENT.id,
  job: 'train',
  kind: 'container',
  user: 'ada',
  namespace: 'ml',
  container: 'train',
  container_id: '0123456789ab',
  image: 'train:1',
  pid: 4242,
  command: 'python train.py',
  run: 3,
  started_at: T - 3_600_000,
  ended_at: T,
  seen_at: T,
  outcome: 'out_of_memory',
  reason: 'It ran out of memory (exit code 1)',
  exit_code: 1,
  gpus: [
    { uuid: 'GPU-0', gpu: '0', share: 0.5, held_seconds: 3_600, active_seconds: 1_200, idle_seconds: 600, energy_joules: 500_000, memory_peak_bytes: 2 ** 34 },
    { uuid: 'GPU-1', gpu: '1', gi: '3', ci: '0', share: 1, held_seconds: 3_600 },
  ],
  gpu_seconds: { active: 1_200, idle: 600, lost: 300 },
  energy_joules: 500_000,
  memory_peak_bytes: 2 ** 33,
  gpu_memory_peak_bytes: 2 ** 34,
  incidents: [{ id: INCIDENT.id, kind: INCIDENT.kind, title: INCIDENT.title }],
}
const { job_id, job, kind, user, namespace, gpu_seconds, energy_joules, memory_peak_bytes, gpu_memory_peak_bytes } = RUN
export const JOB: JobRow = {
  job_id,
  job,
  kind,
  gpu_seconds,
  ...(user === undefined || namespace === undefined ? {} : { user, namespace }),
  runs: 3,
  running: 0,
  outcomes: { completed: 2, out_of_memory: 1 },
  ...(energy_joules === undefined ? {} : { energy_joules }),
  ...(memory_peak_bytes === undefined ? {} : { memory_peak_bytes }),
  ...(gpu_memory_peak_bytes === undefined ? {} : { gpu_memory_peak_bytes }),
  last: RUN,
}
