// The Python stacks of another process, all threads with file and line, and which of them has the GIL.
import type { Frame, Thread } from '../../model.ts'
import { pythonOf } from './elf.ts'
import { layoutOf, type Layout } from './layouts.ts'
import { lineAt } from './lines.ts'
import { LookError, openMemory, pointerIn, type Memory } from './memory.ts'

/** `moves`: the main thread executed another instruction of Python in a later one of the reads. */
export type PythonStacks = { readonly version: string; readonly threads: readonly Thread[]; readonly main: Thread | undefined; readonly moves: boolean }

const MOST_THREADS = 256
const MOST_FRAMES = 200
const MOST_TEXT = 1024
const MOST_LINE_TABLE = 2 ** 20
/** A frame of this owner or above is the C stack's, not the program's. */
const C_STACK = 3
const TRIES = 5

/** Strings are compact: ASCII right behind the short head, others behind the long one in 1, 2 or 4 bytes a character. */
function textAt(memory: Memory, layout: Layout, address: number): string {
  const head = memory.bytes(address, layout.asciiData)
  const length = Number(head.readBigInt64LE(layout.textLength))
  if (length < 0 || length > 2 ** 20) throw new LookError('a text in its memory has no length: it changed while it was read, or its Python is unknown')
  const count = Math.min(length, MOST_TEXT)
  const state = head.readUInt32LE(layout.textState)
  const [kind, ascii] = [(state >> 2) & 7, ((state >> 6) & 1) === 1]
  if (ascii || kind === 0) return memory.bytes(address + layout.asciiData, count).toString('latin1')
  const bytes = memory.bytes(address + layout.wideData, count * kind)
  if (kind === 1) return bytes.toString('latin1')
  if (kind === 2) return bytes.toString('utf16le')
  return Array.from({ length: count }, (_, i) => String.fromCodePoint(Math.min(bytes.readUInt32LE(i * 4), 0x10ffff))).join('')
}

type CodeNames = { readonly file: string; readonly function: string; readonly first: number; readonly table: Buffer }

type Walk = { readonly frames: readonly Frame[]; /** Where the innermost frame executes, as an address. */ readonly at: number | undefined }

function reader(memory: Memory, layout: Layout): (frame: number) => Walk {
  const codes = new Map<number, CodeNames>()
  const codeAt = (address: number): CodeNames => {
    const known = codes.get(address)
    if (known !== undefined) return known
    const tableAt = memory.pointer(address + layout.lineTable)
    const size = memory.pointer(tableAt + layout.bytesSize)
    const made = {
      file: textAt(memory, layout, memory.pointer(address + layout.fileName)),
      function: textAt(memory, layout, memory.pointer(address + layout.name)),
      first: memory.int32(address + layout.firstLine),
      table: memory.bytes(tableAt + layout.bytesData, Math.min(size, MOST_LINE_TABLE)),
    }
    codes.set(address, made)
    return made
  }
  return (innermost) => {
    const frames: Frame[] = []
    let frame = innermost
    let top: number | undefined
    for (let depth = 0; frame !== 0 && depth < MOST_FRAMES; depth += 1) {
      const bytes = memory.bytes(frame, 128)
      // 3.14 keeps flags in the lowest bits of this pointer.
      const code = pointerIn(bytes, layout.frameCode)
      const address = Number.isFinite(code) ? code - (code % 4) : code
      const owner = layout.owner === undefined ? 0 : (bytes[layout.owner] ?? 0)
      if (owner < C_STACK && address !== 0) {
        const { file, function: called, first, table } = codeAt(address)
        const at =
          layout.instructions === undefined
            ? bytes.readInt32LE(layout.instruction) * (layout.minor === 10 ? 2 : 1)
            : pointerIn(bytes, layout.instruction) - (address + layout.instructions)
        top ??= address + at
        frames.push({ file, line: lineAt(layout.minor, table, first, at), function: called })
      }
      frame = pointerIn(bytes, layout.framePrevious)
    }
    return { frames, at: top }
  }
}

type Read = { readonly threads: readonly Thread[]; readonly mainAt: number | undefined }

function readOnce(memory: Memory, layout: Layout, runtime: number, pid: number): Read {
  const framesAt = reader(memory, layout)
  const threads: Thread[] = []
  let mainAt: number | undefined
  const interpreter = memory.pointer(runtime + layout.interpretersHead)
  const gil = layout.gil.pointer !== undefined ? memory.pointer(interpreter + layout.gil.pointer) : layout.minor >= 13 ? interpreter : runtime
  const holder = memory.int32(gil + layout.gil.locked) === 1 ? memory.pointer(gil + layout.gil.holder) : 0
  let thread = memory.pointer(interpreter + layout.firstThread)
  while (thread !== 0 && threads.length < MOST_THREADS) {
    let frame = thread
    for (const offset of layout.frame) frame = memory.pointer(frame + offset)
    const native = layout.nativeId === undefined ? undefined : memory.pointer(thread + layout.nativeId)
    const next = memory.pointer(thread + layout.nextThread)
    // New threads are put in front, so the last is the first that there was.
    const isMain = native === undefined ? next === 0 : native === pid || (next === 0 && !threads.some(({ name }) => name === 'MainThread'))
    const { frames, at } = framesAt(frame)
    if (isMain) mainAt = at
    threads.push({
      id: String(native ?? memory.pointer(thread + layout.threadId)),
      ...(isMain ? { name: 'MainThread' } : {}),
      ...(thread === holder ? { holdsGil: true } : {}),
      frames,
    })
    thread = next
  }
  return { threads, mainAt }
}

/** Undefined where the process runs no Python. Throws a LookError where its stacks cannot be read. `ownPid`: its pid in its own namespace. */
export function pythonStacks(pid: number, ownPid = pid): PythonStacks | undefined {
  const program = pythonOf(pid)
  if (program === undefined) return undefined
  using memory = openMemory(pid)
  const layout = layoutOf(memory, program.runtime, program.versionAt, program.minor)
  let [last, failure]: [string, unknown] = ['', undefined]
  // A process that runs changes while it is read: what two reads in a row agree in is no torn picture. One that hangs agrees at once.
  let threads: readonly Thread[] | undefined
  const places = new Set<number>()
  for (let i = 0; i < TRIES; i += 1) {
    try {
      const read = readOnce(memory, layout, program.runtime, ownPid)
      threads = read.threads
      if (read.mainAt !== undefined) places.add(read.mainAt)
      const text = JSON.stringify(threads)
      if (text === last) break
      last = text
    } catch (error) {
      failure = error
      last = ''
    }
  }
  if (threads === undefined) throw failure
  const main = threads.find(({ name }) => name === 'MainThread')
  return { version: `3.${layout.minor}`, threads, main, moves: places.size > 1 }
}
