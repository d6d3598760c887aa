// The main process of a container as the kernel reports it: environment, limits, mounts, who it runs as, and what it may write.
import { dirname } from 'node:path'
import { parseMounts, type Mount } from '../parts/mount-table.ts'
import type { HostFiles } from '../parts/host-files.ts'

export type Limit = { readonly soft: number; readonly hard: number }
export type Identity = {
  /** As the host numbers them; they are compared with files' owners, which the host numbers too. */
  readonly uid: number
  readonly gids: readonly number[]
  /** CAP_DAC_OVERRIDE: root may write what others own… */
  readonly overrides: boolean
  /** …as far as its user namespace knows the owner. */
  readonly knows: (uid: number) => boolean
}

const MAX_TEXT = 2 ** 20

async function proc(files: HostFiles, pid: number, name: string): Promise<string> {
  const text = await files.readText(`/proc/${pid}/${name}`, MAX_TEXT)
  if (text === undefined) throw new Error(`process ${pid} is gone`)
  return text
}

export function parseEnviron(text: string): ReadonlyMap<string, string> {
  return new Map(
    text.split('\0').flatMap((entry) => {
      const at = entry.indexOf('=')
      return at > 0 ? [[entry.slice(0, at), entry.slice(at + 1)] as const] : []
    }),
  )
}

/** Without the word Max: `Max open files            1024                 524288               files`; unlimited is Infinity. */
export function parseLimits(text: string): ReadonlyMap<string, Limit> {
  const number = (word: string): number => (word === 'unlimited' ? Number.POSITIVE_INFINITY : Number(word))
  return new Map(
    text.split('\n').flatMap((line) => {
      const match = /^Max (.{1,40}?) {2,40}(unlimited|\d{1,20}) {1,40}(unlimited|\d{1,20})/.exec(line)
      return match?.[1] === undefined ? [] : [[match[1], { soft: number(match[2] ?? ''), hard: number(match[3] ?? '') }] as const]
    }),
  )
}

/** linux/capability.h */
const CAP_DAC_OVERRIDE = 1n

export function parseIdentity(status: string, uidMap: string): Identity {
  const numbers = (name: string): readonly number[] => (new RegExp(`^${name}:\\s*([\\d \\t]*)$`, 'm').exec(status)?.[1] ?? '').trim().split(/\s+/).map(Number)
  // Real, effective, saved, file system: the last decides about files.
  const [uid, gid] = [numbers('Uid')[3], numbers('Gid')[3]]
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1]
  if (uid === undefined || gid === undefined || effective === undefined) throw new Error('expected Uid, Gid and CapEff in /proc/PID/status')
  const ranges = uidMap.split('\n').flatMap((line) => {
    const [, outside, count] = line.trim().split(/\s+/).map(Number)
    return outside === undefined || count === undefined ? [] : [{ outside, count }]
  })
  return {
    uid,
    gids: [gid, ...numbers('Groups')],
    overrides: ((BigInt(`0x${effective}`) >> CAP_DAC_OVERRIDE) & 1n) === 1n,
    knows: (owner) => ranges.some(({ outside, count }) => owner >= outside && owner < outside + count),
  }
}

export const readEnviron = async (files: HostFiles, pid: number): Promise<ReadonlyMap<string, string>> => parseEnviron(await proc(files, pid, 'environ'))
export const readLimits = async (files: HostFiles, pid: number): Promise<ReadonlyMap<string, Limit>> => parseLimits(await proc(files, pid, 'limits'))
export const readMounts = async (files: HostFiles, pid: number): Promise<readonly Mount[]> => parseMounts(await proc(files, pid, 'mountinfo'))
export const readIdentity = async (files: HostFiles, pid: number): Promise<Identity> =>
  parseIdentity(await proc(files, pid, 'status'), await proc(files, pid, 'uid_map'))

const MAX_PROCESSES = 32

/** Files that the main process and those that it started have mapped; those that may not be looked at are left out. */
export async function readMapped(files: HostFiles, pid: number): Promise<ReadonlySet<string>> {
  const mapped = new Set<string>()
  const waiting = [pid]
  for (let seen = 0; seen < MAX_PROCESSES; seen++) {
    const next = waiting.shift()
    if (next === undefined) break
    const maps = (await files.readText(`/proc/${next}/maps`, 4 * MAX_TEXT).catch(() => undefined)) ?? ''
    for (const [, path] of maps.matchAll(/^\S+ \S+ \S+ \S+ \d+\s+(\/.*)$/gm)) if (path !== undefined) mapped.add(path)
    const children = (await files.readText(`/proc/${next}/task/${next}/children`).catch(() => undefined)) ?? ''
    waiting.push(
      ...children
        .split(' ')
        .filter((word) => /^\d+$/.test(word))
        .map(Number),
    )
  }
  return mapped
}

export type Writable = { readonly can: true } | { readonly can: false; readonly why: string; readonly at: string; readonly uid: number; readonly gid: number }

/** Whether that process may make files in a folder of its root, or make the folder; by owner, group and mode (ACLs are not looked at). undefined: cannot be determined. */
export async function mayWrite(files: HostFiles, who: Identity, readOnlyAt: (path: string) => boolean, folder: string): Promise<Writable | undefined> {
  let path = folder
  let facts = await files.stat(path)
  while (facts === undefined && path !== '/') {
    path = dirname(path)
    facts = await files.stat(path)
  }
  if (facts === undefined) return undefined
  const { uid, gid, mode } = facts
  const no = (why: string): Writable => ({ can: false, why, at: path, uid, gid })
  if (facts.kind !== 'directory') return no(`is a ${facts.kind}, not a folder`)
  if (readOnlyAt((await files.realpath(path)) ?? path)) return no('is mounted read-only')
  if (who.overrides && who.knows(uid)) return { can: true }
  // The first class that fits decides, even where a later one would allow more.
  const bits = who.uid === uid ? mode >> 6 : who.gids.includes(gid) ? mode >> 3 : mode
  return (bits & 3) === 3 ? { can: true } : no(`belongs to ${uid}:${gid} with mode ${mode.toString(8).padStart(3, '0')}`)
}
