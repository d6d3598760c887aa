// Who is let in: bind addresses, tokens, Host and Origin.
import { describe, expect, test } from 'vitest'
import { checkBind, readSubprotocol } from '../../../agent/http/auth.ts'
import { get, runServer } from './running.ts'

describe('the bind address', () => {
  test.each(['127.0.0.1:9839', '[::1]:9839', 'localhost:0', '127.5.5.5:1'])('%s needs no token', (listen) => {
    expect(() => checkBind({ listen, token: '', insecure: false })).not.toThrow()
  })
  test.each(['0.0.0.0:9839', ':9839', '[::]:9839', '10.0.0.1:9839', 'gpu-01:9839'])('%s needs a token or a word', (listen) => {
    expect(() => checkBind({ listen, token: '', insecure: false })).toThrow(/set http.token .*or http.insecure: true/)
    expect(() => checkBind({ listen, token: 't', insecure: false })).not.toThrow()
    expect(() => checkBind({ listen, token: '', insecure: true })).not.toThrow()
  })
  test('is checked before the port is opened', async () => {
    await expect(runServer({ http: { listen: '0.0.0.0:0' } })).rejects.toThrow(/http.listen: 0.0.0.0:0 is open to other hosts/)
  })
})

describe('the token', () => {
  test('opens what tells of the host; health and the page need none', async () => {
    await using running = await runServer({ http: { token: 's3cret-token' } })
    const { url } = running
    for (const path of ['/metrics', '/api/v1/gpus', '/api/v1/openapi.json', '/api/v1/nothing']) {
      for (const authorization of [undefined, 'Bearer wrong', 'Bearer s3cret-toke', 'Bearer s3cret-token2', 'Basic s3cret-token', 'Bearer']) {
        const answer = await get(`${url}${path}`, authorization === undefined ? {} : { authorization })
        expect([path, authorization, answer.status]).toEqual([path, authorization, 401])
        expect(answer.headers['www-authenticate']).toContain('Bearer')
        expect(answer.text).not.toContain('s3cret')
      }
      const allowed = await get(`${url}${path}`, { authorization: 'Bearer s3cret-token' })
      expect(allowed.status).toBe(path.endsWith('nothing') ? 404 : 200)
    }
    expect((await get(`${url}/metrics?token=s3cret-token`)).status).toBe(401)
    expect((await get(`${url}/healthz`)).status).toBe(200)
    expect((await get(`${url}/readyz`)).status).toBe(200)
  })
})

describe('a second spelling of a protected path', () => {
  test.each([
    'http://localhost/api/v1/gpus',
    'http://evil.example/api/v1/gpus',
    'http://localhost/%61pi/v1/gpus',
    '/%61pi/v1/gpus',
    '/%41pi/v1/gpus',
    '/api/v1/%67pus',
    '/%2e/api/v1/gpus',
    '/./api/v1/gpus',
    '/x/../api/v1/gpus',
    '/x/%2E%2e/api/v1/gpus',
    '/x/.%2e/api/v1/gpus',
    '/x/..',
    '/\u005capi/v1/gpus',
    '/api/v1/gpus#x',
    '/api/v1/"gpus"',
    '*',
  ])('%s is refused, with and without the token', async (path) => {
    await using running = await runServer({ http: { token: 's3cret-token' } })
    for (const headers of [{}, { authorization: 'Bearer s3cret-token' }]) {
      const answer = await get(running.url, headers, 'GET', undefined, path)
      expect([answer.status, answer.text.includes('GPU-604ac76c')]).toEqual([400, false])
    }
  })
  test.each(['/api/v1/notifiers/team%20a/test', '/api/v1/notifiers/%C3%A4/test', '/api/v1/incidents/a%2Fb', '/api/v1/incidents/..%2f'])(
    '%s: what must be encoded may be, and needs the token',
    async (path) => {
      await using running = await runServer({ http: { token: 's3cret-token' } })
      const statuses = [{}, { authorization: 'Bearer s3cret-token' }].map(async (headers) => (await get(running.url, headers, 'GET', undefined, path)).status)
      expect(await Promise.all(statuses)).toEqual([401, 404])
    },
  )
})

describe('Host', () => {
  test.each([
    ['localhost:9839', 200],
    ['127.0.0.1:1', 200],
    ['[::1]:9839', 200],
    ['LOCALHOST', 200],
    ['gpu-01.lan:9839', 200],
    ['evil.example:9839', 403],
    ['localhost.evil.example', 403],
    ['127.0.0.1.evil.example', 403],
  ])('%s on loopback is answered with %d', async (host, status) => {
    await using running = await runServer({ http: { allowedHosts: ['gpu-01.lan'] } })
    for (const path of ['/metrics', '/api/v1/gpus', '/healthz']) expect((await get(`${running.url}${path}`, { host })).status).toBe(status)
  })
})

describe('allowed origins', () => {
  test('may read the answers; others get no word of permission', async () => {
    await using running = await runServer({ http: { allowedOrigins: ['https://grafana.example'] } })
    const path = `${running.url}/api/v1/gpus`
    expect((await get(path, { origin: 'https://grafana.example' })).headers['access-control-allow-origin']).toBe('https://grafana.example')
    expect((await get(path, { origin: 'https://evil.example' })).headers['access-control-allow-origin']).toBeUndefined()
    const preflight = await get(path, { origin: 'https://grafana.example', 'access-control-request-method': 'GET' }, 'OPTIONS')
    expect([preflight.status, preflight.headers['access-control-allow-headers']]).toEqual([204, 'Authorization'])
    expect((await get(path, { origin: 'https://evil.example', 'access-control-request-method': 'GET' }, 'OPTIONS')).status).toBe(405)
  })
})

test.each([
  [undefined, undefined, undefined],
  ['warpwatch', 'warpwatch', undefined],
  ['warpwatch, abc', 'warpwatch', 'abc'],
  ['warpwatch.token.a%2Fb', 'warpwatch.token.a%2Fb', 'a/b'],
  ['warpwatch, warpwatch.token.x', 'warpwatch', 'x'],
  ['other', undefined, undefined],
  ['warpwatch.token.100%', 'warpwatch.token.100%', '100%'],
])('subprotocol %s chooses %s with token %s', (header, chosen, token) => {
  expect(readSubprotocol(header)).toEqual({ chosen, token })
})
