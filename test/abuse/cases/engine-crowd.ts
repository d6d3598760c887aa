// Three hundred containers that come and go, again and again: what is shown in the end is what runs in the end, and nothing of the others is kept.
import { compiler } from '../../fakes/nvml/build.ts'
import { hostOf } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { inspected, listed, serveContainers, startEngineServer } from '../../unit/containers/engine-server.ts'
import { missedSeconds, mib, sampled, weigh } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const COUNT = 300
const idAt = (n: number): string => n.toString(16).padStart(64, '0')

export const engineCrowd: AbuseCase = {
  id: 'engine-crowd',
  area: 'engine',
  fault: `${COUNT} containers that come and go together, over and over`,
  promised: 'those that run are shown with their names and no others, sampling is not late, nothing of those that went is kept',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: false,
  async run({ short }) {
    const engine = await startEngineServer()
    const running = new Map<string, { readonly list: object; readonly inspect: object }>()
    engine.handle = serveContainers(running)
    await using agent = await startAgent({ scenario: hostOf(1), env: { WARPWATCH_CONTAINERS__ENGINES: engine.socketPath } })
    try {
      await sampled(agent, [0])
      await poll(() => engine.followers() > 0, { what: 'the agent to follow the events', deadlineMs: 30_000 })
      const begun = Date.now()
      let [time, made] = [Date.now() * 1e6, 0]
      const tell = (action: string, id: string, name: string): void =>
        engine.event({ Type: 'container', Action: action, Actor: { ID: id, Attributes: { name } }, time: Math.floor(time / 1e9), timeNano: (time += 1_000) })
      const shown = async (): Promise<readonly string[]> =>
        (await agent.metrics()).samples.filter(({ name }) => name === 'warpwatch_container_info').map(({ labels }) => labels['container'] ?? '')
      const rounds = short ? 1 : 12
      const growth: number[] = []
      using memory = weigh(agent)
      for (let round = 0; round < rounds; round++) {
        const fresh = Array.from({ length: COUNT }, () => {
          const id = idAt(++made)
          const name = `job-${made}`
          running.set(id, { list: listed(id, name), inspect: inspected(id, name, { state: { Pid: 4_000_000 } }) })
          return { id, name }
        })
        for (const { id, name } of fresh) tell('start', id, name)
        await poll(async () => (await shown()).length === COUNT, {
          what: () => `round ${round}: ${COUNT} containers; the agent said: ${agent.stderr().slice(-1_000)}`,
          deadlineMs: 60_000,
          everyMs: 100,
        })
        for (const { id, name } of fresh) {
          running.delete(id)
          tell('die', id, name)
        }
        await poll(async () => (await shown()).length === 0, { what: () => `round ${round}: no container`, deadlineMs: 60_000, everyMs: 100 })
        growth.push(memory.growth())
      }
      const missed = await missedSeconds(agent, 0, begun, Date.now() - 2_000)
      const [half, last] = [growth[Math.floor(growth.length / 2)] ?? 0, growth.at(-1) ?? 0]
      return {
        held: (short || missed <= 1) && (short || last - half < 32 * 1024 ** 2),
        observed: `${made} containers in ${rounds} rounds, each shown and gone; ${missed} seconds not sampled; ${mib(half)} more memory after half of the rounds, ${mib(last)} after all`,
      }
    } finally {
      await engine.close()
    }
  },
}
