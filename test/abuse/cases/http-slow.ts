// Slow-loris: hundreds of connections whose heads and bodies drip, and hundreds whose answers nobody takes; others are served, the slow ones end.
import type { Socket } from 'node:net'
import { compiler } from '../../fakes/nvml/build.ts'
import { eightH100 } from '../../fakes/nvml/scenario.ts'
import { startAgent } from '../../setup/agent.ts'
import { poll } from '../../setup/poll.ts'
import { openSocket, portOf } from '../parts/requests.ts'
import { missedSeconds, mib, sampled, weigh } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const HEAD = 'GET /metrics HTTP/1.1\r\nHost: localhost\r\n'
const BODY = 'POST /api/v1/silences HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 8000\r\n\r\n'

export const httpSlow: AbuseCase = {
  id: 'http-slow',
  area: 'http',
  fault: '400 connections whose heads or bodies drip, 200 that ask and never read, 20 that send 5,000 requests at once',
  promised: 'others are answered, sampling is not late, memory stays bounded, each slow connection is ended',
  unavailable: () => (compiler === undefined ? 'needs a C compiler' : undefined),
  hasShortForm: false,
  async run({ short }) {
    await using agent = await startAgent({ scenario: eightH100() })
    const port = portOf(agent.url)
    await sampled(agent, [0])
    using memory = weigh(agent)
    const begun = Date.now()
    const open = new Set<Socket>()
    const start = async (count: number, first: string, drip: string, reads = true): Promise<void> => {
      for (let n = 0; n < count; n++) {
        const socket = await openSocket(port)
        open.add(socket)
        if (reads) socket.resume()
        else socket.pause()
        const timer = drip === '' ? undefined : setInterval(() => socket.write(drip), 500)
        socket.on('close', () => {
          clearInterval(timer)
          open.delete(socket)
        })
        socket.write(first)
      }
    }
    const size = short ? 0.1 : 1
    await start(200 * size, HEAD, 'X: 1\r\n')
    await start(200 * size, BODY, ' ')
    await start(200 * size, `${HEAD}\r\n`, '', false)
    await start(20 * size, `${HEAD}\r\n`.repeat(5_000), '', false)
    const all = open.size
    const answers: number[] = []
    const dripping = (): number => open.size
    // Those that read nothing never see that they were let go; they are counted by the agent's own sockets.
    await poll(
      async () => {
        const { status, ms } = await agent.get('/metrics')
        if (status !== 200) throw new Error(`/metrics: expected 200, came ${status}`)
        answers.push(ms)
        return dripping() <= 220 * size
      },
      { what: () => `the dripping connections to be ended, ${dripping()} are left`, deadlineMs: 60_000, everyMs: 100 },
    )
    const endedAfter = (Date.now() - begun) / 1_000
    const missed = await missedSeconds(agent, 0, begun, Date.now() - 2_000)
    const grown = memory.most()
    for (const socket of open) socket.destroy()
    answers.sort((a, b) => a - b)
    return {
      held: missed === 0 && grown < 100 * 1024 ** 2,
      observed: `${all} connections; those that drip ended within ${endedAfter.toFixed(0)} s; ${answers.length} scrapes meanwhile, median ${(answers[Math.floor(answers.length / 2)] ?? 0).toFixed(0)} ms, worst ${(answers.at(-1) ?? 0).toFixed(0)} ms; ${missed} seconds not sampled; ${mib(grown)} more memory at most`,
    }
  },
}
