// The client of all outgoing requests, with real proxies: tunnels, credentials, refusals, silence, certificates, Unix sockets.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createHttpClient, type HttpClientOptions, type HttpFailure, type HttpRequest, type HttpResult } from '../../../agent/lib/http-client.ts'
import { proxyRules } from '../../../agent/lib/proxy.ts'
import { selfSigned } from '../../setup/certificate.ts'
import { poll } from '../../setup/poll.ts'
import { startProxy, type ProxyOptions, type ProxyServer } from '../../setup/proxy-server.ts'
import { rawServer, tlsServer, webServer, type Listening } from '../../setup/web-server.ts'

const SECRET = 's3cret'
const BASIC = `Basic ${Buffer.from(`us@er:${SECRET}:`).toString('base64')}`
const USER = `us%40er:${SECRET}%3A`

async function proxy(options: ProxyOptions): Promise<ProxyServer> {
  const started = await startProxy(options)
  onTestFinished(started.close)
  return started
}
const kept = (listening: Listening): Listening => {
  onTestFinished(listening.close)
  return listening
}
/** Through a proxy at this port, whose user is named. */
const via = (port: number, more: HttpClientOptions = {}, scheme = 'http', no_proxy: readonly string[] = []): HttpClientOptions => ({
  proxyFor: proxyRules({ proxy: `${scheme}://${USER}@127.0.0.1:${port}`, no_proxy }, {}),
  ...more,
})
async function exchange(options: HttpClientOptions, url: string, more: Partial<HttpRequest> = {}): Promise<HttpResult> {
  const client = createHttpClient(options)
  onTestFinished(client.close)
  return client.exchange({ url: new URL(url), timeoutMs: 10_000, maxBytes: 1_000, ...more })
}
async function failure(result: Promise<HttpResult>): Promise<HttpFailure> {
  const found = await result
  if (!('failure' in found)) throw new Error(`expected a failure, came status ${found.answer.status}`)
  for (const secret of [SECRET, 'us%40er', 'us@er', BASIC.slice(6)]) expect(found.failure.text).not.toContain(secret)
  return found.failure
}
const body = (result: HttpResult): string => ('answer' in result ? `${result.answer.status} ${result.answer.body.toString()}` : result.failure.text)

describe('a proxy', () => {
  test('takes http in absolute form, with its credentials', async () => {
    const at = kept(await webServer((request, answer) => answer.end(`${request.headers.host} ${request.url} ${request.headers['proxy-authorization'] ?? '-'}`)))
    const between = await proxy({ to: at.port, authorization: BASIC })
    expect(body(await exchange(via(between.port), 'http://svc.example/a?b=c'))).toContain('200 svc.example /a?b=c')
    expect(between.asked).toEqual(['GET http://svc.example/a?b=c'])
    expect(between.credentials).toEqual([BASIC])
  })

  test('is left out for this host and for what no_proxy says', async () => {
    const at = kept(await webServer((_, answer) => answer.end('direct')))
    const between = await proxy({ to: at.port })
    expect(body(await exchange(via(between.port), at.url))).toBe('200 direct')
    expect((await failure(exchange(via(between.port, {}, 'http', ['.invalid']), 'http://svc.invalid/'))).text).toMatch(/ENOTFOUND|EAI_AGAIN/)
    expect(between.asked).toEqual([])
  })

  test('that refuses is named, with its answer and without its credentials', async () => {
    const at = kept(await webServer((_, answer) => answer.end()))
    const between = await proxy({ to: at.port })
    const refused = await failure(exchange(via(between.port), 'https://refused.example/SECRET-PATH'))
    expect(refused).toMatchObject({ kind: 'error', connected: false, proxy: `127.0.0.1:${between.port}` })
    expect(refused.text).toMatch(/^through the proxy 127\.0\.0\.1:\d+: .*refused\.example:443.*403 No/)
    expect(refused.text).not.toContain('SECRET-PATH')
    const closed = await proxy({ to: at.port, authorization: 'Basic other' })
    expect((await failure(exchange(via(closed.port), 'https://svc.example/'))).text).toContain('407')
    expect(body(await exchange(via(closed.port), 'http://svc.example/'))).toMatch(/^407/)
  })

  test('that is not there is what failed, not the receiver', async () => {
    const gone = await startProxy({ to: 1 })
    await gone.close()
    for (const url of ['https://svc.example/', 'http://svc.example/']) {
      const found = await failure(exchange(via(gone.port), url))
      expect(found.text).toMatch(/^through the proxy 127\.0\.0\.1:\d+: connect ECONNREFUSED/)
      expect(found.connected).toBe(false)
    }
  })

  test('that never answers costs the deadline, and its connection is ended', async () => {
    const between = await proxy({ to: 1, silent: true })
    const found = await failure(exchange(via(between.port), 'https://svc.example/', { timeoutMs: 200 }))
    expect(found).toMatchObject({ kind: 'timeout', text: 'no answer within 200 ms', connected: false })
    expect(between.asked).toEqual(['CONNECT svc.example:443'])
    await poll(() => between.open() === 0, { what: 'the connection to the proxy to end', deadlineMs: 5_000 })
  })

  test('that ends the connection, or says what is no HTTP', async () => {
    for (const said of ['', 'nonsense\r\n\r\n']) {
      const between = kept(await rawServer((socket) => void socket.once('data', () => socket.end(said))))
      expect((await failure(exchange(via(between.port), 'https://svc.example/'))).kind).toBe('error')
    }
  })
})

