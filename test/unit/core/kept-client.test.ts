// GETs over one connection that is kept, against real servers: what it sends, when it connects again, and how it fails.
import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { createKeptClient, type KeptClient } from '../../../agent/lib/kept-client.ts'
import { rawServer, webServer, type Listening } from '../../setup/web-server.ts'

const endings: (() => unknown)[] = []
afterEach(async () => {
  for (const end of endings.splice(0)) await end()
})
function clientOf({ port, close }: Listening): KeptClient {
  const client = createKeptClient({
    async connect(take) {
      const socket = connectTcp({ host: '127.0.0.1', port })
      await once(socket, 'connect')
      return socket.on('data', take)
    },
  })
  endings.push(client.close, close)
  return client
}
async function get(client: KeptClient, port: number, more: { readonly headers?: Record<string, string>; readonly timeoutMs?: number } = {}): Promise<string> {
  const result = await client.exchange({ url: new URL(`http://127.0.0.1:${port}/a?b=c`), timeoutMs: 5_000, maxBytes: 100, ...more })
  return 'answer' in result
    ? `${result.answer.status} ${result.answer.body.toString()}`
    : `${result.failure.kind}${result.failure.connected ? '' : ', not connected'}: ${result.failure.text}`
}
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

test('what it asks, over one connection as long as the server keeps it', async () => {
  const asked: unknown[] = []
  const ports = new Set<number | undefined>()
  const server = await webServer((request, answer) => {
    const { host, authorization, 'user-agent': agent } = request.headers
    asked.push([request.method, request.url, host, authorization, agent?.startsWith('warpwatch/')])
    ports.add(request.socket.remotePort)
    answer.end('hello')
  })
  const client = clientOf(server)
  for (let count = 0; count < 3; count++)
    expect(await get(client, server.port, { headers: { host: 'localhost', authorization: 'Bearer k' } })).toBe('200 hello')
  expect(asked).toEqual(Array.from({ length: 3 }, () => ['GET', '/a?b=c', 'localhost', 'Bearer k', true]))
  expect(ports.size).toBe(1)
})
test('a connection that the server closed meanwhile, or closes as the request comes, costs nothing', async () => {
  let [count, requests] = [0, 0]
  const server = await rawServer((socket) => {
    const isFirst = ++count === 1
    let own = 0
    socket.on('data', () => {
      requests++
      // Its first connection is closed with the second request on it.
      if (isFirst && ++own === 2) socket.destroy()
      else socket.write(OK)
    })
  })
  const client = clientOf(server)
  expect([await get(client, server.port), await get(client, server.port), await get(client, server.port)]).toEqual(['200 ok', '200 ok', '200 ok'])
  expect([count, requests]).toEqual([2, 4])
})
test('an answer that breaks off is an error, and is not asked for again', async () => {
  let requests = 0
  const server = await rawServer((socket) =>
    socket.on('data', () => {
      requests++
      if (requests === 1) socket.write(OK)
      else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf')
    }),
  )
  const client = clientOf(server)
  expect(await get(client, server.port)).toBe('200 ok')
  expect(await get(client, server.port)).toBe('error: status 200, then the connection ended in the middle of the answer')
  expect(requests).toBe(2)
})
test('nobody listens, nothing comes, only the head comes, another protocol, a header that is none', async () => {
  const gone = await webServer(() => {})
  await gone.close()
  expect(await get(clientOf(gone), gone.port)).toMatch(/^error, not connected: .*ECONNREFUSED/)
  const silent = await rawServer(() => {})
  expect(await get(clientOf(silent), silent.port, { timeoutMs: 20 })).toBe('timeout: no answer within 20 ms')
  const slow = await rawServer((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'))
  expect(await get(clientOf(slow), slow.port, { timeoutMs: 1_500 })).toBe('timeout: status 200, then no whole answer within 1500 ms')
  const other = await rawServer((socket) => socket.write('SSH-2.0\r\n\r\n'))
  expect(await get(clientOf(other), other.port)).toContain('does not speak HTTP')
  expect(await get(clientOf(other), other.port, { headers: { authorization: 'a\r\nb: c' } })).toContain('no header may hold')
})
test('what is on its way when it is closed is given up, and nothing is asked afterwards', async () => {
  const come = Promise.withResolvers<undefined>()
  let requests = 0
  const server = await rawServer((socket) =>
    socket.on('data', () => {
      requests++
      come.resolve(undefined)
    }),
  )
  const client = clientOf(server)
  const asked = get(client, server.port)
  await come.promise
  client.close()
  expect(await asked).toBe('aborted: given up')
  expect(await get(client, server.port)).toBe('aborted, not connected: given up')
  expect(requests).toBe(1)
})
