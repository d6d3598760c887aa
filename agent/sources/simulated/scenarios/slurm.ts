// The healthy host as a node of Slurm, on which one job uses more memory than it asked for.
import { GIB } from '../allocator.ts'
import { everyCycle, type Scenario } from '../scenario.ts'

const ASKED_BYTES = 64 * GIB
const FIRST_JOB = 48_230

export const slurm: Scenario = {
  name: 'slurm',
  shows:
    'the host as a Slurm node: jobs without containers, two jobs on GPUs 5, 6 and 7, profiling figures as of Hopper; at 90 s the fine-tune on GPU 6 has used up its 64 GiB of host memory and the kernel kills it; submitted again as a new job half a minute later; again every 4 min',
  cluster: 'slurm',
  begin: (stage) => {
    const process = stage.world.processes.find(({ box }) => box === 'finetune-lora')
    let job = FIRST_JOB
    return everyCycle(240, (second) => {
      if (process === undefined) return
      if (second === 90 && !process.ended) stage.endForMemory(process, String(job), ASKED_BYTES)
      if (second !== 120 || !process.ended) return
      job += 10
      stage.restart(process)
      process.identity = { ...process.identity, slurmJob: String(job) }
    })
  },
}
