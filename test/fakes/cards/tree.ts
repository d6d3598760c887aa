// A tree of files in memory that means /sys and /proc, with what a folder cannot hold: reads that fail, and links.
import type { FileReader } from '../../../agent/drm/files.ts'

export type Tree = {
  readonly files: Readonly<Record<string, string | Buffer>>
  /** Errors of reads, by path: `EBUSY`. */
  readonly errors?: Readonly<Record<string, string>>
  readonly links?: Readonly<Record<string, string>>
}

const ERRNO: Readonly<Record<string, number>> = { EPERM: 1, ENOENT: 2, EIO: 5, EAGAIN: 11, EACCES: 13, EBUSY: 16, EINVAL: 22, ETIME: 62, EOPNOTSUPP: 95 }
const failing = (code: string, path: string): Error => Object.assign(new Error(`${code}: ${path}`), { code, errno: -(ERRNO[code] ?? 0) })

/** `reads` counts the reads of each path, so that a test sees what was not asked. */
export function treeReader(tree: () => Tree, reads = new Map<string, number>()): FileReader {
  return {
    bytes(path) {
      reads.set(path, (reads.get(path) ?? 0) + 1)
      const { files, errors = {} } = tree()
      const error = errors[path]
      if (error !== undefined) throw failing(error, path)
      const found = files[path]
      if (found === undefined) throw failing('ENOENT', path)
      return Buffer.isBuffer(found) ? found : Buffer.from(`${found}\n`)
    },
    list(path) {
      const { files, links = {} } = tree()
      const names = new Set<string>()
      for (const file of [...Object.keys(files), ...Object.keys(links)])
        if (file.startsWith(`${path}/`)) names.add(file.slice(path.length + 1).split('/')[0] ?? '')
      if (names.size === 0) throw failing('ENOENT', path)
      return [...names]
    },
    link(path) {
      const found = tree().links?.[path]
      if (found === undefined) throw failing('EINVAL', path)
      return found
    },
  }
}

/** Puts a folder before each path. */
export const below = (folder: string, files: Readonly<Record<string, string | Buffer>>): Record<string, string | Buffer> =>
  Object.fromEntries(Object.entries(files).map(([path, content]) => [`${folder}/${path}`, content]))
