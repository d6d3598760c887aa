// POST /-/reload: who may ask for it, what it answers, and what a new token does to those who are connected.
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { HttpServerOptions } from '../../../agent/http/server.ts'
import type { ReloadResult } from '../../../agent/model/reload.ts'
import { get, runServer } from './running.ts'

const DONE: ReloadResult = { ok: true, changed: ['log.level'], needs_restart: ['http.listen'], warnings: [] }
const JSON_TYPE = { 'content-type': 'application/json' }

async function reloadable(http: Partial<HttpServerOptions> = {}, result = DONE) {
  let asked = 0
  const running = await runServer({
    http: {
      ...http,
      reload: async () => {
        asked++
        return result
      },
    },
  })
  const post = (headers: Readonly<Record<string, string>> = {}, body?: string) => get(`${running.url}/-/reload`, headers, 'POST', body)
  return { running, post, asked: () => asked, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() }
}

describe('POST /-/reload', () => {
  test('on loopback answers what has changed and what needs a restart, also to a bare curl -X POST', async () => {
    await using scene = await reloadable()
    for (const headers of [{}, JSON_TYPE]) {
      const answer = await scene.post(headers)
      expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { changed: ['log.level'], needs_restart: ['http.listen'], warnings: [] }])
    }
    expect(scene.asked()).toBe(2)
  })

  test('needs the token where there is one', async () => {
    await using scene = await reloadable({ token: 's3cret' })
    expect((await scene.post()).status).toBe(401)
    expect((await scene.post({ authorization: 'Bearer wrong' })).status).toBe(401)
    expect(scene.asked()).toBe(0)
    expect((await scene.post({ authorization: 'Bearer s3cret' })).status).toBe(200)
  })

  test('is refused where other hosts can connect and there is no token', async () => {
    await using scene = await reloadable({ listen: '0.0.0.0:0', insecure: true })
    expect([(await scene.post()).status, scene.asked()]).toEqual([403, 0])
  })

  test.each<readonly [string, Readonly<Record<string, string>>, string | undefined, number]>([
    ['a page of another site', { origin: 'https://evil.example' }, undefined, 403],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, '', 415],
    ['a form with a body', { 'content-type': 'text/plain', 'content-length': '2' }, '{}', 415],
    ['a body without a type', { 'content-length': '2' }, '{}', 415],
    ['another host name', { host: 'evil.example' }, undefined, 403],
  ])('%s is refused', async (_, headers, body, status) => {
    await using scene = await reloadable()
    expect([(await scene.post(headers, body)).status, scene.asked()]).toEqual([status, 0])
  })

  test('is no GET', async () => {
    await using scene = await reloadable()
    const answer = await get(`${scene.running.url}/-/reload`)
    expect([answer.status, answer.headers['allow'], scene.asked()]).toEqual([405, 'POST', 0])
  })

  test('tells every problem of a configuration that is refused, at most 50', async () => {
    const problems = Array.from({ length: 60 }, (_, i) => `warpwatch.yaml:${i}: wrong`)
    await using scene = await reloadable({}, { ok: false, problems })
    const { status, text } = await scene.post()
    const { error } = JSON.parse(text)
    expect([status, error.code]).toEqual([422, 'invalid_configuration'])
    expect(error.message.split('\n')).toHaveLength(52)
    expect(error.message).toMatch(/the old one stays in force\.\nwarpwatch\.yaml:0: wrong\n[^]*and 10 more$/)
  })
})

describe('a new token', () => {
  const listen = '127.0.0.1:0'
  const rest = { listen, insecure: false, allowedOrigins: [], allowedHosts: [] }
  const stream = async (url: string, token: string): Promise<WebSocket> => {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } })
    await once(socket, 'message')
    return socket
  }

  test('holds at once, and ends the streams that were opened with the old one', async () => {
    await using running = await runServer({ http: { token: 'old' } })
    const socket = await stream(running.wsUrl, 'old')
    const closed = once(socket, 'close')
    running.server.setAccess({ ...rest, token: 'new' })
    expect((await closed)[0]).toBe(1008)
    expect((await get(`${running.url}/api/v1/host`, { authorization: 'Bearer old' })).status).toBe(401)
    expect((await get(`${running.url}/api/v1/host`, { authorization: 'Bearer new' })).status).toBe(200)
    ;(await stream(running.wsUrl, 'new')).close()
  })

  test('is no reason to end a stream where it stays the same', async () => {
    await using running = await runServer({ http: { token: 'same' } })
    const socket = await stream(running.wsUrl, 'same')
    running.server.setAccess({ ...rest, token: 'same', allowedOrigins: ['https://grafana.example'] })
    const next = once(socket, 'message')
    running.tick(running.clock.now)
    await next
    expect(socket.readyState).toBe(WebSocket.OPEN)
    const answer = await get(`${running.url}/healthz`, { origin: 'https://grafana.example' })
    expect(answer.headers['access-control-allow-origin']).toBe('https://grafana.example')
    socket.close()
  })
})
