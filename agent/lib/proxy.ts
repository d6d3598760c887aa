// Which proxy a request goes through: the configuration's, else the one of HTTP_PROXY and HTTPS_PROXY, and what NO_PROXY leaves out.
// Node's agents (`proxyEnv`, read in 24.21) speak to proxies but know neither networks (10.0.0.0/8) nor a bare domain for its subdomains in NO_PROXY, both
// of which curl and Go take; so what goes where is decided here.
import { BlockList, isIP, isIPv6 } from 'node:net'

/** `http_client` in the configuration. */
export type ProxySettings = {
  /** `environment`, `none`, or a URL. */
  readonly proxy: string
  /** Beside those of NO_PROXY. */
  readonly no_proxy: readonly string[]
}
/** undefined: no proxy. Throws a ProxyError where the environment names one that cannot be used. */
export type ProxyFor = (url: URL) => URL | undefined

/** Holds no part of the proxy's URL but its scheme, as credentials may stand anywhere in it. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError'
  readonly code = 'ERR_PROXY_CONFIG'
}

/** `proxy.example.com:3128` is taken as curl takes it. undefined: no proxy that can be used. */
export function proxyUrl(text: string): URL | undefined {
  const whole = text.includes('://') ? text : `http://${text}`
  if (!URL.canParse(whole)) return undefined
  const url = new URL(whole)
  try {
    decodeURIComponent(url.username + url.password)
  } catch {
    return undefined
  }
  return /^https?:$/.test(url.protocol) && url.hostname !== '' ? url : undefined
}

const HERE = new BlockList()
HERE.addSubnet('127.0.0.0', 8, 'ipv4')
HERE.addAddress('0.0.0.0', 'ipv4')
HERE.addAddress('::1', 'ipv6')
HERE.addAddress('::', 'ipv6')

const bare = (host: string): string => host.replace(/^\[|\]$/g, '')
const family = (address: string): 'ipv4' | 'ipv6' => (isIPv6(address) ? 'ipv6' : 'ipv4')
/** A proxy is never meant for what runs on this host. */
const isHere = (host: string): boolean => (isIP(host) === 0 ? /^(?:.*\.)?localhost$/.test(host) : HERE.check(host, family(host)))

type Matches = (host: string, port: string) => boolean

/** One entry of NO_PROXY: `*`, a name with or without a leading dot, an address, a network; a name or an address may have a port. */
function matcherOf(entry: string): Matches {
  const text = entry.trim().toLowerCase()
  if (text === '') return () => false
  if (text === '*') return () => true
  const [, network = '', bits = ''] = /^\[?([0-9a-f.:]+)\]?\/(\d{1,3})$/.exec(text) ?? []
  if (isIP(network) !== 0) {
    const inside = new BlockList()
    if (Number(bits) > (isIPv6(network) ? 128 : 32)) return () => false
    inside.addSubnet(network, Number(bits), family(network))
    return (host) => isIP(host) !== 0 && inside.check(host, family(host))
  }
  const [, named = text, port] = isIP(text) === 0 ? (/^(.*?):(\d{1,5})$/.exec(text) ?? []) : []
  const name = bare(named).replace(/\.$/, '')
  const onPort = (found: string): boolean => port === undefined || port === found
  if (isIP(name) !== 0) {
    const only = new BlockList()
    only.addAddress(name, family(name))
    return (host, found) => isIP(host) !== 0 && only.check(host, family(host)) && onPort(found)
  }
  const domain = name.replace(/^\*?\./, '')
  const itself = !name.startsWith('*.')
  return (host, found) => ((itself && host === domain) || host.endsWith(`.${domain}`)) && onPort(found)
}

export function proxyRules({ proxy, no_proxy }: ProxySettings, env: Readonly<Record<string, string | undefined>> = process.env): ProxyFor {
  // As curl and Go do, the lower case goes first.
  const variable = (name: string): string => env[name] || env[name.toUpperCase()] || ''
  const left = [...no_proxy, ...variable('no_proxy').split(/[\s,]+/)].map(matcherOf)
  const named = (url: URL): { readonly from: string; readonly text: string } => {
    if (proxy !== 'environment') return { from: 'http_client.proxy', text: proxy === 'none' ? '' : proxy }
    const name = url.protocol === 'https:' ? 'https_proxy' : 'http_proxy'
    return { from: name.toUpperCase(), text: variable(name).trim() }
  }
  return (url) => {
    const { from, text } = named(url)
    if (text === '') return undefined
    const host = bare(url.hostname.toLowerCase()).replace(/\.$/, '')
    const port = url.port === '' ? (url.protocol === 'https:' ? '443' : '80') : url.port
    if (isHere(host) || left.some((matches) => matches(host, port))) return undefined
    const found = proxyUrl(text)
    if (found === undefined) throw new ProxyError(`${from}: not the URL of an HTTP proxy (value hidden). Write it like http://proxy.example.com:3128`)
    return found
  }
}
