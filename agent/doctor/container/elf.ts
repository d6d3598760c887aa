// What a shared library asks of the loader (DT_NEEDED, DT_RPATH, DT_RUNPATH), and its constant text, read from its headers alone. 64-bit, little-endian.
import type { HostFiles } from '../parts/host-files.ts'
import { withFile, type ReadAt } from './file-bytes.ts'

export type Elf = {
  readonly needed: readonly string[]
  readonly rpath: readonly string[]
  readonly runpath: readonly string[]
}

// Values of elf(5).
const [PT_LOAD, PT_DYNAMIC] = [1, 2]
const [DT_NULL, DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH] = [0, 1, 5, 15, 29]
const MAX_HEADERS = 4_096
const MAX_DYNAMIC = 64 * 1024
const MAX_NEEDED = 500
/** PATH_MAX: of a name or a search path. */
const MAX_TEXT = 4_096

const word = (from: Buffer, at: number): number => Number(from.readBigUInt64LE(at))

/** undefined: no 64-bit ELF file. */
async function header(read: ReadAt): Promise<Buffer | undefined> {
  const bytes = await read(0, 64)
  const elf = bytes.length === 64 && bytes.readUInt32BE(0) === 0x7f454c46 && bytes[4] === 2 && bytes[5] === 1
  return elf ? bytes : undefined
}

async function table(read: ReadAt, offset: number, size: number, count: number): Promise<readonly Buffer[]> {
  if (size < 56 || size > 256 || count > MAX_HEADERS) throw new Error('not valid ELF: damaged headers')
  const all = await read(offset, size * count)
  if (all.length < size * count) throw new Error(`not valid ELF: the file ends before its ${count} headers`)
  return Array.from({ length: count }, (_, at) => all.subarray(at * size, (at + 1) * size))
}

async function textAt(read: ReadAt, offset: number): Promise<string> {
  const bytes = await read(offset, MAX_TEXT)
  const end = bytes.indexOf(0)
  if (end < 0) throw new Error('not valid ELF: the file ends inside a text')
  return bytes.subarray(0, end).toString('utf8')
}

/** undefined: not there, or no such file. */
export async function readElf(files: HostFiles, path: string): Promise<Elf | undefined> {
  return await withFile(files, path, async (read) => {
    const head = await header(read)
    if (head === undefined) return undefined
    const programs = (await table(read, word(head, 32), head.readUInt16LE(54), head.readUInt16LE(56))).map((entry) => ({
      type: entry.readUInt32LE(0),
      offset: word(entry, 8),
      address: word(entry, 16),
      size: word(entry, 32),
    }))
    const dynamic = programs.find(({ type }) => type === PT_DYNAMIC)
    if (dynamic === undefined) return { needed: [], rpath: [], runpath: [] }
    const bytes = await read(dynamic.offset, Math.min(dynamic.size, MAX_DYNAMIC))
    if (bytes.length === 0) throw new Error('not valid ELF: the file ends before the dynamic section')
    const entries: { readonly tag: number; readonly value: number }[] = []
    for (let at = 0; at + 16 <= bytes.length; at += 16) {
      const tag = word(bytes, at)
      if (tag === DT_NULL) break
      entries.push({ tag, value: word(bytes, at + 8) })
    }
    // It is an address in memory; the segment that holds it says where that is in the file.
    const address = entries.find(({ tag }) => tag === DT_STRTAB)?.value
    const segment = programs.find((one) => one.type === PT_LOAD && address !== undefined && address >= one.address && address < one.address + one.size)
    if (address === undefined || segment === undefined) throw new Error('not valid ELF: no string table')
    const strings = address - segment.address + segment.offset
    const texts = async (wanted: number): Promise<readonly string[]> =>
      await Promise.all(
        entries
          .filter(({ tag }) => tag === wanted)
          .slice(0, MAX_NEEDED)
          .map(async ({ value }) => await textAt(read, strings + value)),
      )
    const folders = async (wanted: number): Promise<readonly string[]> => (await texts(wanted)).flatMap((text) => text.split(':')).filter((text) => text !== '')
    return { needed: await texts(DT_NEEDED), rpath: await folders(DT_RPATH), runpath: await folders(DT_RUNPATH) }
  })
}

const CHUNK = 2 ** 20
/** libtorch_python's constants are some MiB. */
const MAX_SECTION = 64 * 2 ** 20

/** Texts of the section .rodata that consist of words like `sm_90` alone. undefined: no such file or section. */
export async function archTexts(files: HostFiles, path: string): Promise<readonly string[] | undefined> {
  return await withFile(files, path, async (read) => {
    const head = await header(read)
    if (head === undefined) return undefined
    const sections = await table(read, word(head, 40), head.readUInt16LE(58), head.readUInt16LE(60))
    const names = sections[head.readUInt16LE(62)]
    if (names === undefined) return undefined
    let found: { readonly offset: number; readonly size: number } | undefined
    for (const entry of sections) {
      if ((await textAt(read, word(names, 24) + entry.readUInt32LE(0))) === '.rodata') found = { offset: word(entry, 24), size: word(entry, 32) }
    }
    if (found === undefined) return undefined
    const texts = new Set<string>()
    const [from, end] = [found.offset, found.offset + Math.min(found.size, MAX_SECTION)]
    // Pieces overlap by the longest text that is looked for.
    for (let at = from; at < end; at += CHUNK - 1_024) {
      const bytes = await read(at, Math.min(CHUNK, end - at))
      // The section's first text has none before it whose end could be seen.
      const piece = at === from ? Buffer.concat([Buffer.alloc(1), bytes]) : bytes
      for (let hit = piece.indexOf('sm_'); hit >= 0; hit = piece.indexOf('sm_', hit + 1)) {
        if (piece[hit - 1] !== 0) continue
        const close = piece.indexOf(0, hit)
        const text = piece.subarray(hit, close < 0 ? piece.length : close).toString('latin1')
        if (close >= 0 && text.length < 1_000 && /^(?:(?:sm|compute)_\d{2,3}[af]?)(?: (?:sm|compute)_\d{2,3}[af]?)*$/.test(text)) texts.add(text)
      }
    }
    return [...texts]
  })
}
