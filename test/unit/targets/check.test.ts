// One check of a service, against real servers that answer well, badly, late, by halves, or not at all.
import type { RequestListener } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { createHttpClient } from '../../../agent/lib/http-client.ts'
import { checkTarget, type CheckOptions, type Checked } from '../../../agent/sources/targets/check.ts'
import { meaningOf } from '../../../agent/sources/targets/reasons.ts'
import { selfSigned } from '../../setup/certificate.ts'
import { rawServer, tlsServer, webServer, type Listening } from '../../setup/web-server.ts'

const servers: Listening[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
})
const kept = async (server: Promise<Listening>): Promise<Listening> => {
  servers.push(await server)
  return server
}
const serve = async (answer: RequestListener): Promise<Listening> => kept(webServer(answer))
const check = async (url: string, more: Partial<CheckOptions> = {}): Promise<Checked> =>
  checkTarget({ client: createHttpClient(), url, timeoutMs: 10_000, headers: {}, ...more })
/** Long enough for a loopback connection on a busy machine, short enough to wait for. */
const SHORT = { timeoutMs: 1_500 }

describe('a service that answers', () => {
  test('is up, with status and latency', async () => {
    const { url } = await serve((_, answer) => answer.end('ok'))
    const found = await check(`${url}/health?deep=1`)
    expect(found).toMatchObject({ up: true, status: 200 })
    if (found.up !== true) throw new Error('expected a service that is up')
    expect(found.latencyMs).toBeGreaterThan(0)
    expect(found.latencyMs).toBeLessThan(10_000)
  })

  test('gets the headers and the credentials of the URL', async () => {
    const seen: Record<string, unknown>[] = []
    const { port } = await serve((request, answer) => {
      seen.push({ ...request.headers, path: request.url })
      answer.end()
    })
    await check(`http://ann:s3cret@127.0.0.1:${port}/a?b=c`, { headers: { 'X-Probe': 'yes' } })
    expect(seen).toMatchObject([{ 'x-probe': 'yes', authorization: `Basic ${Buffer.from('ann:s3cret').toString('base64')}`, path: '/a?b=c' }])
    expect(seen[0]?.['user-agent']).toMatch(/^warpwatch\//)
  })

  test.each([
    [204, undefined, true],
    [299, undefined, true],
    [304, undefined, false],
    [404, undefined, false],
    [500, undefined, false],
    [503, 503, true],
    [200, 503, false],
    [302, 302, true],
  ])('with %i where %s is expected: %s', async (status, expectStatus, up) => {
    const { url } = await serve((_, answer) => answer.writeHead(status, { location: '/elsewhere' }).end())
    const found = await check(url, expectStatus === undefined ? {} : { expectStatus })
    const detail = `status ${status} instead of ${expectStatus ?? '200 to 299'}`
    expect(found).toMatchObject(up ? { up, status } : { up, status, reason: 'status', detail })
  })

  test('endlessly is up: no more than a little is read', async () => {
    let sent = 0
    const { url } = await serve((_, answer) => {
      const more = (): void => {
        sent += 16_384
        if (!answer.destroyed) answer.write(Buffer.alloc(16_384), () => setImmediate(more))
      }
      more()
    })
    expect(await check(url)).toMatchObject({ up: true, status: 200 })
    expect(sent).toBeLessThan(64 * 2 ** 20)
  })
})

describe('a service that fails', () => {
  test('nothing listens', async () => {
    const { url, close } = await serve((_, answer) => answer.end())
    await close()
    const found = await check(url)
    expect(found).toMatchObject({ up: false, reason: 'refused' })
    expect(found).not.toHaveProperty('status')
  })

  test('no address', async () => {
    // RFC 6761: names under .invalid have none.
    expect(await check('http://nowhere.invalid/')).toMatchObject({ up: false, reason: 'dns' })
  })

  test('no answer in time', async () => {
    const { url } = await serve(() => {})
    expect(await check(url, SHORT)).toMatchObject({ up: false, reason: 'timeout', detail: 'no answer within 1500 ms' })
  })

  test('a body that never ends in time', async () => {
    const { url } = await serve((_, answer) => answer.write('o'))
    expect(await check(url, SHORT)).toMatchObject({ up: false, reason: 'timeout', status: 200, detail: 'status 200, then no whole answer within 1500 ms' })
  })

  test('a body in drops', async () => {
    const timers: NodeJS.Timeout[] = []
    const { url } = await serve((_, answer) => {
      answer.writeHead(200)
      timers.push(setInterval(() => answer.write('.'), 20))
    })
    expect(await check(url, SHORT)).toMatchObject({ up: false, reason: 'timeout', status: 200 })
    for (const timer of timers) clearInterval(timer)
  })

  test('a reset at once, and a connection closed without a word', async () => {
    const reset = await kept(rawServer((socket) => socket.resetAndDestroy()))
    expect(await check(reset.url)).toMatchObject({ up: false, reason: 'reset' })
    const closed = await kept(rawServer((socket) => socket.on('data', () => socket.end())))
    expect(await check(closed.url)).toMatchObject({ up: false, reason: 'reset' })
  })

  test('a body that breaks off', async () => {
    const { url } = await kept(rawServer((socket) => socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'))))
    expect(await check(url)).toMatchObject({ up: false, reason: 'reset', status: 200 })
  })

  test.each(['SSH-2.0-OpenSSH_9.9\r\n', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`])('no HTTP: %.12s', async (words) => {
    const { url } = await kept(rawServer((socket) => socket.on('data', () => socket.write(words))))
    expect(await check(url)).toMatchObject({ up: false, reason: 'protocol' })
  })

  test('plain HTTP where TLS is expected', async () => {
    const { port } = await serve((_, answer) => answer.end())
    expect(await check(`https://127.0.0.1:${port}/`)).toMatchObject({ up: false, reason: 'tls' })
  })

  const pair = selfSigned('IP:127.0.0.1')
  test.skipIf(pair === undefined)('a certificate that nobody vouches for (needs openssl)', async () => {
    if (pair === undefined) return
    let asked = 0
    const { url } = await kept(tlsServer(pair, (_, answer) => answer.end(String(asked++))))
    expect(await check(url, { headers: { authorization: 'Bearer s3cret' } })).toMatchObject({ up: false, reason: 'tls' })
    expect(asked, 'nothing is sent to it').toBe(0)
    pair.remove()
  })
})

describe('a redirect', () => {
  test('on the same host is followed, with the headers', async () => {
    const seen: (string | undefined)[] = []
    const { port } = await serve((request, answer) => {
      seen.push(request.headers.authorization)
      if (request.url === '/') answer.writeHead(302, { location: '/well' }).end()
      else answer.end()
    })
    expect(await check(`http://ann:s3cret@127.0.0.1:${port}/`)).toMatchObject({ up: true, status: 200 })
    expect(seen).toHaveLength(2)
    expect(new Set(seen)).toEqual(new Set([`Basic ${Buffer.from('ann:s3cret').toString('base64')}`]))
  })

  test('to another host, or another port, is not followed', async () => {
    let reached = 0
    const other = await serve((_, answer) => answer.end(String(reached++)))
    const { url } = await serve((request, answer) =>
      answer.writeHead(307, { location: request.url === '/port' ? `${other.url}/x?token=s3cret` : `http://localhost:${other.port}/` }).end(),
    )
    for (const path of ['/port', '/name']) {
      const found = await check(`${url}${path}`, { headers: { authorization: 'Bearer s3cret' } })
      expect(found).toMatchObject({ up: false, reason: 'redirect', status: 307 })
      expect(JSON.stringify(found)).not.toContain('s3cret')
    }
    expect(reached).toBe(0)
  })

  test('in a circle ends', async () => {
    let asked = 0
    const { url } = await serve((_, answer) => answer.writeHead(301, { location: `/${asked++}` }).end())
    expect(await check(url)).toMatchObject({ up: false, reason: 'redirect', status: 301 })
    expect(asked).toBe(6)
  })

  test('to a place that is none', async () => {
    const { url } = await serve((_, answer) => answer.writeHead(302, { location: 'http://[' }).end())
    expect(await check(url)).toMatchObject({ up: false, reason: 'redirect' })
  })
})

test('a check that the agent gives up says nothing of the service', async () => {
  const ending = new AbortController()
  const { url } = await serve(() => ending.abort())
  expect(await check(url, { signal: ending.signal })).toMatchObject({ up: undefined })
})

test('want of descriptors or ports is the fault of the agent', () => {
  for (const code of ['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'EACCES']) expect(meaningOf(Object.assign(new Error(code), { code }))).toBe('own')
  expect(meaningOf(Object.assign(new Error('?'), { code: 'EXOTIC' }))).toBe('other')
})
