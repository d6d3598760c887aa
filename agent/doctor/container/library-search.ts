// Where the loader of a container finds a library, by the rules of ld.so(8); read from outside, nothing is loaded.
import { dirname, join, normalize } from 'node:path'
import type { Elf } from './elf.ts'
import { withFile } from './file-bytes.ts'
import type { HostFiles } from '../parts/host-files.ts'

export type LibrarySearch = {
  /** Names of a folder; empty where there is none. */
  readonly names: (folder: string) => Promise<ReadonlySet<string>>
  /** `asker`: the library that needs it. undefined: nowhere. */
  readonly find: (name: string, asker?: { readonly path: string; readonly elf: Elf }) => Promise<string | undefined>
}

/** Built into the loaders of Debian's, Red Hat's and SUSE's glibc. */
const DEFAULT_FOLDERS = [
  '/lib/x86_64-linux-gnu',
  '/usr/lib/x86_64-linux-gnu',
  '/lib/aarch64-linux-gnu',
  '/usr/lib/aarch64-linux-gnu',
  '/lib64',
  '/usr/lib64',
  '/lib',
  '/usr/lib',
]
const CACHE = '/etc/ld.so.cache'
const MAGIC = 'glibc-ld.so.cache1.1'
const MAX_CACHE = 4 * 2 ** 20
const MAX_ENTRIES = 50_000

/** By name, as in `struct cache_file_new` of glibc's dl-cache.h: a head of 48 bytes, entries of 24, then texts. The first of a name counts. */
export function parseLoaderCache(bytes: Buffer): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const start = bytes.indexOf(MAGIC)
  if (start < 0 || bytes.length < start + 48) return found
  const count = Math.min(bytes.readUInt32LE(start + 20), MAX_ENTRIES)
  const textAt = (offset: number): string | undefined => {
    const from = start + offset
    const end = from < bytes.length ? bytes.indexOf(0, from) : -1
    return end < 0 ? undefined : bytes.subarray(from, end).toString('utf8')
  }
  for (let at = start + 48; at + 24 <= bytes.length && (at - start - 48) / 24 < count; at += 24) {
    const [name, path] = [textAt(bytes.readUInt32LE(at + 4)), textAt(bytes.readUInt32LE(at + 8))]
    if (name !== undefined && path !== undefined && !found.has(name)) found.set(name, path)
  }
  return found
}

export function createLibrarySearch(files: HostFiles, env: ReadonlyMap<string, string>): LibrarySearch {
  const folders = new Map<string, Promise<ReadonlySet<string>>>()
  const names: LibrarySearch['names'] = async (folder) => {
    const known = folders.get(folder)
    if (known !== undefined) return await known
    const asked = files.list(folder).then((list) => new Set(list ?? []))
    folders.set(folder, asked)
    return await asked
  }
  let cache: Promise<ReadonlyMap<string, string>> | undefined
  const cached = async (): Promise<ReadonlyMap<string, string>> => {
    cache ??= withFile(files, CACHE, async (read, size) => parseLoaderCache(await read(0, Math.min(size, MAX_CACHE)))).then((found) => found ?? new Map())
    return await cache
  }
  const within = async (places: readonly string[], name: string): Promise<string | undefined> => {
    for (const place of places) if (place.startsWith('/') && (await names(place)).has(name)) return join(place, name)
    return undefined
  }
  const origins = new Map<string, Promise<string>>()
  /** The loader puts in the folder in which the library really lies. */
  const originOf = async (path: string): Promise<string> => {
    const origin = origins.get(path) ?? files.realpath(path).then((real) => dirname(real ?? path))
    origins.set(path, origin)
    return await origin
  }
  const own = (env.get('LD_LIBRARY_PATH') ?? '').split(/[:;]/).filter((place) => place !== '')
  return {
    names,
    async find(name, asker) {
      if (name.startsWith('/')) return (await files.exists(name)) ? name : undefined
      const origin = asker === undefined ? undefined : await originOf(asker.path)
      const expand = (places: readonly string[]): readonly string[] =>
        places.map((place) => normalize(place.replace(/\$\{ORIGIN\}|\$ORIGIN/g, origin ?? '').replace(/\$\{LIB\}|\$LIB/g, 'lib')).replace(/(.)\/$/, '$1'))
      const { rpath = [], runpath = [] } = asker?.elf ?? {}
      const before = runpath.length > 0 ? [] : expand(rpath)
      const direct = await within([...before, ...own, ...expand(runpath)], name)
      if (direct !== undefined) return direct
      const listed = (await cached()).get(name)
      if (listed !== undefined && (await files.exists(listed))) return listed
      return await within(DEFAULT_FOLDERS, name)
    },
  }
}
