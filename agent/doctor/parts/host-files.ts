// Files of the host, or of a container's root, as checks read them: bounded, below a chosen root, and safe against what is in a hostile file system.
import { constants, type Stats } from 'node:fs'
import { access, open, readdir, readlink, stat, statfs, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, messageOf } from '../../text/error.ts'
import { entryThrough, walk } from './rooted-path.ts'

export type FileKind = 'file' | 'directory' | 'character device' | 'block device' | 'socket' | 'pipe' | 'link'
export type FileFacts = {
  readonly kind: FileKind
  readonly size: number
  /** Permission bits. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  /** Of a device node. */
  readonly major?: number
  readonly minor?: number
  readonly mtimeMs: number
}
export type SpaceFacts = { readonly totalBytes: number; readonly availableBytes: number; readonly type: number }

/** Absolute paths inside the root; links are followed inside the root too. What is not there is undefined; what cannot be read rejects with a message. */
export type HostFiles = {
  /** As it is on this machine, `/` or `/proc/PID/root`; for words only. */
  readonly root: string
  /** UTF-8, at most `maxBytes` (256 KiB) from its beginning. Devices, pipes and sockets are not read. */
  readonly readText: (path: string, maxBytes?: number) => Promise<string | undefined>
  /** Names, sorted, at most 10,000. */
  readonly list: (path: string) => Promise<readonly string[] | undefined>
  readonly stat: (path: string) => Promise<FileFacts | undefined>
  /** Of the link itself. */
  readonly lstat: (path: string) => Promise<FileFacts | undefined>
  readonly exists: (path: string) => Promise<boolean>
  /** Where a link points, as it is written; undefined for what is no link. */
  readonly readlink: (path: string) => Promise<string | undefined>
  /** The path inside the root without links; undefined when its end is not there. */
  readonly realpath: (path: string) => Promise<string | undefined>
  /** Whether this process may write there; undefined when it is not there. */
  readonly writable: (path: string) => Promise<boolean | undefined>
  /** Whether it can be opened for reading, a device too: only for those that do nothing when they are opened, such as /dev/kmsg. */
  readonly openable: (path: string) => Promise<boolean | undefined>
  readonly space: (path: string) => Promise<SpaceFacts | undefined>
  /** The same below a folder of this root, such as `/proc/PID/root`: nothing there is trusted. */
  readonly within: (path: string) => HostFiles
}

export class HostFileError extends Error {
  override readonly name = 'HostFileError'
  readonly errno: string | undefined
  constructor(message: string, errno: string | undefined) {
    super(message)
    this.errno = errno
  }
}

const MAX_TEXT = 256 * 1024
const MAX_NAMES = 10_000
const GONE = new Set(['ENOENT', 'ENOTDIR', 'ESRCH', 'ENXIO'])
const ERROR_TEXTS: Readonly<Record<string, string>> = {
  EACCES: 'no permission; run as root',
  EPERM: 'no permission; run as root',
  ELOOP: 'its links go round in circles',
}

function kindOf(stats: Stats): FileKind {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  if (stats.isSymbolicLink()) return 'link'
  if (stats.isCharacterDevice()) return 'character device'
  if (stats.isBlockDevice()) return 'block device'
  return stats.isSocket() ? 'socket' : 'pipe'
}
/** gnu_dev_major and gnu_dev_minor of glibc. */
const majorOf = (rdev: number): number => Math.floor(rdev / 2 ** 8) & 0xfff
const minorOf = (rdev: number): number => (rdev & 0xff) | (Math.floor(rdev / 2 ** 12) & 0xfff00)

function factsOf(stats: Stats): FileFacts {
  const kind = kindOf(stats)
  return {
    kind,
    size: stats.size,
    mode: stats.mode & 0o7777,
    uid: stats.uid,
    gid: stats.gid,
    ...(kind === 'character device' || kind === 'block device' ? { major: majorOf(stats.rdev), minor: minorOf(stats.rdev) } : {}),
    mtimeMs: stats.mtimeMs,
  }
}

