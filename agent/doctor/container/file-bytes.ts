// Reads pieces of a large file below a root, such as a library's headers: only of regular files, through a held descriptor, never the whole of it.
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { codeOf, messageOf } from '../../text/error.ts'
import type { HostFiles } from '../parts/host-files.ts'
import { entryThrough, walk } from '../parts/rooted-path.ts'

/** Fewer bytes where the file ends before. */
export type ReadAt = (offset: number, length: number) => Promise<Buffer>

const GONE = new Set(['ENOENT', 'ENOTDIR', 'ESRCH'])
/** No reader of this room needs more at once. */
const MAX_LENGTH = 4 * 2 ** 20

/** undefined: not there. Rejects, in words, for what is no regular file or may not be read. */
export async function withFile<T>(files: HostFiles, path: string, use: (read: ReadAt, size: number) => Promise<T>): Promise<T | undefined> {
  try {
    const { held } = await walk(files.root, path, true)
    try {
      const stats = await held.stat()
      if (!stats.isFile()) throw new Error('expected a regular file')
      const handle = await open(entryThrough(held), constants.O_RDONLY | constants.O_NONBLOCK)
      try {
        const read: ReadAt = async (offset, length) => {
          if (!Number.isSafeInteger(offset) || offset < 0 || length < 0 || length > MAX_LENGTH) throw new Error('expected offsets within the file')
          const buffer = Buffer.allocUnsafe(length)
          const { bytesRead } = await handle.read(buffer, 0, length, offset)
          return buffer.subarray(0, bytesRead)
        }
        return await use(read, stats.size)
      } finally {
        await handle.close()
      }
    } finally {
      await held.close()
    }
  } catch (error) {
    const errno = codeOf(error)
    if (errno !== undefined && GONE.has(errno)) return undefined
    const denied = errno === 'EACCES' || errno === 'EPERM'
    throw new Error(`${path}: ${denied ? 'no permission; run as root' : (errno ?? messageOf(error))}`, { cause: error })
  }
}
