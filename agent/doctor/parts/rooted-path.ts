// Follows a path below a root step by step, so that links lead to where they lead inside that root, and nothing is opened on the way.
import { constants } from 'node:fs'
import { open, readlink, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import { demandLocal, mountOf } from '../../lib/local-directory.ts'

/** open(2): the entry is not opened, only held; a pipe or a device there does nothing. */
const O_PATH = 0o10000000
/** As the kernel's MAXSYMLINKS. */
const MAX_LINKS = 40

export type Walked = {
  readonly held: FileHandle
  /** Without links, as seen inside the root. */
  readonly path: string
  /** The folder in which `name` lies, only where it was asked for. */
  readonly parent?: FileHandle
  readonly name: string
}

export const entryThrough = (handle: FileHandle, name?: string): string => `/proc/self/fd/${handle.fd}${name === undefined ? '' : `/${name}`}`

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.')
const failure = (code: string, message: string): Error => Object.assign(new Error(message), { code })

/** Rejects as `open` does. The caller closes what is held. `..` stops at the root, as for a process inside. */
export async function walk(root: string, path: string, follow: boolean, keepParent = false): Promise<Walked> {
  /** Handles of the folders on the way, the root first. */
  const way: FileHandle[] = []
  const names: string[] = []
  const close = async (handles: readonly FileHandle[]): Promise<void> => void (await Promise.all(handles.map((handle) => handle.close().catch(() => {}))))
  // A remote file system (NFS, FUSE) may hang whoever reads it: each entry is opened without reading, and read only once its mount is known.
  const procfs = /\/\d+\/root$/.test(root) ? dirname(root) : '/proc/self'
  let mount = ''
  const enter = (held: FileHandle, name: string): void => {
    const next = root === '/' ? mount : mountOf(held.fd)
    if (next !== mount) demandLocal(procfs, held.fd, name)
    mount = next
  }
  try {
    way.push(await open(root, O_PATH | constants.O_DIRECTORY))
    if (way[0] !== undefined) enter(way[0], root)
    const rest = partsOf(path)
    for (let links = 0; rest.length > 0;) {
      const part = rest.shift() ?? ''
      const here = way.at(-1)
      if (here === undefined) break
      if (part === '..') {
        if (way.length > 1) {
          names.pop()
          await close(way.splice(-1))
        }
        continue
      }
      const held = await open(entryThrough(here, part), O_PATH | constants.O_NOFOLLOW)
      way.push(held)
      names.push(part)
      enter(held, `/${names.join('/')}`)
      const stats = await held.stat()
      if (stats.isSymbolicLink() && (follow || rest.length > 0)) {
        if (++links > MAX_LINKS) throw failure('ELOOP', 'too many links')
        const target = await readlink(entryThrough(here, part))
        names.pop()
        await close(way.splice(-1))
        if (target.startsWith('/')) {
          names.length = 0
          await close(way.splice(1))
        }
        rest.unshift(...partsOf(target))
      } else if (rest.length > 0 && !stats.isDirectory()) {
        throw failure('ENOTDIR', 'not a directory')
      }
    }
    const held = way.pop()
    if (held === undefined) throw failure('ENOENT', 'not there')
    const parent = keepParent ? way.pop() : undefined
    await close(way)
    return { held, path: `/${names.join('/')}`, name: names.at(-1) ?? '', ...(parent === undefined ? {} : { parent }) }
  } catch (error) {
    await close(way)
    throw error
  }
}
