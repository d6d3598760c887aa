// Bodies of 100 MB to every path that takes a request: refused before they are read, whether their length is announced or not.
import { connect } from 'node:net'
import { startAgent } from '../../setup/agent.ts'
import { inParallel, portOf, statusesIn } from '../parts/requests.ts'
import { mib, weigh } from '../parts/watch.ts'
import type { AbuseCase } from '../abuse-case.ts'

const MB = 1_000_000
const HEADS = [
  'GET /metrics',
  'GET /',
  'POST /api/v1/silences',
  'POST /api/v1/fit',
  'POST /api/v1/incidents/0123456789abcdef/ack',
  'PUT /api/v1/gpus',
  'POST /ws',
] as const
const LENGTHS = ['Content-Length: 100000000', 'Transfer-Encoding: chunked', 'Content-Length: 100000000\r\nExpect: 100-continue'] as const

/** Sends the body for as long as the agent takes it; gives the statuses that came, and how many bytes were taken. */
async function push(port: number, head: string): Promise<{ readonly statuses: readonly number[]; readonly taken: number }> {
  const socket = connect(port, '127.0.0.1')
  const { promise, resolve } = Promise.withResolvers<void>()
  const part = Buffer.alloc(64 * 1024, 0x61)
  const chunk = head.includes('chunked') ? Buffer.concat([Buffer.from('10000\r\n'), part, Buffer.from('\r\n')]) : part
  let [text, sent] = ['', 0]
  const more = (): void => {
    while (sent < 100 * MB && !socket.destroyed) {
      sent += part.length
      if (!socket.write(chunk)) return
    }
  }
  socket.on('connect', () => {
    socket.write(`${head}\r\n\r\n`)
    more()
  })
  socket.on('drain', more)
  socket.on('data', (data: Buffer) => (text += data.toString('latin1')))
  socket.on('error', () => {})
  socket.on('close', () => resolve())
  await promise
  return { statuses: statusesIn(text), taken: Math.max(0, socket.bytesWritten - socket.writableLength) }
}

export const httpBodies: AbuseCase = {
  id: 'http-bodies',
  area: 'http',
  fault: `bodies of 100 MB to ${HEADS.length} paths, announced, chunked and after 100-continue`,
  promised: 'each connection is refused and ended, the body is not kept, memory stays bounded',
  hasShortForm: true,
  async run({ short }) {
    await using agent = await startAgent()
    const port = portOf(agent.url)
    using memory = weigh(agent)
    const wrong: string[] = []
    let [connections, most] = [0, 0]
    for (let round = 0; round < (short ? 1 : 10); round++)
      await inParallel(
        HEADS.flatMap((head) => LENGTHS.map((length) => `${head} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${length}`)),
        8,
        async (head) => {
          const { statuses, taken } = await push(port, head)
          connections++
          most = Math.max(most, taken)
          // An answer may be lost to the reset that ends a connection whose bytes nobody reads; another answer may not come.
          if (statuses.some((status) => status !== 100 && (status < 400 || status >= 500))) wrong.push(`${head}: ${statuses.join(', ')}`)
        },
      )
    const alive = (await agent.get('/healthz')).status === 200
    const grown = memory.most()
    return {
      held: wrong.length === 0 && alive && grown < 64 * 1024 ** 2 && most < 20 * MB,
      observed: [
        `${connections} bodies refused, at most ${(most / MB).toFixed(1)} MB of one sent before the end; ${mib(grown)} more memory at most`,
        ...wrong,
      ].join('; '),
    }
  },
}
