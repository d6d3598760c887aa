// Which TCP sockets the processes of a family listen on, and by which address the host reaches them: from /proc alone.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

export type Listening = { readonly pid: number; readonly port: number; readonly host: string }

const LISTEN = '0A'
const MAX_TABLE_CHARS = 4 * 2 ** 20
/** A process with more open files is asked about the first ones. */
const MAX_FDS = 4_096

/** The kernel writes each 32 bits of an address in the host's order, which is little-endian wherever there are NVIDIA drivers. */
export function addressOf(hex: string): string {
  const bytes = Array.from(hex.matchAll(/.{8}/g), ([word]) => [...Buffer.from(word, 'hex')].toReversed()).flat()
  if (bytes.length === 4) return bytes.join('.')
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff
  if (isMapped) return bytes.slice(12).join('.')
  const groups = Array.from({ length: 8 }, (_, at) => (((bytes[2 * at] ?? 0) << 8) | (bytes[2 * at + 1] ?? 0)).toString(16)).join(':')
  return groups === '0:0:0:0:0:0:0:0' ? '::' : groups === '0:0:0:0:0:0:0:1' ? '::1' : groups
}

/** Listening sockets by inode. */
export function parseTcp(table: string): ReadonlyMap<string, { readonly host: string; readonly port: number }> {
  const found = new Map<string, { readonly host: string; readonly port: number }>()
  for (const line of table.slice(0, MAX_TABLE_CHARS).split('\n').slice(1)) {
    const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
    const [, hex, port] = /^([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})$/.exec(local) ?? []
    if (state === LISTEN && inode !== undefined && hex !== undefined && port !== undefined)
      found.set(inode, { host: addressOf(hex), port: Number.parseInt(port, 16) })
  }
  return found
}

/** Addresses of a network namespace's own, without loopback, from /proc/PID/net/fib_trie: works for every engine without asking it. */
export function parseFibTrie(text: string): readonly string[] {
  const found = new Set<string>()
  for (const [, address = ''] of text.matchAll(/\|-- (\d+\.\d+\.\d+\.\d+)\n\s+\/32 host LOCAL/g)) if (!address.startsWith('127.')) found.add(address)
  return [...found]
}

const tryRead = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
export const linkOf = (path: string): string | undefined => {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}

type Address = { readonly host: string; readonly port: number }
/** A socket that does not listen at the second look is a connection; a server binds and listens between two looks at most once. */
const LOOKS = 2

function socketsOf(procRoot: string, pid: number): readonly string[] {
  try {
    return readdirSync(`${procRoot}/${pid}/fd`)
      .slice(0, MAX_FDS)
      .flatMap((fd) => /^socket:\[(\d+)\]$/.exec(linkOf(`${procRoot}/${pid}/fd/${fd}`) ?? '')?.[1] ?? [])
  } catch {
    return []
  }
}

export type ListeningOf = (pids: readonly number[]) => readonly Listening[]

/**
 * A socket that several processes share is its first one's. The kernel walks a table of the whole host for each /proc/PID/net/tcp, some 5 ms on a host with 24 GiB: it is read
 * for sockets that were not there before, and for no process without sockets.
 */
export function createListeningOf(procRoot: string): ListeningOf {
  /** By inode: where it listens, or how often it was looked for among those that do. */
  let known = new Map<string, Address | number>()
  return (pids) => {
    const tables = new Map<string, ReadonlyMap<string, Address>>()
    const tableOf = (pid: number): ReadonlyMap<string, Address> => {
      const namespace = linkOf(`${procRoot}/${pid}/ns/net`) ?? `of ${pid}`
      let table = tables.get(namespace)
      if (table === undefined) {
        table = new Map([...parseTcp(tryRead(`${procRoot}/${pid}/net/tcp`)), ...parseTcp(tryRead(`${procRoot}/${pid}/net/tcp6`))])
        tables.set(namespace, table)
      }
      return table
    }
    const now = new Map<string, Address | number>()
    const found: Listening[] = []
    for (const pid of pids)
      for (const inode of socketsOf(procRoot, pid)) {
        if (now.has(inode)) continue
        const before = known.get(inode) ?? 0
        const state = typeof before === 'number' && before < LOOKS ? (tableOf(pid).get(inode) ?? before + 1) : before
        now.set(inode, state)
        if (typeof state !== 'number') found.push({ pid, ...state })
      }
    known = now
    return found
  }
}

export type Reach = { readonly url: string } | { readonly unreachable: string }
const isLoopback = (host: string): boolean => host.startsWith('127.') || host === '::1'
const isAny = (host: string): boolean => host === '0.0.0.0' || host === '::'
const urlOf = (host: string, port: number): Reach => ({ url: `http://${host.includes(':') ? `[${host}]` : host}:${port}` })

/** From the agent's network namespace, `ownNamespace` as its link says. */
export function reachOf(procRoot: string, ownNamespace: string | undefined, { pid, host, port }: Listening): Reach {
  const namespace = linkOf(`${procRoot}/${pid}/ns/net`)
  if (namespace !== undefined && namespace === ownNamespace) return urlOf(host === '::' ? '::1' : host === '0.0.0.0' ? '127.0.0.1' : host, port)
  if (isLoopback(host))
    return { unreachable: `it listens on ${host}:${port} of a network namespace of its own, where the host cannot reach it; let it listen on 0.0.0.0` }
  if (!isAny(host)) return urlOf(host, port)
  const [address] = parseFibTrie(tryRead(`${procRoot}/${pid}/net/fib_trie`))
  return address === undefined ? { unreachable: `it listens on port ${port} of a network namespace that has no address but loopback` } : urlOf(address, port)
}
