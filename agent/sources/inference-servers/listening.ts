// Which sockets the processes of a family listen on: TCP, and Unix sockets with a path. From /proc alone.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

type Place = { readonly port: number; readonly host: string } | { readonly path: string }
export type Listening = { readonly pid: number } & Place

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

/** `Num RefCount Protocol Flags Type St Inode Path`; the flag is __SO_ACCEPTCON. Abstract names begin with @. */
export function parseUnix(table: string): ReadonlyMap<string, { readonly path: string }> {
  const found = new Map<string, { readonly path: string }>()
  for (const line of table.slice(0, MAX_TABLE_CHARS).split('\n').slice(1)) {
    const [, inode, path] = /^\S+ \S+ \S+ 00010000 0001 01 +(\d+) (\/.+)$/.exec(line) ?? []
    if (inode !== undefined && path !== undefined) found.set(inode, { path })
  }
  return found
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
  let known = new Map<string, Place | number>()
  return (pids) => {
    const tables = new Map<string, ReadonlyMap<string, Place>>()
    const tableOf = (pid: number): ReadonlyMap<string, Place> => {
      const namespace = linkOf(`${procRoot}/${pid}/ns/net`) ?? `of ${pid}`
      let table = tables.get(namespace)
      if (table === undefined) {
        const file = (name: string): string => tryRead(`${procRoot}/${pid}/net/${name}`)
        table = new Map<string, Place>([...parseTcp(file('tcp')), ...parseTcp(file('tcp6')), ...parseUnix(file('unix'))])
        tables.set(namespace, table)
      }
      return table
    }
    const now = new Map<string, Place | number>()
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
