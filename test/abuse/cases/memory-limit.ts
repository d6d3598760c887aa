// A memory limit of a control group, while clients ask for all that there is: beyond it the kernel would end the agent.
import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AbuseCase } from '../abuse-case.ts'
import { longestHole, sampledSeconds, samplesCome } from '../parts/sampling.ts'
import { startScene } from '../parts/scene.ts'

const LIMIT_MIB = 192
const V1 = '/sys/fs/cgroup/memory'
const ROUNDS = 400
const ROUNDS_SHORT = 20

export const memoryLimit: AbuseCase = {
  id: 'memory-limit',
  area: 'process',
  fault: `a memory limit of ${LIMIT_MIB} MiB (cgroup) under ${ROUNDS} rounds of six requests at once`,
  promised: 'memory stays bounded: the kernel never ends the agent, and sampling goes on',
  unavailable: () =>
    process.getuid?.() === 0 && existsSync(join(V1, 'memory.limit_in_bytes')) ? undefined : 'needs root and the memory controller of cgroup v1',
  hasShortForm: false,
  async run({ short }) {
    const group = join(V1, `warpwatch-abuse-${process.pid}`)
    mkdirSync(group)
    try {
      await using scene = await startScene({ programs: 30 })
      const agent = scene.agent()
      writeFileSync(join(group, 'memory.limit_in_bytes'), String(LIMIT_MIB * 1024 ** 2))
      writeFileSync(join(group, 'cgroup.procs'), String(agent.pid))
      await samplesCome(agent, 3)
      const from = Math.floor(Date.now() / 1_000)
      const paths = [
        '/metrics',
        '/api/v1/gpus',
        '/api/v1/series?metric=gpu_power_watts&points=5000',
        '/api/v1/incidents?limit=1000',
        '/api/v1/openapi.json',
        '/',
      ]
      let wrong = 0
      for (let round = 0; round < (short ? ROUNDS_SHORT : ROUNDS); round++) {
        if (round % 15 === 0 && scene.crashes() < 29) scene.crash()
        for (const { status } of await Promise.all(paths.map((path) => agent.get(path)))) if (status !== 200) wrong++
      }
      await scene.allHeard()
      const pss = agent.pssBytes()
      const hole = longestHole(await sampledSeconds(agent.url, from * 1_000, Date.now()), from, Math.floor(Date.now() / 1_000) - 2)
      const oom = Number(/oom_kill (\d+)/.exec(readFileSync(join(group, 'memory.oom_control'), 'utf8'))?.[1])
      return {
        held: oom === 0 && wrong === 0 && hole <= (short ? 3 : 1),
        observed:
          `${oom} kills by the kernel, ${wrong} failed requests, ${(pss / 1024 ** 2).toFixed(0)} MiB (PSS, with the sampler) after it, ` +
          `0 of ${scene.crashes()} incidents lost, longest time without a sample ${hole} s`,
      }
    } finally {
      rmdirSync(group)
    }
  },
}