async function readBounded(handle: FileHandle, maxBytes: number): Promise<string> {
  const buffer = Buffer.alloc(Math.min(maxBytes, MAX_TEXT))
  const chunks: Buffer[] = []
  for (let length = 0; length < maxBytes;) {
    // Files of /proc and /sys have no size: read on until there is no more.
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, maxBytes - length), null)
    if (bytesRead === 0) break
    chunks.push(Buffer.from(buffer.subarray(0, bytesRead)))
    length += bytesRead
  }
  return Buffer.concat(chunks).toString('utf8')
}

export function createHostFiles(root = '/'): HostFiles {
  return filesBelow(root, root === '/')
}

/** `trusted`: the host's own root, where the kernel follows links as it should. */
function filesBelow(root: string, trusted: boolean): HostFiles {
  /** undefined for what is not there. */
  const guarded = async <T>(path: string, ask: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await ask()
    } catch (error) {
      const errno = codeOf(error)
      if (errno !== undefined && GONE.has(errno)) return undefined
      const shown = root === '/' ? path : join(root, path)
      throw new HostFileError(`${shown}: ${(errno === undefined ? undefined : ERROR_TEXTS[errno]) ?? errno ?? messageOf(error)}`, errno)
    }
  }
  /** Calls with a path that leads to the very entry: through held descriptors where the root is not trusted. */
  const at = async <T>(path: string, follow: boolean, ask: (path: string) => Promise<T>): Promise<T | undefined> =>
    await guarded(path, async () => {
      if (trusted) return await ask(path)
      const { held } = await walk(root, path, follow)
      try {
        return await ask(entryThrough(held))
      } finally {
        await held.close()
      }
    })
  const facts = async (path: string, follow: boolean): Promise<FileFacts | undefined> =>
    await guarded(path, async () => {
      const { held } = await walk(trusted ? '/' : root, path, follow)
      try {
        return factsOf(await held.stat())
      } finally {
        await held.close()
      }
    })
  return {
    root,
    readText: async (path, maxBytes = MAX_TEXT) =>
      await at(path, true, async (entry) => {
        const kind = kindOf(await stat(entry))
        if (kind !== 'file') throw new Error(`must be a file, not a ${kind}`)
        const handle = await open(entry, constants.O_RDONLY | constants.O_NONBLOCK)
        try {
          return await readBounded(handle, maxBytes)
        } finally {
          await handle.close()
        }
      }),
    list: async (path) => await at(path, true, async (entry) => (await readdir(entry)).slice(0, MAX_NAMES).sort()),
    stat: async (path) => await facts(path, true),
    lstat: async (path) => await facts(path, false),
    exists: async (path) => (await facts(path, true)) !== undefined,
    readlink: async (path) =>
      await guarded(path, async () => {
        const { held, parent, name } = await walk(trusted ? '/' : root, path, false, true)
        try {
          if (!(await held.stat()).isSymbolicLink() || parent === undefined) return undefined
          return await readlink(entryThrough(parent, name))
        } finally {
          await held.close()
          await parent?.close()
        }
      }),
    realpath: async (path) =>
      await guarded(path, async () => {
        const { held, path: real } = await walk(trusted ? '/' : root, path, true)
        await held.close()
        return real
      }),
    writable: async (path) =>
      await at(path, true, async (entry) =>
        access(entry, constants.W_OK).then(
          () => true,
          (error: unknown) => {
            if (['EACCES', 'EPERM', 'EROFS'].includes(codeOf(error) ?? '')) return false
            throw error
          },
        ),
      ),
    openable: async (path) =>
      await at(path, true, async (entry) =>
        open(entry, constants.O_RDONLY | constants.O_NONBLOCK).then(
          async (handle) => {
            await handle.close()
            return true
          },
          (error: unknown) => {
            if (['EACCES', 'EPERM'].includes(codeOf(error) ?? '')) return false
            throw error
          },
        ),
      ),
    space: async (path) =>
      await at(path, true, async (entry) => {
        const { bsize, blocks, bavail, type } = await statfs(entry)
        return { totalBytes: bsize * blocks, availableBytes: bsize * bavail, type }
      }),
    within: (path) => filesBelow(join(root, path), false),
  }
}
