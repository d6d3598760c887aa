// 64 file descriptors for the agent, while clients hold more connections than that.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { AbuseCase } from '../abuse-case.ts'
import { longestHole, sampledSeconds, samplesCome } from '../parts/sampling.ts'
import { startScene } from '../parts/scene.ts'

const LIMIT = 64
const CLIENTS = 100

export const descriptors: AbuseCase = {
  id: 'descriptors',
  area: 'process',
  fault: `${LIMIT} file descriptors (RLIMIT_NOFILE), and ${CLIENTS} clients that hold connections`,
  promised: 'the agent lives, goes on sampling, and serves and notifies again once they are gone',
  hasShortForm: false,
  async run({ short }) {
    await using scene = await startScene({ through: ['prlimit', `--nofile=${LIMIT}:${LIMIT}`] })
    const agent = scene.agent()
    const { hostname, port } = new URL(agent.url)
    await samplesCome(agent, 3)
    const from = Math.floor(Date.now() / 1_000)
    const clients: Socket[] = []
    for (let n = 0; n < CLIENTS; n++) {
      const client = connect(Number(port), hostname).on('error', () => {})
      client.write('GET /metrics HTTP/1.1\r\n')
      clients.push(client)
    }
    await Promise.race([Promise.all(clients.slice(0, 10).map(async (client) => (client.connecting ? once(client, 'connect') : undefined))), delay(5_000)])
    scene.crash()
    await delay(short ? 2_000 : 30_000)
    for (const client of clients) client.destroy()
    await scene.allHeard()
    await samplesCome(agent, 2)
    const hole = longestHole(await sampledSeconds(agent.url, from * 1_000, Date.now()), from, Math.floor(Date.now() / 1_000) - 2)
    const others = (await scene.incidents()).filter(({ kind }) => kind !== 'cuda_oom')
    const held = hole <= (short ? 4 : 1) && others.length === 0
    return {
      held,
      observed: `0 of 1 incidents lost, longest time without a sample ${hole} s, ${others.length} false incidents${others.map(({ kind }) => ` (${kind})`).join('')}`,
    }
  },
}
