// Which requests go through which proxy, by the rules that curl and Go follow.
import { describe, expect, test } from 'vitest'
import { ProxyError, proxyRules, proxyUrl, type ProxySettings } from '../../../agent/lib/proxy.ts'

const P = 'http://proxy.example:3128'
const through = (url: string, env: Record<string, string>, settings: Partial<ProxySettings> = {}): string | undefined =>
  proxyRules({ proxy: 'environment', no_proxy: [], ...settings }, env)(new URL(url))?.href
const isLeftOut = (url: string, NO_PROXY: string): boolean => through(url, { HTTP_PROXY: P, HTTPS_PROXY: P, NO_PROXY }) === undefined

describe('the environment', () => {
  test.each([
    ['http://a.example/', { HTTP_PROXY: P }, `${P}/`],
    ['https://a.example/', { HTTP_PROXY: P }, undefined],
    ['https://a.example/', { HTTPS_PROXY: P }, `${P}/`],
    ['http://a.example/', { HTTPS_PROXY: P }, undefined],
    ['https://a.example/', { https_proxy: 'http://lower:1', HTTPS_PROXY: P }, 'http://lower:1/'],
    ['https://a.example/', { https_proxy: '', HTTPS_PROXY: P }, `${P}/`],
    ['https://a.example/', { HTTPS_PROXY: 'proxy.example:3128' }, `${P}/`],
    ['https://a.example/', { HTTPS_PROXY: 'https://proxy.example' }, 'https://proxy.example/'],
    ['https://a.example/', {}, undefined],
    ['https://a.example/', { HTTPS_PROXY: P, no_proxy: 'b.example', NO_PROXY: 'a.example' }, `${P}/`],
  ])('%s with %j goes through %s', (url, env, expected) => expect(through(url, env)).toBe(expected))

  test.each(['socks5://user:s3cret@proxy:1080', 'http://', 'http://user%zz:s3cret@proxy', 'http://s3cret host'])(
    '%s cannot be used, and is not passed by',
    (text) => {
      const ask = (): unknown => through('https://a.example/', { HTTPS_PROXY: text })
      expect(ask).toThrow(ProxyError)
      expect(ask).toThrow(/^HTTPS_PROXY: not the URL/)
      expect(ask).not.toThrow(/s3cret/)
    },
  )
})

describe('the configuration', () => {
  test('goes before the environment', () => {
    const env = { HTTP_PROXY: P, HTTPS_PROXY: P, NO_PROXY: 'c.example' }
    expect(through('https://a.example/', env, { proxy: 'http://own:1' })).toBe('http://own:1/')
    expect(through('http://a.example/', {}, { proxy: 'http://own:1' })).toBe('http://own:1/')
    expect(through('https://a.example/', env, { proxy: 'none' })).toBeUndefined()
  })
  test('leaves out what it says beside NO_PROXY', () => {
    const env = { HTTPS_PROXY: P, NO_PROXY: 'c.example' }
    const settings = { no_proxy: ['10.0.0.0/8', 'a.example'] }
    expect(['https://a.example', 'https://10.2.3.4', 'https://c.example', 'https://d.example'].map((url) => through(url, env, settings) === undefined)).toEqual(
      [true, true, true, false],
    )
  })
})

describe('NO_PROXY', () => {
  test.each([
    // A name means its subdomains, with a dot before it or not.
    ['https://example.com', 'example.com', true],
    ['https://a.b.example.com', 'example.com', true],
    ['https://a.example.com', '.example.com', true],
    ['https://example.com', '.example.com', true],
    ['https://a.example.com', '*.example.com', true],
    ['https://example.com', '*.example.com', false],
    ['https://notexample.com', 'example.com', false],
    ['https://example.com.evil.org', 'example.com', false],
    ['https://EXAMPLE.com.', 'Example.COM', true],
    // Ports.
    ['https://example.com', 'example.com:443', true],
    ['https://example.com', 'example.com:8443', false],
    ['http://example.com:8080', 'example.com:8080', true],
    ['http://a.example.com:8080', '.example.com:8080', true],
    ['http://10.1.2.3', '10.1.2.3:80', true],
    ['http://10.1.2.3', '10.1.2.3:81', false],
    ['http://[2001:db8::1]:81', '[2001:db8::1]:81', true],
    // Addresses and networks.
    ['http://10.1.2.3', '10.1.2.3', true],
    ['http://10.1.2.30', '10.1.2.3', false],
    ['http://10.1.2.3', '10.0.0.0/8', true],
    ['http://11.1.2.3', '10.0.0.0/8', false],
    ['http://172.31.255.1', '172.16.0.0/12', true],
    ['http://172.32.0.1', '172.16.0.0/12', false],
    ['http://[2001:db8:1::5]', '2001:db8::/32', true],
    ['http://[2001:db9::5]', '2001:db8::/32', false],
    ['http://[2001:db8::1]', '2001:0db8::0001', true],
    ['http://ten.example', '10.0.0.0/8', false],
    ['http://10.1.2.3', '10.0.0.0/33', false],
    // Lists.
    ['http://b.example', 'a.example, b.example', true],
    ['http://b.example', 'a.example b.example', true],
    ['http://b.example', ',,', false],
    ['http://b.example', '*', true],
  ])('%s with %s: left out %s', (url, list, expected) => expect(isLeftOut(url, list)).toBe(expected))
})

test.each([
  'http://127.0.0.1:1',
  'http://127.8.9.1',
  'http://localhost',
  'https://a.localhost',
  'http://[::1]',
  'http://[::ffff:127.0.0.1]',
  'http://0.0.0.0:1',
])('%s is this host: never through a proxy', (url) => {
  expect(through(url, { HTTP_PROXY: P, HTTPS_PROXY: P })).toBeUndefined()
  expect(through(url, {}, { proxy: P })).toBeUndefined()
})

test('a proxy’s URL', () => {
  expect(proxyUrl('proxy:3128')?.href).toBe('http://proxy:3128/')
  expect(proxyUrl('http://us%40er:p%3Aw@proxy:3128')?.username).toBe('us%40er')
  for (const text of ['ftp://proxy', 'file:///etc', '://x', '']) expect(proxyUrl(text)).toBeUndefined()
})
