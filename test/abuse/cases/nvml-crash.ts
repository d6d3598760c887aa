// A driver library that crashes at random, in any call of two of eight GPUs, while a third one hangs: the others are sampled.
import { compiler } from '../../fakes/nvml/build.ts'
import { eightH100, withGpu } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { missedSeconds, mib, sampled, watchAges, weigh } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const WELL = [0, 1, 2, 4, 5]
const ALL = [0, 1, 2, 3, 4, 5, 6, 7]

export const nvmlCrash: AbuseCase = {
  id: 'nvml-crash',
  area: 'nvml',
  fault: 'NVML that crashes (SIGSEGV, abort) in one of 200 calls of two GPUs, and hangs in every call for power of a third',
  promised: 'the other GPUs are sampled at most one interval late, and all are when the driver is well again',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: false,
  async run({ short }) {
    const well = eightH100()
    await using agent = await startAgent({ scenario: well })
    await sampled(agent, ALL)
    using memory = weigh(agent)
    const begun = Date.now()
    const ages = watchAges(agent, WELL)
    agent.tell([6, 7].reduce((scene, gpu) => withGpu(scene, gpu, { 'odds.device': 200 }), withGpu(well, 3, { 'delay.nvmlDeviceGetPowerUsage': 600_000 })))
    await new Promise((resolve) => setTimeout(resolve, short ? 10_000 : 90_000))
    agent.tell(well)
    const page = await agent.metrics()
    const restarts = page.samples.filter(({ name }) => name === 'warpwatch_agent_sampler_restarts_total')
    const until = Date.now()
    const { worst, looks } = await ages.stop()
    await sampled(agent, ALL, 90_000)
    const healed = (Date.now() - until) / 1_000
    const missed = await Promise.all(WELL.map((gpu) => missedSeconds(agent, gpu, begun, until)))
    const most = Math.max(...missed)
    const seconds = (until - begun) / 1_000
    return {
      held: most <= 1 && worst < 2.5 && (await agent.get('/healthz')).status === 200 && memory.growth() < 64 * 1024 ** 2,
      observed: `${restarts.reduce((sum, { value }) => sum + value, 0)} new children in ${seconds.toFixed(0)} s (${restarts.map(({ labels, value }) => `${labels['reason']} ${value}`).join(', ')}); of the well GPUs at most ${most} of ${seconds.toFixed(0)} seconds missed, worst age ${worst.toFixed(1)} s in ${looks} looks; all eight back after ${healed.toFixed(0)} s; ${mib(memory.growth())} more memory`,
    }
  },
}
