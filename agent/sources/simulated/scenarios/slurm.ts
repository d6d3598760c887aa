// The healthy host as a node of Slurm.
import type { Scenario } from '../scenario.ts'

export const slurm: Scenario = {
  name: 'slurm',
  shows: 'the healthy host as a Slurm node: jobs without containers, two jobs on GPUs 5, 6 and 7, profiling figures as of Hopper; nothing goes wrong',
  cluster: 'slurm',
  begin: () => () => {},
}
