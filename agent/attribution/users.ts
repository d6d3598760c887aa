// Names of users by their number: of the host, and of the image that a process runs in. Directory services (LDAP, SSSD) are asked through getent.
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'

export type HostUsers = {
  /** undefined: the host's list does not have it. */
  readonly name: (uid: number) => string | undefined
}

const MAX_BYTES = 1 << 20
const LOOK_EVERY_MS = 60_000
const ENTRY = /^([^:\s]{1,64}):[^:\n]*:(\d{1,10}):/

/** A list that a container brings may be a link, a pipe or endless: only a plain file is read, and only its beginning. */
function readPlainFile(path: string): string | undefined {
  let fd
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stat = fstatSync(fd)
    if (!stat.isFile()) return undefined
    const buffer = Buffer.alloc(Math.min(stat.size, MAX_BYTES))
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, 0))
  } catch {
    return undefined
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Of passwd(5): the first name of each number. */
export function parseUsers(text: string): ReadonlyMap<number, string> {
  const users = new Map<number, string>()
  for (const line of text.split('\n')) {
    const [, name, uid] = ENTRY.exec(line) ?? []
    if (name !== undefined && !users.has(Number(uid))) users.set(Number(uid), name)
  }
  return users
}

/** Read again when it changes. In a container the host's list is that of its first process. */
export function createHostUsers(procRoot: string, now: () => number = () => performance.now()): HostUsers {
  const paths = procRoot === '/proc' ? ['/etc/passwd'] : [`${procRoot}/1/root/etc/passwd`, '/etc/passwd']
  let users: ReadonlyMap<number, string> = new Map()
  let lookedAt = Number.NEGATIVE_INFINITY
  let state = ''
  const look = (): void => {
    for (const path of paths) {
      try {
        const { mtimeMs, size, ino } = statSync(path)
        const found = `${path} ${mtimeMs} ${size} ${ino}`
        if (found === state) return
        const text = readPlainFile(path)
        if (text === undefined) continue
        state = found
        users = parseUsers(text)
        return
      } catch {
        // Not there, or not to be read: the next one.
      }
    }
  }
  return {
    name(uid) {
      if (now() - lookedAt >= LOOK_EVERY_MS) {
        lookedAt = now()
        look()
      }
      return users.get(uid)
    },
  }
}

/** Of /proc/PID/uid_map, `inside outside count` a line: the number that a user of the host has inside. */
export function innerUid(map: string, uid: number): number {
  for (const line of map.split('\n')) {
    const [inside, outside, count] = line.trim().split(/\s+/).map(Number)
    if (inside !== undefined && outside !== undefined && count !== undefined && uid >= outside && uid < outside + count) return inside + uid - outside
  }
  return uid
}

/** Of the image of a container, through one of its processes; undefined where it has no list, or root is needed to see it. */
export function imageUser(procRoot: string, pid: number, uid: number): string | undefined {
  const text = readPlainFile(`${procRoot}/${pid}/root/etc/passwd`)
  return text === undefined ? undefined : parseUsers(text).get(uid)
}
