// What holds for every answer of the port, and for every operation that the API describes.
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { createOpenApi } from '../../../agent/http/api/openapi.ts'
import { INCIDENT, NOTIFIER, SILENCE } from './incident-fixture.ts'
import { get, runServer } from './running.ts'

const METHODS = ['get', 'post', 'delete'] as const
const operation = z.looseObject({ operationId: z.string() })
const { paths } = z.object({ paths: z.record(z.string(), z.partialRecord(z.enum(METHODS), operation)) }).parse(createOpenApi())
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  METHODS.flatMap((method) => (methods[method] === undefined ? [] : [{ path, method, ...methods[method] }])),
)

test('every operation has an id of its own, in camelCase', () => {
  const ids = operations.map(({ operationId }) => operationId)
  expect(ids.length).toBeGreaterThan(25)
  expect(ids.filter((id) => !/^(?:get|list|query|run|check|create|delete|fit|acknowledge|resolve|test|retry|reload)(?:[A-Z][a-z]+)+$/.test(id))).toEqual([])
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([])
})

const real = (path: string): string =>
  path.replace('/silences/{id}', `/silences/${SILENCE.id}`).replace('{id}', INCIDENT.id).replace('{name}', NOTIFIER.name).replace('{kind}', 'cuda_oom')

test('every answer says nosniff, well or not', async () => {
  await using running = await runServer({ http: { token: 't', maintenance: undefined } })
  const without: string[] = []
  const note = (what: string, status: number, header: unknown): void => {
    if (header !== 'nosniff') without.push(`${what} ${status}`)
  }
  const asked = [...operations, ...['/', '/nothing', '/api/v1/nothing', '/ws', '/runbooks/nothing'].map((path) => ({ path, method: 'get' as const }))]
  for (const { path, method } of asked) {
    for (const headers of [
      {},
      { authorization: 'Bearer t' },
      { host: 'evil.example' },
      { authorization: 'Bearer t', 'content-type': 'application/json', expect: 'nothing' },
    ]) {
      const answer = await get(`${running.url}${real(path)}`, headers, method.toUpperCase())
      note(`${method} ${path}`, answer.status, answer.headers['x-content-type-options'])
    }
  }
  for (const [method, headers] of [
    ['PUT', {}],
    ['OPTIONS', { origin: running.url, 'access-control-request-method': 'GET' }],
    ['GET', { x: 'y'.repeat(20_000) }],
  ] as const) {
    const answer = await get(`${running.url}/api/v1/host`, headers, method)
    note(method, answer.status, answer.headers['x-content-type-options'])
  }
  expect(without).toEqual([])
})

test.each([
  ['no HTTP', 'what is this?\r\n\r\n', 400],
  ['an upgrade elsewhere', 'GET /nothing HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n', 404],
  [
    'a stream without the token',
    'GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nAuthorization: Bearer wrong\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    401,
  ],
])('%s is answered with nosniff too', async (_, text, status) => {
  await using running = await runServer({ http: { token: 't' } })
  const { hostname, port } = new URL(running.url)
  const socket = connect(Number(port), hostname, () => socket.write(text))
  let answer = ''
  socket.on('data', (chunk: Buffer) => (answer += chunk.toString()))
  await once(socket, 'close')
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(answer.toLowerCase()).toContain('x-content-type-options: nosniff\r\n')
})
