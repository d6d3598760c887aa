// A fine-tune that keeps what it should let go.
import { MIB } from '../allocator.ts'
import type { Scenario } from '../scenario.ts'

const LEAK_BYTES_PER_SECOND = 260 * MIB

export const oomLeak: Scenario = {
  name: 'oom-leak',
  shows: 'finetune-lora on GPU 6 leaks 260 MiB a second from 20 s on, runs out of memory after two to three minutes, is restarted and leaks again',
  begin: (stage) => {
    const [job] = stage.processesOf('finetune-lora')
    return (second) => {
      if (job !== undefined && second >= 20 && second - job.startedAt >= 20) job.extraBytes += LEAK_BYTES_PER_SECOND
    }
  },
}
