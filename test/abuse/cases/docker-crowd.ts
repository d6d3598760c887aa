// Three hundred containers of a real Docker engine that come and go, some killed, some ending by themselves: names, numbers and ends are the engine's own.
import { compiler } from '../../fakes/nvml/build.ts'
import { hostOf } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { dockerMissing, startDocker } from '../../setup/docker.ts'
import { poll } from '../../setup/poll.ts'
import { missedSeconds, mib, sampled, weigh } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

/** At a time: two cores take some minutes to start 300. */
const AT_ONCE = 60
const ROUNDS = 5

export const dockerCrowd: AbuseCase = {
  id: 'docker-crowd',
  area: 'engine',
  fault: `${AT_ONCE * ROUNDS} containers of a real Docker engine, ${AT_ONCE} at a time, that come and go`,
  promised:
    'those that run are shown with their names, CPU and memory, and no others; sampling is at most one interval late; nothing of those that went is kept',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : dockerMissing),
  hasShortForm: false,
  async run({ short }) {
    const [atOnce, rounds] = short ? [5, 1] : [AT_ONCE, ROUNDS]
    const docker = await startDocker()
    try {
      await using agent = await startAgent({ scenario: hostOf(1), env: { WARPWATCH_CONTAINERS__ENGINES: docker.socketPath } })
      await sampled(agent, [0])
      const begun = Date.now()
      using memory = weigh(agent)
      const growth: number[] = []
      let shown = 0
      for (let round = 0; round < rounds; round++) {
        const names = Array.from({ length: atOnce }, (_, at) => `crowd-${round}-${at}`)
        const ids: string[] = []
        // Four starts side by side, as a scheduler does.
        const waiting = [...names.keys()]
        const starter = async (): Promise<void> => {
          for (let at = waiting.shift(); at !== undefined; at = waiting.shift())
            ids.push(await docker.run({ name: names[at] ?? '', command: ['sleep', '3600'] }))
        }
        await Promise.all([starter(), starter(), starter(), starter()])
        const complete = async (): Promise<boolean> => {
          const { samples } = await agent.metrics()
          return ['info', 'cpu_seconds_total', 'memory_bytes'].every((metric) => {
            const found = new Set(samples.filter(({ name }) => name === `warpwatch_container_${metric}`).map(({ labels }) => labels['container']))
            return found.size === atOnce && names.every((name) => found.has(name))
          })
        }
        await poll(complete, {
          what: () => `round ${round}: ${atOnce} containers with CPU and memory; the agent said: ${agent.stderr().slice(-1_000)}`,
          deadlineMs: 60_000,
          everyMs: 200,
        })
        shown += names.length
        await docker.removeAll()
        const gone = async (): Promise<boolean> => (await agent.metrics()).samples.every(({ labels }) => labels['container']?.startsWith('crowd-') !== true)
        await poll(gone, { what: () => `round ${round}: no container; the agent said: ${agent.stderr().slice(-1_000)}`, deadlineMs: 60_000, everyMs: 200 })
        growth.push(memory.growth())
      }
      const until = Date.now()
      const missed = await missedSeconds(agent, 0, begun, until - 2_000)
      const [first, last] = [growth[0] ?? 0, growth.at(-1) ?? 0]
      return {
        held: missed <= 1 && last - first < 32 * 1024 ** 2,
        observed: `${shown} containers in ${rounds} rounds over ${((until - begun) / 1_000).toFixed(0)} s, each shown with CPU and memory, and gone; ${missed} seconds not sampled; ${mib(first)} more memory after the first round, ${mib(last)} after all`,
      }
    } finally {
      await docker.close()
    }
  },
}
