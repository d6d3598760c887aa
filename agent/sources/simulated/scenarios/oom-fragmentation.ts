// Sequences of every length leave a cache of pieces that fit nothing.
import { GIB, MIB } from '../allocator.ts'
import type { Scenario } from '../scenario.ts'

const STRANDED_BYTES_PER_SECOND = 230 * MIB

export const oomFragmentation: Scenario = {
  name: 'oom-fragmentation',
  shows:
    'finetune-lora on GPU 6 needs no more than before, but its cache goes to pieces: reserved memory climbs from 10 s on, an allocation fails after two to three minutes with gigabytes reserved and unallocated',
  begin: (stage) => {
    const [job] = stage.processesOf('finetune-lora')
    return (second) => {
      if (job === undefined || second < 10 || second - job.startedAt < 25) return
      // The pieces are between live blocks, so their share cannot pass what the card has beside them.
      job.strandedBytes = Math.min(job.strandedBytes + STRANDED_BYTES_PER_SECOND, 60 * GIB)
    }
  },
}
