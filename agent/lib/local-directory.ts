// Holds a directory of another process's file system, and what is in it, without asking a file system that a program answers for: FUSE and network
// file systems may hang whoever looks, without end. Everything is opened with O_PATH, which sends no request, and read only once its mount is known.
import { closeSync, constants, openSync, readFileSync } from 'node:fs'

/** open(2): the entry is not opened, only held; a pipe or a device there does nothing. */
const O_PATH = 0o10000000

/** File systems that the kernel alone answers for, as /proc/PID/mountinfo names them. An overlay may still lie upon another one, which it does not show. */
const LOCAL: ReadonlySet<string> = new Set([
  'tmpfs',
  'devtmpfs',
  'ramfs',
  'rootfs',
  'overlay',
  'ext2',
  'ext3',
  'ext4',
  'xfs',
  'btrfs',
  'zfs',
  'f2fs',
  'bcachefs',
  'squashfs',
  'erofs',
  // What the kernel makes up.
  'proc',
  'sysfs',
  'cgroup',
  'cgroup2',
  'devpts',
  'mqueue',
])

export type LocalDirectory = {
  /** For paths: `/proc/self/fd/FD`, which leads to this very directory whatever has taken its name meanwhile. */
  readonly path: string
  /** Holds an entry (O_PATH, no link is followed); the caller closes it. Throws as `open` does, EREMOTE where it is on a file system that may hang. */
  readonly hold: (name: string) => number
  /** The same, and EREMOTE for everything that is mounted there. */
  readonly holdOwn: (name: string) => number
  readonly close: () => void
}

const remote = (what: string): Error => Object.assign(new Error(`EREMOTE: ${what} is on a file system that may hang, so it is left alone`), { code: 'EREMOTE' })

/** The number of the mount that a held entry is on. As UTF-8, here and below: in any other encoding Node takes 64 KiB for a file of /proc. */
export function mountOf(fd: number): string {
  const id = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1]
  if (id === undefined) throw remote('a path whose mount the kernel does not report (it is older than 3.15)')
  return id
}

/** As `ext4` or `fuse.sshfs`; undefined where this list does not have the mount, or cannot be read. */
function typeOf(mount: string, mountinfo: string): string | undefined {
  let text
  try {
    text = readFileSync(mountinfo, 'utf8')
  } catch {
    return undefined // the process is gone
  }
  const line = text.split('\n').find((each) => each.startsWith(`${mount} `))
  return line === undefined ? undefined : / - (\S+) /.exec(line)?.[1]
}

/**
 * Throws EREMOTE unless the kernel alone answers for the file system that `fd` is on. `process` is a folder in procfs, such as `/proc/4242`, whose mounts are meant.
 * A held entry keeps its mount, so its number cannot be given to another mount before mountinfo is read; one that was unmounted is not listed.
 */
export function demandLocal(process: string, fd: number, what: string): void {
  const id = mountOf(fd)
  // Numbers are the whole kernel's, so it does not matter in whose list one stands: the process's, or ours where both share the mount.
  const type = typeOf(id, `${process}/mountinfo`) ?? typeOf(id, '/proc/self/mountinfo')
  if (type === undefined || !LOCAL.has(type)) throw remote(`${what}${type === undefined ? '' : ` (${type})`}`)
}

/** `root/NAME` of a process whose folder in procfs is `process`, such as `/proc/4242`; NAME has no slash and is no link. */
export function openLocalDirectory(process: string, name: string): LocalDirectory {
  const holdAt = (path: string, flags: number, check: (fd: number) => void): number => {
    const fd = openSync(path, O_PATH | flags)
    try {
      check(fd)
      return fd
    } catch (error) {
      closeSync(fd)
      throw error
    }
  }
  const root = holdAt(`${process}/root`, constants.O_DIRECTORY, (fd) => demandLocal(process, fd, `${process}/root`))
  let directory: number
  try {
    const path = `${process}/root/${name}`
    directory = holdAt(`/proc/self/fd/${root}/${name}`, constants.O_DIRECTORY | constants.O_NOFOLLOW, (fd) => demandLocal(process, fd, path))
  } finally {
    closeSync(root)
  }
  const path = `/proc/self/fd/${directory}`
  const mount = mountOf(directory)
  return {
    path,
    hold: (entry) =>
      holdAt(`${path}/${entry}`, constants.O_NOFOLLOW, (fd) => {
        if (mountOf(fd) !== mount) demandLocal(process, fd, `${process}/root/${name}/${entry}`)
      }),
    holdOwn: (entry) =>
      holdAt(`${path}/${entry}`, constants.O_NOFOLLOW, (fd) => {
        if (mountOf(fd) !== mount) throw remote(`${process}/root/${name}/${entry}`)
      }),
    close: () => closeSync(directory),
  }
}
