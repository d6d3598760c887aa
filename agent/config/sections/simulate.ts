// The simulated host, for a look without a GPU.
import { choice, duration, wholeNumber } from '../field.ts'

/** `off` and the registry of agent/sources/simulated/scenarios; a test keeps the two equal. */
export const SCENARIO_CHOICES = [
  'off',
  'healthy',
  'hung-driver',
  'job-hang',
  'kubernetes',
  'lost-gpu',
  'mig',
  'oom-forecast',
  'oom-fragmentation',
  'oom-leak',
  'oom-neighbour',
  'slurm',
  'throttling',
  'xid',
] as const

export const simulate = {
  description: 'Simulate a host instead of watching this one; needs no GPU and no containers.',
  fields: {
    scenario: choice(SCENARIO_CHOICES, { default: 'off', description: 'off: watch the real host.' }),
    seed: wholeNumber({ default: 1, min: 0, max: 4_294_967_295, description: 'The same seed gives the same values.' }),
    speed: wholeNumber({ default: 1, min: 1, max: 60, description: 'Simulated seconds per real second.' }),
    past: duration({ default: 900_000, max: 3_600_000, description: 'How long a healthy past is played at the start, so that charts are not empty.' }),
  },
}
