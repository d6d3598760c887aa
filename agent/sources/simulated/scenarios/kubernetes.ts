// The healthy host as a node of Kubernetes, on which one pod outgrows its memory limit.
import { GIB, MIB } from '../allocator.ts'
import { everyCycle, type Scenario } from '../scenario.ts'

const BYTES_PER_SECOND = 900 * MIB

export const kubernetes: Scenario = {
  name: 'kubernetes',
  shows:
    'the host as a Kubernetes node: pods on every GPU, two pods on GPUs 5 and 6, profiling figures as of Hopper; from 30 s on finetune-lora-7h2qd fills its memory limit of 96 GiB within 90 s, is OOMKilled and restarted by the kubelet; again every 4 min',
  cluster: 'kubernetes',
  begin: (stage) => {
    const box = stage.box('finetune-lora')
    let restarts = 0
    return everyCycle(240, (second) => {
      const [process] = stage.processesOf('finetune-lora')
      if (box === undefined || process === undefined) return
      if (second === 30) restarts = box.restarts
      // Once it was killed there is nothing more to show.
      if (second < 30 || !box.running || box.restarts !== restarts) return
      box.extraMemoryBytes += BYTES_PER_SECOND
      if (box.memoryBytes >= (box.limitGib ?? Infinity) * GIB) stage.killForMemory(process)
    })
  },
}