describe('https through a proxy (needs openssl)', () => {
  const certificate = selfSigned('DNS:svc.example')
  const own = selfSigned('IP:127.0.0.1')
  let at: Listening
  beforeAll(async () => {
    if (certificate !== undefined)
      at = await tlsServer(certificate, (request, answer) => answer.end(`${request.url} ${request.headers['proxy-authorization'] ?? '-'}`))
  })
  afterAll(async () => {
    await at?.close()
    certificate?.remove()
    own?.remove()
  })

  test.skipIf(certificate === undefined)('is a tunnel: the receiver’s certificate counts, and the proxy sees no path', async () => {
    const between = await proxy({ to: at.port, authorization: BASIC })
    const ca = Buffer.from(certificate?.cert ?? '')
    expect(body(await exchange(via(between.port, { ca }), 'https://svc.example/a'))).toBe('200 /a -')
    expect(between.asked).toEqual(['CONNECT svc.example:443'])
    expect((await failure(exchange(via(between.port), 'https://svc.example/'))).text).toMatch(/self-signed certificate/)
    expect((await failure(exchange(via(between.port, { ca }), 'https://other.example/'))).text).toMatch(/altnames/)
  })

  test.skipIf(certificate === undefined)('counts as connected once the tunnel stands, and kept tunnels are used again', async () => {
    const between = await proxy({ to: at.port })
    const client = createHttpClient(via(between.port, { ca: Buffer.from(certificate?.cert ?? ''), keep: 1 }))
    onTestFinished(client.close)
    const ask = async (path: string): Promise<string> =>
      body(await client.exchange({ url: new URL(`https://svc.example${path}`), timeoutMs: 10_000, maxBytes: 100 }))
    expect([await ask('/1'), await ask('/2')]).toEqual(['200 /1 -', '200 /2 -'])
    expect(between.asked).toEqual(['CONNECT svc.example:443'])
    const hanging = await tlsServer({ key: certificate?.key ?? '', cert: certificate?.cert ?? '' }, () => {})
    kept(hanging)
    const slow = await proxy({ to: hanging.port })
    const found = await failure(exchange(via(slow.port, { ca: Buffer.from(certificate?.cert ?? '') }), 'https://svc.example/', { timeoutMs: 1_000 }))
    expect(found).toMatchObject({ kind: 'timeout', connected: true })
  })

  test.skipIf(own === undefined)('a proxy that speaks TLS itself must have a certificate that Node trusts', async () => {
    const between = await proxy({ to: at.port, pair: { key: own?.key ?? '', cert: own?.cert ?? '' } })
    expect((await failure(exchange(via(between.port, {}, 'https'), 'https://svc.example/'))).text).toMatch(/through the proxy .*self-signed certificate/)
  })
})

describe('a Unix socket', () => {
  test('is asked whatever proxies are named', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'warpwatch-http-client-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const socketPath = join(folder, 's.sock')
    const server = createServer((request, answer) => answer.end(`${request.headers.host}${request.url}`))
    server.listen(socketPath)
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const between = await proxy({ to: 1 })
    const options = { socketPath, proxyFor: proxyRules({ proxy: `http://127.0.0.1:${between.port}`, no_proxy: [] }, {}) }
    expect(body(await exchange(options, 'http://docker/containers/json'))).toBe('200 docker/containers/json')
    const client = createHttpClient(options)
    const head = await client.open({ url: new URL('http://docker/events') })
    expect([head.statusCode, (await head.toArray()).join('')]).toEqual([200, 'docker/events'])
    expect(between.asked).toEqual([])
  })
})

describe('an answer', () => {
  test('is bounded', async () => {
    const at = kept(
      await webServer((_, answer) => {
        const more = (): void => void answer.write('x'.repeat(10_000), more)
        answer.on('error', () => {})
        more()
      }),
    )
    const result = await exchange({}, at.url)
    expect('answer' in result ? [result.answer.body.length, result.answer.cut] : result).toEqual([1_000, true])
  })
  test('of as many bytes as may be is whole', async () => {
    const at = kept(await webServer((_, answer) => answer.end('x'.repeat(1_000))))
    const result = await exchange({}, at.url)
    expect('answer' in result ? [result.answer.body.length, result.answer.cut] : result).toEqual([1_000, false])
  })
  test('that leads elsewhere is followed only where that was asked for', async () => {
    const at = kept(await webServer((request, answer) => (request.url === '/to' ? answer.end('there') : answer.writeHead(302, { location: '/to' }).end())))
    expect(body(await exchange({}, at.url))).toMatch(/^302/)
    expect(body(await exchange({}, at.url, { redirects: 1 }))).toBe('200 there')
  })
})
