// One request to a receiver: answers, time-outs, redirects, certificates and proxies; and never a secret in what is said of them.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { send, type Sent, type SendOptions } from '../../../alerts/delivery/request.ts'
import { proxyRules } from '../../../agent/lib/proxy.ts'
import { folder } from '../../setup/alert-scene.ts'
import { selfSigned } from '../../setup/certificate.ts'
import { startProxy } from '../../setup/proxy-server.ts'
import { startReceiver, type Answer, type Receiver, type ReceiverOptions } from '../../setup/receiver.ts'
import { webServer } from '../../setup/web-server.ts'

const SECRET = 'T0000-geheim'

async function receiver(options?: ReceiverOptions): Promise<Receiver> {
  const started = await startReceiver(options)
  onTestFinished(started.close)
  return started
}
const post = async (url: string, more: Partial<SendOptions> = {}): Promise<Sent> =>
  send(
    {
      method: 'POST',
      url: `${url}/services/${SECRET}?token=${SECRET}`,
      headers: { authorization: `Bearer ${SECRET}`, 'content-type': 'text/plain' },
      body: 'hello, ä',
    },
    { timeoutMs: 10_000, ...more },
  )
async function failure(sent: Promise<Sent>): Promise<Extract<Sent, { failed: string }>> {
  const found = await sent
  if (!('failed' in found)) throw new Error(`must be a failure, not status ${found.answer.status}`)
  expect(found.failed).not.toContain(SECRET)
  expect(found.failed).not.toContain('services')
  return found
}

