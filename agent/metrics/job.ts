// Jobs: what runs, how runs ended, and what each job used since the agent started.
import { defineMetric } from '../model/metric.ts'

export const jobInfo = defineMetric({
  name: 'warpwatch_job_info',
  subject: 'job',
  kind: 'info',
  unit: '1',
  help: 'A running job: its id over all runs, the number of this run, who runs it, what it is (container, pod, slurm, unit, exec, session), account and partition of a Slurm job, and the GPUs that it holds.',
  labels: ['job', 'job_id', 'run', 'kind', 'user', 'namespace', 'container', 'slurm_job', 'account', 'partition', 'unit', 'gpus'],
  history: false,
})
export const jobRunsTotal = defineMetric({
  name: 'warpwatch_job_runs_total',
  subject: 'job',
  kind: 'counter',
  unit: '{run}',
  help: 'Runs that ended since the agent started, by outcome; counted ten seconds after the end, when late log lines have been read.',
  labels: ['job', 'outcome'],
  history: false,
})
export const jobGpuSecondsTotal = defineMetric({
  name: 'warpwatch_job_gpu_seconds_total',
  subject: 'job',
  kind: 'counter',
  unit: 's',
  help: "GPU time of the job since the agent started: its share of the time in which a kernel ran (active) or none did (idle) while it held GPU memory; lost: the part of both that bad ends threw away, since the last state that was saved or the run's start.",
  labels: ['job', 'state'],
  history: false,
})
export const jobEnergyJoulesTotal = defineMetric({
  name: 'warpwatch_job_energy_joules_total',
  subject: 'job',
  kind: 'counter',
  unit: 'J',
  help: 'Energy of the GPUs while the job held their memory, split evenly between jobs on one GPU; absent where the power cannot be read.',
  labels: ['job'],
  history: false,
})

const USE_LABELS = ['user', 'namespace', 'account'] as const
export const usageGpuSecondsTotal = defineMetric({
  name: 'warpwatch_usage_gpu_seconds_total',
  subject: 'job',
  kind: 'counter',
  unit: 's',
  help: 'GPU time by user, namespace and Slurm account since the agent started: held (GPU memory was held), active (its kernels ran), idle (its share of the time in which none ran). At most 200 combinations; the others are together under user="(others)", what nobody knows has no labels.',
  labels: [...USE_LABELS, 'state'],
  history: false,
})
export const usageEnergyJoulesTotal = defineMetric({
  name: 'warpwatch_usage_energy_joules_total',
  subject: 'job',
  kind: 'counter',
  unit: 'J',
  help: "Energy of the GPUs by user, namespace and Slurm account since the agent started: of the GPU's counter the part above idle by utilization, the idle power by who held the GPU.",
  labels: USE_LABELS,
  history: false,
})
export const usageTokensTotal = defineMetric({
  name: 'warpwatch_usage_tokens_total',
  subject: 'job',
  kind: 'counter',
  unit: '{token}',
  help: 'Tokens that inference servers processed, by user, namespace and Slurm account of the server since the agent started.',
  labels: USE_LABELS,
  history: false,
})
