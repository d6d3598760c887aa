// Jobs: how far each is, how fast, and how long it will take, as its own log says it.
import { defineMetric } from '../model/metric.ts'

const LABELS = ['job', 'rank'] as const

export const jobProgressRatio = defineMetric({
  name: 'warpwatch_job_progress_ratio',
  subject: 'job',
  field: 'progress_ratio',
  kind: 'gauge',
  unit: '1',
  help: 'Step by steps, of the epoch where the job counts so; absent when it does not say how many there are. `rank` where several ranks say their own.',
  labels: LABELS,
})
export const jobStep = defineMetric({
  name: 'warpwatch_job_step',
  subject: 'job',
  field: 'step',
  kind: 'gauge',
  unit: '{step}',
  help: 'The last step that the job printed; of the epoch where it counts so.',
  labels: LABELS,
})
export const jobSteps = defineMetric({
  name: 'warpwatch_job_steps',
  subject: 'job',
  field: 'steps',
  kind: 'gauge',
  unit: '{step}',
  help: 'The number of steps that the job counts to; absent when it does not say.',
  labels: LABELS,
})
export const jobStepRate = defineMetric({
  name: 'warpwatch_job_step_rate',
  subject: 'job',
  field: 'step_rate',
  kind: 'gauge',
  unit: '{step/s}',
  help: 'Steps a second: as printed, else from the times of the lines.',
  labels: LABELS,
})
export const jobSamplesRate = defineMetric({
  name: 'warpwatch_job_samples_rate',
  subject: 'job',
  field: 'samples_rate',
  kind: 'gauge',
  unit: '{sample/s}',
  help: 'Samples a second, where the job prints them.',
  labels: LABELS,
})
export const jobTokensRate = defineMetric({
  name: 'warpwatch_job_tokens_rate',
  subject: 'job',
  field: 'tokens_rate',
  kind: 'gauge',
  unit: '{token/s}',
  help: 'Tokens a second, where the job prints them; those generated for a server.',
  labels: LABELS,
})
export const jobLoss = defineMetric({
  name: 'warpwatch_job_loss',
  subject: 'job',
  field: 'loss',
  kind: 'gauge',
  unit: '1',
  help: 'The last training loss that the job printed; absent while it is not a number.',
  labels: LABELS,
})
export const jobEtaSeconds = defineMetric({
  name: 'warpwatch_job_eta_seconds',
  subject: 'job',
  field: 'eta_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Time left of the steps that the job counts to: as printed, else from the usual time of a step.',
  labels: LABELS,
})
export const jobLastProgressTimestampSeconds = defineMetric({
  name: 'warpwatch_job_last_progress_timestamp_seconds',
  subject: 'job',
  field: 'last_progress_timestamp_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'When the step changed last, Unix seconds.',
  labels: LABELS,
})
export const jobEtaEarliestSeconds = defineMetric({
  name: 'warpwatch_job_eta_earliest_seconds',
  subject: 'job',
  field: 'eta_earliest_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Time left if each step takes as long as the fastest quarter of the newest steps.',
  labels: LABELS,
})
export const jobEtaLatestSeconds = defineMetric({
  name: 'warpwatch_job_eta_latest_seconds',
  subject: 'job',
  field: 'eta_latest_seconds',
  kind: 'gauge',
  unit: 's',
  help: 'Time left if each step takes as long as the slowest quarter of the newest steps.',
  labels: LABELS,
})
export const jobEpoch = defineMetric({
  name: 'warpwatch_job_epoch',
  subject: 'job',
  field: 'epoch',
  kind: 'gauge',
  unit: '{epoch}',
  help: 'The epoch that the job printed last, as it counts: from 0 or from 1, or with a fraction.',
  labels: LABELS,
})
export const jobLearningRate = defineMetric({
  name: 'warpwatch_job_learning_rate',
  subject: 'job',
  field: 'learning_rate',
  kind: 'gauge',
  unit: '1',
  help: 'The last learning rate that the job printed.',
  labels: LABELS,
})
export const jobPhaseInfo = defineMetric({
  name: 'warpwatch_job_phase_info',
  subject: 'job',
  field: 'phase',
  kind: 'info',
  unit: '1',
  help: 'What the job is busy with, by its newest lines: downloading, loading, preparing, training, evaluating, saving, serving.',
  labels: [...LABELS, 'phase'],
  history: false,
})
const EFFICIENCY_LABELS = ['job', 'power_limit_watts'] as const
export const jobTokensPerJoule = defineMetric({
  name: 'warpwatch_job_tokens_per_joule',
  subject: 'job',
  field: 'tokens_per_joule',
  kind: 'gauge',
  unit: '{token/J}',
  help: 'Tokens that the job processes for each joule of its GPUs, by the power limit in force, so that limits can be compared over time.',
  labels: EFFICIENCY_LABELS,
})
export const jobTokensPerGpuHour = defineMetric({
  name: 'warpwatch_job_tokens_per_gpu_hour',
  subject: 'job',
  field: 'tokens_per_gpu_hour',
  kind: 'gauge',
  unit: '{token/h}',
  help: 'Tokens that the job processes in an hour of each of its GPUs, by the power limit in force.',
  labels: EFFICIENCY_LABELS,
})
