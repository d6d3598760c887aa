// Jobs: how far each is, how fast, and how long it will take, as its own log says it.
import { defineMetric } from '../model/metric.ts'

const LABELS = ['job', 'rank'] as const

export const jobProgressRatio = defineMetric({
  name: 'warpwatch_job_progress_ratio',
  subject: 'job',
  kind: 'gauge',
  unit: '1',
  help: 'Step by steps, of the epoch where the job counts so; absent when it does not say how many there are. `rank` where several ranks say their own.',
  labels: LABELS,
})
export const jobStep = defineMetric({
  name: 'warpwatch_job_step',
  subject: 'job',
  kind: 'gauge',
  unit: '{step}',
  help: 'The last step that the job printed; of the epoch where it counts so.',
  labels: LABELS,
})
export const jobSteps = defineMetric({
  name: 'warpwatch_job_steps',
  subject: 'job',
  kind: 'gauge',
  unit: '{step}',
  help: 'The number of steps that the job counts to; absent when it does not say.',
  labels: LABELS,
})
export const jobStepRate = defineMetric({
  name: 'warpwatch_job_step_rate',
  subject: 'job',
  kind: 'gauge',
  unit: '{step/s}',
  help: 'Steps a second: as printed, else from the times of the lines.',
  labels: LABELS,
})
export const jobSamplesRate = defineMetric({
  name: 'warpwatch_job_samples_rate',
  subject: 'job',
  kind: 'gauge',
  unit: '{sample/s}',
  help: 'Samples a second, where the job prints them.',
  labels: LABELS,
})
export const jobTokensRate = defineMetric({
  name: 'warpwatch_job_tokens_rate',
  subject: 'job',
  kind: 'gauge',
  unit: '{token/s}',
  help: 'Tokens a second, where the job prints them; those generated for a server.',
  labels: LABELS,
})
export const jobLoss = defineMetric({
  name: 'warpwatch_job_loss',
  subject: 'job',
  kind: 'gauge',
  unit: '1',
  help: 'The last training loss that the job printed; absent while it is not a number.',
  labels: LABELS,
})
export const jobEtaSeconds = defineMetric({
  name: 'warpwatch_job_eta_seconds',
  subject: 'job',
  kind: 'gauge',
  unit: 's',
  help: 'Time left of the steps that the job counts to: as printed, else from the usual time of a step.',
  labels: LABELS,
})
export const jobLastProgressTimestampSeconds = defineMetric({
  name: 'warpwatch_job_last_progress_timestamp_seconds',
  subject: 'job',
  kind: 'gauge',
  unit: 's',
  help: 'When the step changed last, Unix seconds.',
  labels: LABELS,
})
