// A fine-tune that leaks slowly, so that the forecast comes minutes before it runs out of memory.
import { MIB } from '../allocator.ts'
import type { Scenario } from '../scenario.ts'

const LEAK_BYTES_PER_SECOND = 40 * MIB

export const oomForecast: Scenario = {
  name: 'oom-forecast',
  shows: 'finetune-lora on GPU 6 leaks 40 MiB a second from 20 s on; the forecast fires after 7 to 12 minutes, the job runs out of memory after about 18',
  begin: (stage) => {
    const [job] = stage.processesOf('finetune-lora')
    return (second) => {
      if (job !== undefined && second >= 20 && second - job.startedAt >= 20) job.extraBytes += LEAK_BYTES_PER_SECOND
    }
  },
}
