// The healthy host as a node of Kubernetes.
import type { Scenario } from '../scenario.ts'

export const kubernetes: Scenario = {
  name: 'kubernetes',
  shows: 'the healthy host as a Kubernetes node: pods on every GPU, two pods on GPUs 5 and 6, profiling figures as of Hopper; nothing goes wrong',
  cluster: 'kubernetes',
  begin: () => () => {},
}
