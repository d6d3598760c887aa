// Finds symbols of the Python that a process runs: in its executable or its libpython, opened through /proc so that containers do not matter.
import { closeSync, fstatSync, openSync, readFileSync, readlinkSync, readSync } from 'node:fs'
import { LookError } from './memory.ts'

type Mapping = { readonly start: number; readonly range: string; readonly offset: number; readonly file: string }
const DYNSYM = 11
const SYMTAB = 2
const MOST_TABLE_BYTES = 64 * 2 ** 20
const PYTHON_FILE = /(?:^|\/)(?:libpython3[.\d]*[a-z]*\.so[.\d]*|python3?[.\d]*)(?: \(deleted\))?$/

function mappingsOf(pid: number): readonly Mapping[] {
  const text = readFileSync(`/proc/${pid}/maps`, 'utf8')
  return Array.from(text.matchAll(/^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +(\/.*)$/gm), ([, start = '', end = '', offset = '', file = '']) => ({
    start: Number.parseInt(start, 16),
    range: `${start}-${end}`,
    offset: Number.parseInt(offset, 16),
    file,
  }))
}

function part(descriptor: number, from: number, length: number): Buffer {
  if (!(from >= 0 && length >= 0 && length <= MOST_TABLE_BYTES)) throw new LookError('the program file is damaged')
  const buffer = Buffer.alloc(length)
  if (readSync(descriptor, buffer, 0, length, from) !== length) throw new LookError('the program file is truncated')
  return buffer
}

/** Addresses of the wanted symbols, as the file has them, and where the file's first segment wants to be. */
function symbolsOf(descriptor: number, wanted: readonly string[]): { readonly symbols: ReadonlyMap<string, number>; readonly relocated: boolean } {
  const head = part(descriptor, 0, 64)
  if (head.readUInt32BE(0) !== 0x7f454c46 || head[4] !== 2 || head[5] !== 1) throw new LookError('its program is no 64-bit ELF file')
  const [sectionsAt, entry, count] = [Number(head.readBigUInt64LE(40)), head.readUInt16LE(58), head.readUInt16LE(60)]
  const headers = part(descriptor, sectionsAt, entry * count)
  const section = (index: number): { readonly type: number; readonly at: number; readonly size: number; readonly link: number; readonly entry: number } => {
    const base = index * entry
    return {
      type: headers.readUInt32LE(base + 4),
      at: Number(headers.readBigUInt64LE(base + 24)),
      size: Number(headers.readBigUInt64LE(base + 32)),
      link: headers.readUInt32LE(base + 40),
      entry: Number(headers.readBigUInt64LE(base + 56)),
    }
  }
  const symbols = new Map<string, number>()
  for (let index = 0; index < count && symbols.size < wanted.length; index += 1) {
    const table = section(index)
    if ((table.type !== DYNSYM && table.type !== SYMTAB) || table.entry < 24 || table.link >= count) continue
    const [entries, texts] = [part(descriptor, table.at, table.size), section(table.link)]
    const names = part(descriptor, texts.at, texts.size)
    const places = new Map(wanted.map((name) => [names.indexOf(`\0${name}\0`) + 1, name]))
    places.delete(0)
    for (let at = 0; at + table.entry <= entries.length; at += table.entry) {
      const name = places.get(entries.readUInt32LE(at))
      const value = Number(entries.readBigUInt64LE(at + 8))
      if (name !== undefined && value > 0) symbols.set(name, value)
    }
  }
  return { symbols, relocated: head.readUInt16LE(16) === 3 }
}

type Symbols = ReturnType<typeof symbolsOf>
/** All ranks of a job run the same file, and its tables are a few megabytes. */
const known = new Map<string, Symbols>()
const MOST_KNOWN = 16
const WANTED = ['_PyRuntime', 'Py_Version']

function symbolsIn(descriptor: number): Symbols {
  const { dev, ino, size, mtimeMs } = fstatSync(descriptor)
  const file = [dev, ino, size, mtimeMs].join()
  const found = known.get(file) ?? symbolsOf(descriptor, WANTED)
  if (known.size < MOST_KNOWN) known.set(file, found)
  return found
}

export type PythonProgram = {
  readonly runtime: number
  /** Where its version number is in memory: from 3.11 on. */
  readonly versionAt: number | undefined
  /** The minor release by the names of its files. */
  readonly minor: number | undefined
}

/** Undefined where the process runs no Python. */
export function pythonOf(pid: number): PythonProgram | undefined {
  const mappings = mappingsOf(pid)
  let executable = ''
  try {
    executable = readlinkSync(`/proc/${pid}/exe`)
  } catch {
    // A kernel thread, or gone.
  }
  const files = [...new Set(mappings.filter(({ file }) => PYTHON_FILE.test(file) || file === executable).map(({ file }) => file))].toSorted(
    (a, b) => Number(b.includes('libpython')) - Number(a.includes('libpython')),
  )
  const named = mappings.flatMap(({ file }) => /(?:python3\.|cpython-3)(\d{1,2})/.exec(file)?.[1] ?? [])[0]
  for (const file of files) {
    const first = mappings.find((mapping) => mapping.file === file && mapping.offset === 0)
    if (first === undefined) continue
    let descriptor: number | undefined
    try {
      descriptor = openSync(file === executable ? `/proc/${pid}/exe` : `/proc/${pid}/map_files/${first.range}`, 'r')
      const { symbols, relocated } = symbolsIn(descriptor)
      const base = relocated ? first.start : 0
      const [runtime, version] = [symbols.get('_PyRuntime'), symbols.get('Py_Version')]
      if (runtime !== undefined)
        return {
          runtime: base + runtime,
          versionAt: version === undefined ? undefined : base + version,
          minor: named === undefined ? undefined : Number(named),
        }
    } finally {
      if (descriptor !== undefined) closeSync(descriptor)
    }
  }
  return undefined
}
