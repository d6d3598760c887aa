// Sixteen GPUs with 4,096 processes: memory that levels off, samples that are not late.
import { compiler } from '../../fakes/nvml/build.ts'
import { h100, hostOf } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { missedSeconds, mib, sampled, weigh } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const GPUS = Array.from({ length: 16 }, (_, gpu) => gpu)

export const nvmlMany: AbuseCase = {
  id: 'nvml-many',
  area: 'nvml',
  fault: '16 GPUs with 4,096 processes together, then all of them on one GPU',
  promised: 'every process is shown, sampling is at most one interval late, memory stays bounded',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: false,
  async run({ short }) {
    const processes = (from: number, count: number) => Array.from({ length: count }, (_, n) => ({ pid: 1_000_000 + from + n, bytes: 2 ** 24 }))
    const spread = { ...hostOf(16), gpus: GPUS.map((gpu) => h100(gpu, {}, processes(gpu * 256, 256))) }
    const onOne = { ...hostOf(16), gpus: GPUS.map((gpu) => h100(gpu, {}, gpu === 0 ? processes(0, 4_096) : [])) }
    await using agent = await startAgent({ scenario: spread })
    await sampled(agent, GPUS, 60_000)
    using memory = weigh(agent)
    const shown = async (): Promise<number> => (await agent.metrics()).samples.filter(({ name }) => name === 'warpwatch_process_gpu_memory_bytes').length
    await poll(async () => (await shown()) === 4_096, { what: 'all processes', deadlineMs: 60_000, everyMs: 500 })
    const begun = Date.now()
    const missedWhile = async (ms: number): Promise<number> => {
      const from = Date.now()
      await new Promise((resolve) => setTimeout(resolve, ms))
      return Math.max(...(await Promise.all([0, 7, 15].map((gpu) => missedSeconds(agent, gpu, from, from + ms - 2_000)))))
    }
    const first = await missedWhile(short ? 3_000 : 60_000)
    const half = memory.growth()
    agent.tell(onOne)
    const second = await missedWhile(short ? 3_000 : 60_000)
    const rows = (await agent.metrics()).samples.filter(({ name, labels }) => name === 'warpwatch_process_gpu_memory_bytes' && labels['gpu'] === '0').length
    const question = await agent.get('/api/v1/series?metric=process_gpu_memory_bytes&from=0&points=5000')
    const later = memory.growth()
    return {
      held: rows === 4_096 && first + second <= 2 && later < 1_024 ** 3,
      observed: `${rows} processes on one GPU shown; ${first} and ${second} seconds missed in ${((Date.now() - begun) / 1_000).toFixed(0)} s; PSS ${mib(half)} more with 4,096 processes, ${mib(later)} with another 3,840; /metrics within ${(await agent.get('/metrics')).ms.toFixed(0)} ms; a question for all of their history: ${question.status}`,
    }
  },
}
