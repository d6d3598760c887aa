// By which ways the host reaches a listening socket: its own network, an address of the container, or from inside its namespaces.
import { readFileSync } from 'node:fs'
import { linkOf, type Listening } from './listening.ts'

export type Way =
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  /** A socket made in the network namespace of the process. */
  | { readonly kind: 'inside'; readonly namespace: string; readonly host: string; readonly port: number }
  /** A path as the process sees it. `process`: its folder in procfs. */
  | { readonly kind: 'unix'; readonly process: string; readonly path: string }
export type Reach = {
  /** For people, and for requests without a way of their own. */
  readonly url: string
  /** In the order in which they are tried; absent: the URL says it. */
  readonly ways?: readonly [Way, ...Way[]]
}

const HTTP_PORT = 80
const isLoopback = (host: string): boolean => host.startsWith('127.') || host === '::1'
const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::'
const urlOf = (host: string, port: number): string => `http://${host.includes(':') ? `[${host}]` : host}:${port}`

/** Of an address as a person writes it; undefined: it takes more than plain HTTP. */
export function waysOf(url: string): Reach['ways'] {
  if (!URL.canParse(url)) return undefined
  const { protocol, hostname, port, username } = new URL(url)
  if (protocol !== 'http:' || username !== '') return undefined
  return [{ kind: 'tcp', host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? HTTP_PORT : Number(port) }]
}

/** Addresses of a network namespace's own, without loopback, from /proc/PID/net/fib_trie: works for every engine without asking it. */
export function parseFibTrie(text: string): readonly string[] {
  const found = new Set<string>()
  for (const [, address = ''] of text.matchAll(/\|-- (\d+\.\d+\.\d+\.\d+)\n\s+\/32 host LOCAL/g)) if (!address.startsWith('127.')) found.add(address)
  return [...found]
}
function addressesOf(process: string): readonly string[] {
  try {
    return parseFibTrie(readFileSync(`${process}/net/fib_trie`, 'utf8'))
  } catch {
    return []
  }
}

/** From the agent's network namespace, `ownNamespace` as its link says. */
export function reachOf(procRoot: string, ownNamespace: string | undefined, listening: Listening): Reach {
  const process = `${procRoot}/${listening.pid}`
  if ('path' in listening) return { url: `unix://${listening.path}`, ways: [{ kind: 'unix', process, path: listening.path }] }
  const { host, port } = listening
  const local = isAny(host) ? (host === '::' ? '::1' : '127.0.0.1') : host
  const namespace = linkOf(`${process}/ns/net`)
  if (namespace !== undefined && namespace === ownNamespace) return { url: urlOf(local, port) }
  // What listens on all addresses listens for IPv4 too, be it by its socket of IPv6.
  const inside: Way = {
    kind: 'inside',
    namespace: `${process}/ns/net`,
    host: isAny(host) || !host.includes(':') ? (isAny(host) ? '127.0.0.1' : host) : '::1',
    port,
  }
  if (isLoopback(host)) return { url: urlOf(host, port), ways: [inside] }
  const [address] = isAny(host) ? addressesOf(process) : [host]
  return address === undefined
    ? { url: urlOf(local, port), ways: [inside] }
    : { url: urlOf(address, port), ways: [{ kind: 'tcp', host: address, port }, inside] }
}
