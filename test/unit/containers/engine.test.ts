// The engine client against a real server on a unix socket that hangs, resets, lies and talks without end.
import { chmodSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createEngineClient } from '../../../agent/sources/containers/engine.ts'
import type { EngineClient } from '../../../agent/sources/containers/engine.ts'
import { EngineError } from '../../../agent/sources/containers/engine-error.ts'
import { idOf, inspected, json, listed, startEngineServer } from './engine-server.ts'
import type { EngineServer, Handler } from './engine-server.ts'

const A = idOf('a')
let server: EngineServer
let client: EngineClient
const clientOf = (timeoutMs: number): EngineClient =>
  createEngineClient({ socketPath: server.socketPath, timeoutMs, maxBodyBytes: 100_000, maxEventBytes: 10_000 })
beforeEach(async () => {
  server = await startEngineServer()
  client = clientOf(20_000)
})
afterEach(async () => {
  client.close()
  await server.close()
})
const failure = async (promise: Promise<unknown>): Promise<EngineError> => {
  const error = await promise.then(
    () => new Error('expected a failure, it succeeded'),
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof EngineError)) throw error
  return error
}

describe('engine client', () => {
  test('lists and inspects, and lets unknown fields and nulls be', async () => {
    server.handle = (path, answer) =>
      json(answer, 200, path === '/containers/json' ? [listed(A, 'web', { Extra: { x: 1 }, Ports: null })] : inspected(A, 'web', { rest: { New: [1] } }))
    expect(await client.list()).toMatchObject([{ Id: A, Names: ['/web'] }])
    expect(await client.inspect(A)).toMatchObject({ Id: A, RestartCount: 2, State: { Pid: 1 } })
    expect(server.calls).toEqual(['/containers/json', `/containers/${A}/json`])
  })

  test('a container that is gone is undefined', async () => {
    server.handle = (_path, answer) => json(answer, 404, { message: `No such container: ${A}` })
    expect(await client.inspect(A)).toBeUndefined()
  })

  const FAULTS: readonly (readonly [what: string, handle: Handler, reason: string, message: RegExp])[] = [
    ['no answer', () => undefined, 'timeout', /no complete answer within 1000 ms/],
    ['half an answer, then silence', (_path, answer) => void answer.writeHead(200).write('[{"Id":'), 'timeout', /no complete answer within 1000 ms/],
    [
      'half an answer, then a reset',
      (_path, answer) => void answer.writeHead(200).write('[{"Id":', () => answer.destroy()),
      'driver_error',
      /aborted|reset|terminated/i,
    ],
    ['a reset at once', (_path, answer) => void answer.destroy(), 'driver_error', /hang up|reset/],
    ['garbage', (_path, answer) => void answer.end('<html>not an engine</html>'), 'parse_error', /the answer is no JSON: "<html>/],
    ['garbage instead of HTTP', (_path, answer) => void answer.socket?.end('\u0000\u0001\u0002 nothing\r\n\r\n'), 'driver_error', /Parse Error/],
    ['JSON of another form', (_path, answer) => json(answer, 200, { containers: [] }), 'parse_error', /the whole answer: expected array/],
    ['an id that is none', (_path, answer) => json(answer, 200, [listed('../../etc', 'x')]), 'parse_error', /0\.Id/],
    ['a body without end', (_path, answer) => void answer.end(`[${'"x",'.repeat(50_000)}"x"]`), 'parse_error', /longer than 100000 bytes/],
    ['an error of the engine', (_path, answer) => json(answer, 500, { message: 'database is locked' }), 'driver_error', /status 500: .*database is locked/],
    ['a proxy that refuses', (_path, answer) => json(answer, 403, { message: 'forbidden' }), 'no_permission', /status 403/],
  ]
  test.each(FAULTS.map(([what, handle, reason, message]) => ({ what, handle, reason, message })))(
    '$what is one clear error, and the next call works',
    async ({ handle, reason, message }) => {
      server.handle = handle
      client.close()
      // Only silence is waited for: on a busy machine an answer may take its time.
      client = clientOf(reason === 'timeout' ? 1_000 : 20_000)
      const error = await failure(client.list())
      expect(error.reason).toBe(reason)
      expect(error.message).toMatch(message)
      expect(error.message).toContain(server.socketPath)
      server.handle = (_path, answer) => json(answer, 200, [listed(A, 'web')])
      expect(await client.list()).toHaveLength(1)
    },
  )

  test('no socket, no listener, no socket file: each says what it is', async () => {
    const other = (name: string): EngineClient => createEngineClient({ socketPath: join(dirname(server.socketPath), name), timeoutMs: 300 })
    expect((await failure(other('none.sock').list())).message).toMatch(/there is no such socket/)
    writeFileSync(join(dirname(server.socketPath), 'file.sock'), '')
    expect((await failure(other('file.sock').list())).message).toMatch(/no process listens/)
  })

  test.skipIf(process.platform !== 'linux')('no permission on the socket', async () => {
    chmodSync(server.socketPath, 0)
    // Root may do everything, so that the connection is made as nobody.
    const root = process.geteuid?.() === 0
    if (root) process.seteuid?.(65_534)
    try {
      expect(await failure(client.list())).toMatchObject({ reason: 'no_permission', nativeCode: 13 })
    } finally {
      if (root) process.seteuid?.(0)
    }
  })

  test('events come one by one, however the stream is cut; an unknown form is told and skipped', async () => {
    const actions: string[] = []
    const malformed: string[] = []
    server.handle = (_path, answer) => {
      answer.writeHead(200)
      const text = ['create', 'stört', 'die'].map((action) => JSON.stringify({ Type: 'container', Action: action, Actor: { ID: A }, timeNano: 5 })).join('\n')
      const bytes = Buffer.from(`${text}\nnot json\n{"Action":7}\n\n`)
      // Byte by byte: also within a character of two bytes.
      const next = (at: number): void => void (at < bytes.length ? answer.write(bytes.subarray(at, at + 1), () => next(at + 1)) : answer.end())
      next(0)
    }
    const signal = new AbortController().signal
    await client.events({
      sinceSeconds: 12.3456,
      signal,
      onEvent: (event) => void actions.push(event.Action),
      onMalformed: (detail) => void malformed.push(detail),
    })
    expect(actions).toEqual(['create', 'stört', 'die'])
    expect(malformed).toHaveLength(2)
    expect(server.calls[0]).toBe(`/events?since=12.346&filters=${encodeURIComponent('{"type":["container"]}')}`)
  })

  test('an event without end breaks off', async () => {
    server.handle = (_path, answer) => void answer.writeHead(200).write('x'.repeat(50_000))
    const error = await failure(
      client.events({ sinceSeconds: 0, signal: new AbortController().signal, onEvent: () => undefined, onMalformed: () => undefined }),
    )
    expect(error.reason).toBe('parse_error')
  })

  test('following ends when it is given up, also before the engine answered', async () => {
    const over = new AbortController()
    server.handle = () => over.abort()
    const error = await failure(client.events({ sinceSeconds: 0, signal: over.signal, onEvent: () => undefined, onMalformed: () => undefined }))
    expect(error.message).toMatch(/given up/)
  })
})
