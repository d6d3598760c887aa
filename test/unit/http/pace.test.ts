// How often a reader of the stream gets a frame: each one, or as rarely as it asks, also of another host's stream.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createHostLink } from '../../../agent/hosts/link.ts'
import { createRelay } from '../../../agent/hosts/relay.ts'
import { createAccess } from '../../../agent/http/auth.ts'
import { poll } from '../../setup/poll.ts'
import { T } from './fixture.ts'
import { runServer } from './running.ts'

const typesOf = (socket: WebSocket): string[] => {
  const types: string[] = []
  socket.on('message', (data: Buffer) => types.push(Object(JSON.parse(data.toString())).type))
  return types
}
/** Until the other side has read all that was said before. */
async function said(socket: WebSocket, ...messages: readonly string[]): Promise<void> {
  for (const message of messages) socket.send(message)
  const heard = once(socket, 'pong')
  socket.ping()
  await heard
}

describe('the pace of a reader', () => {
  test('is each frame, until it asks for fewer; what nobody waits for is not built', async () => {
    await using running = await runServer()
    const [eager, calm] = [new WebSocket(running.wsUrl), new WebSocket(running.wsUrl)]
    const [all, few] = [typesOf(eager), typesOf(calm)]
    await poll(() => all.length === 1 && few.length === 1, { what: 'both to be greeted' })
    await said(calm, '{"type":"pace","every":5}')
    for (let i = 1; i <= 10; i += 1) running.tick(T + i * 1_000)
    await Promise.all([said(eager), said(calm)])
    expect([all.length - 1, few.length - 1]).toEqual([10, 2])
    expect(running.live.frames()).toBe(10)

    eager.terminate()
    await poll(() => running.live.readers() === 1, { what: 'the first reader to be gone' })
    for (let i = 11; i <= 20; i += 1) running.tick(T + i * 1_000)
    await said(calm)
    expect([few.length - 1, running.live.frames()]).toEqual([4, 12])

    await said(calm, '{"type":"pace","every":1}')
    running.tick(T + 21_000)
    await said(calm)
    expect(few.length - 1).toBe(5)
    calm.terminate()
  })

  test.each(['{"type":"pace","every":0}', '{"type":"pace","every":61}', '{"type":"pace","every":"5"}', '{"type":"peace","every":5}', 'pace', '[]', '{'])(
    'stays as it is for %s',
    async (message) => {
      await using running = await runServer()
      const socket = new WebSocket(running.wsUrl)
      const types = typesOf(socket)
      await poll(() => types.length === 1, { what: 'the greeting' })
      await said(socket, message)
      running.tick(T + 1_000)
      running.tick(T + 2_000)
      await said(socket)
      expect(types).toEqual(['hello', 'frame', 'frame'])
      socket.terminate()
    },
  )

  test('goes on to the other host whose stream it is, and nothing else does', async () => {
    const heard: string[] = []
    const remote = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    remote.on('connection', (socket) => socket.on('message', (data: Buffer) => heard.push(data.toString())))
    await once(remote, 'listening')
    const address = remote.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const link = createHostLink({ name: 'other', url: `http://127.0.0.1:${port}`, token: '' })
    const relay = createRelay()
    const access = createAccess({ listen: '127.0.0.1:0', token: '', insecure: false, allowedHosts: [], allowedOrigins: [] })
    const server = createServer().on('upgrade', (request, socket, head) => relay.upgrade(request, socket, head, access, link))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const own = server.address()
    const reader = new WebSocket(`ws://127.0.0.1:${typeof own === 'object' && own !== null ? own.port : 0}/hosts/other/ws`)
    await once(reader, 'open')
    await said(reader, '{"type":"pace","every":5}', '{"type":"auth","token":"guess"}', 'anything', '{"type":"pace","every":1,"more":"x"}')
    await poll(() => heard.at(-1) === '{"type":"pace","every":1}', { what: 'the last pace' })
    expect(heard.filter((text) => !/^\{"type":"pace","every":[15]\}$/.test(text))).toEqual([])
    reader.terminate()
    relay.close()
    link.close()
    server.close()
    remote.close()
  })
})
