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

/** A socket that several processes share is its first one's. */
export function listeningOf(procRoot: string, pids: readonly number[]): readonly Listening[] {
  const tables = new Map<string, ReadonlyMap<string, Place>>()
  const seen = new Set<string>()
  return pids.flatMap((pid): readonly Listening[] => {
    const namespace = linkOf(`${procRoot}/${pid}/ns/net`) ?? `of ${pid}`
    let table = tables.get(namespace)
    if (table === undefined) {
      const file = (name: string): string => tryRead(`${procRoot}/${pid}/net/${name}`)
      table = new Map<string, Place>([...parseTcp(file('tcp')), ...parseTcp(file('tcp6')), ...parseUnix(file('unix'))])
      tables.set(namespace, table)
    }
    if (table.size === 0) return []
    let fds: readonly string[]
    try {
      fds = readdirSync(`${procRoot}/${pid}/fd`).slice(0, MAX_FDS)
    } catch {
      return []
    }
    return fds.flatMap((fd) => {
      const inode = /^socket:\[(\d+)\]$/.exec(linkOf(`${procRoot}/${pid}/fd/${fd}`) ?? '')?.[1]
      const socket = inode === undefined || seen.has(inode) ? undefined : table.get(inode)
      if (inode === undefined || socket === undefined) return []
      seen.add(inode)
      return [{ pid, ...socket }]
    })
  })
}