test('posts the body and gives the answer back', async () => {
  const at = await receiver()
  at.answerWith(() => ({ status: 429, headers: { 'Retry-After': '7', 'Set-Cookie': 'a=b' }, body: 'slow down' }))
  const sent = await post(at.url)
  expect(sent).toMatchObject({ answer: { status: 429, headers: { 'retry-after': '7' }, body: 'slow down' } })
  const [came] = at.requests
  expect(came).toMatchObject({ method: 'POST', path: `/services/${SECRET}?token=${SECRET}`, body: 'hello, ä' })
  expect(came?.headers).toMatchObject({ 'content-length': '9', authorization: `Bearer ${SECRET}` })
  expect(came?.headers['user-agent']).toMatch(/^warpwatch\//)
})

test.each<[string, Answer, RegExp]>([
  ['no answer', 'hang', /^no answer within 1500 ms$/],
  ['a connection that ends', 'reset', /hang up|ECONNRESET/],
  ['a body that breaks off', 'cut', /^status 200, then aborted$/],
  ['a body that never ends', 'drip', /^status 200, then no whole answer within 1500 ms$/],
])('%s is a failure of a receiver that may have got it', async (_, answer, words) => {
  const at = await receiver()
  at.answerWith(() => answer)
  const { failed, heard } = await failure(post(at.url, { timeoutMs: 1_500 }))
  expect(failed).toMatch(words)
  expect(heard).toBe(true)
})

test('a receiver that is not there has heard nothing', async () => {
  const at = await receiver()
  await at.close()
  const { failed, heard } = await failure(post(at.url))
  expect(failed).toContain('ECONNREFUSED')
  expect(heard).toBe(false)
})

test('of a long answer only the beginning is read', async () => {
  const at = await webServer((_, response) => {
    response.writeHead(200)
    const more = (): void => void response.write('x'.repeat(10_000), more)
    response.on('error', () => {})
    more()
  })
  onTestFinished(at.close)
  const sent = await post(at.url)
  expect('answer' in sent ? sent.answer.body.length : sent).toBe(65_536)
})

test('a redirect on the same host is followed with the same body, elsewhere with nothing', async () => {
  const at = await receiver()
  const other = await receiver()
  for (const status of [301, 302, 307, 308]) {
    at.answerWith(({ path }) => (path === '/moved' ? { status: 204 } : { status, headers: { location: '/moved' } }))
    expect(await post(at.url)).toMatchObject({ answer: { status: 204 } })
    expect(at.requests.at(-1)).toMatchObject({ method: 'POST', path: '/moved', body: 'hello, ä' })
    at.answerWith(() => ({ status, headers: { location: `${other.url}/steal?x=${SECRET}` } }))
    const { failed, afterMs } = await failure(post(at.url))
    expect(failed).toBe(`status ${status} leads to ${other.url}; only redirects on the same host are followed`)
    expect(afterMs).toBeGreaterThanOrEqual(60_000)
  }
  expect(other.requests).toEqual([])
  at.answerWith(() => ({ status: 307, headers: { location: '/again' } }))
  expect((await failure(post(at.url))).failed).toBe('more than 3 redirects')
  at.answerWith(() => ({ status: 303, headers: { location: '/see' } }))
  expect((await failure(post(at.url))).failed).toContain('303')
  at.answerWith(() => ({ status: 302, headers: { location: 'http://[' } }))
  expect((await failure(post(at.url))).failed).toBe('status 302 leads to a place that is no URL')
  at.answerWith(() => ({ status: 304 }))
  expect(await post(at.url)).toMatchObject({ answer: { status: 304 } })
})

const certificate = selfSigned('IP:127.0.0.1')
test.skipIf(certificate === undefined)('trusts what it is told to trust, and nothing that was signed for another (needs openssl)', async () => {
  if (certificate === undefined) return
  const at = await receiver({ certificate })
  const { failed, heard } = await failure(post(at.url))
  expect(failed).toMatch(/self-signed certificate/)
  expect(heard).toBe(false)
  expect(await post(at.url, { caFile: certificate.certPath })).toMatchObject({ answer: { status: 200 } })
  const wrongName = selfSigned('DNS:elsewhere.example')
  onTestFinished(() => {
    certificate.remove()
    wrongName?.remove()
  })
  if (wrongName === undefined) return
  const elsewhere = await receiver({ certificate: wrongName })
  expect((await failure(post(elsewhere.url, { caFile: wrongName.certPath }))).failed).toMatch(/altnames/)
  const broken = join(folder(), 'ca.pem')
  expect((await failure(post(at.url, { caFile: broken }))).failed).toContain('ENOENT')
  writeFileSync(broken, 'no certificate')
  expect((await failure(post(at.url, { caFile: broken }))).failed).not.toBe('')
  // Never down from https.
  const plain = await receiver()
  at.answerWith(() => ({ status: 308, headers: { location: `${plain.url}/x` } }))
  expect((await failure(post(at.url, { caFile: certificate.certPath }))).failed).toContain('only redirects on the same host')
})

test('goes through the proxy that the environment names, unless the receiver is on this host or left out', async () => {
  const at = await receiver()
  const proxy = await startProxy({ to: at.port })
  onTestFinished(proxy.close)
  const through = (env: Record<string, string>) => ({ proxyFor: proxyRules({ proxy: 'environment', no_proxy: [] }, env) })
  const url = `http://user:${SECRET}@127.0.0.1:${proxy.port}`
  const options = through({ HTTP_PROXY: url, HTTPS_PROXY: url, NO_PROXY: 'left.example' })
  expect(await post('http://hooks.example', options)).toMatchObject({ answer: { status: 200 } })
  expect((await failure(post('https://refused.example', options))).failed).toContain('403')
  expect(proxy.asked).toEqual([`POST http://hooks.example/services/${SECRET}?token=${SECRET}`, 'CONNECT refused.example:443'])
  expect(await post(at.url, options)).toMatchObject({ answer: { status: 200 } })
  expect((await failure(post('http://left.example', options))).failed).toMatch(/ENOTFOUND|EAI_AGAIN/)
  expect(proxy.asked).toHaveLength(2)
  expect((await failure(post('https://hooks.example', through({ HTTPS_PROXY: `nonsense://${SECRET}` })))).failed).toMatch(
    /^HTTPS_PROXY: not the URL of an HTTP proxy/,
  )
})

test('is ended when the agent ends', async () => {
  const at = await receiver()
  const ending = new AbortController()
  at.answerWith(() => 'hang')
  const sent = failure(post(at.url, { signal: ending.signal }))
  await at.until(() => at.requests.length === 1)
  ending.abort()
  expect((await sent).failed).toBe('the agent ends')
  expect((await failure(post(at.url, { signal: ending.signal }))).failed).toBe('the agent ends')
})
