// Where the fields of CPython's structs lie: from 3.13 on the process says it itself (_Py_DebugOffsets), before by tables measured on
// x86-64 with 3.8.18, 3.9.18, 3.10.13, 3.11.7 and 3.12.1 (offsetof against their headers). A wrong table shows as a pointer that leads nowhere.
import { LookError, type Memory } from './memory.ts'

export type Layout = {
  readonly minor: number
  readonly interpretersHead: number
  readonly firstThread: number
  readonly nextThread: number
  readonly threadId: number
  readonly nativeId: number | undefined
  /** To the frame: directly, or through a struct. */
  readonly frame: readonly number[]
  readonly frameCode: number
  readonly framePrevious: number
  /** A pointer to the instruction, or its number. */
  readonly instruction: number
  readonly owner: number | undefined
  readonly fileName: number
  readonly name: number
  readonly firstLine: number
  readonly lineTable: number
  readonly instructions: number | undefined
  readonly bytesSize: number
  readonly bytesData: number
  readonly textLength: number
  readonly textState: number
  readonly asciiData: number
  readonly wideData: number
  /** In the runtime or, from 3.12 on, behind a pointer of the interpreter. */
  readonly gil: { readonly pointer: number | undefined; readonly holder: number; readonly locked: number }
}

const OLD = { bytesSize: 16, bytesData: 32, textLength: 16, textState: 32, asciiData: 48, wideData: 72, nextThread: 8 } as const
const UNTIL_3_10 = { ...OLD, interpretersHead: 32, firstThread: 8, threadId: 176, nativeId: undefined, frame: [24], frameCode: 32, framePrevious: 24, owner: undefined } as const
const CODE_UNTIL_3_10 = { fileName: 104, name: 112, firstLine: 40, lineTable: 120, instructions: undefined } as const

const TABLES: readonly Layout[] = [
  { ...UNTIL_3_10, ...CODE_UNTIL_3_10, minor: 8, instruction: 104, gil: { pointer: undefined, holder: 1160, locked: 1168 } },
  { ...UNTIL_3_10, ...CODE_UNTIL_3_10, minor: 9, instruction: 104, gil: { pointer: undefined, holder: 360, locked: 368 } },
  { ...UNTIL_3_10, ...CODE_UNTIL_3_10, minor: 10, instruction: 96, gil: { pointer: undefined, holder: 360, locked: 368 } },
  {
    ...OLD,
    minor: 11,
    interpretersHead: 40,
    firstThread: 16,
    threadId: 152,
    nativeId: 160,
    frame: [56, 8],
    frameCode: 32,
    framePrevious: 48,
    instruction: 56,
    owner: 69,
    fileName: 112,
    name: 120,
    firstLine: 72,
    lineTable: 136,
    instructions: 184,
    gil: { pointer: undefined, holder: 368, locked: 376 },
  },
  {
    ...OLD,
    minor: 12,
    asciiData: 40,
    wideData: 56,
    interpretersHead: 40,
    firstThread: 72,
    threadId: 136,
    nativeId: 144,
    frame: [56, 0],
    frameCode: 0,
    framePrevious: 8,
    instruction: 56,
    owner: 70,
    fileName: 112,
    name: 120,
    firstLine: 68,
    lineTable: 136,
    instructions: 192,
    gil: { pointer: 384, holder: 8, locked: 16 },
  },
]

const COOKIE = 'xdebugpy'

/** The groups of _Py_DebugOffsets in order, each beginning with the size of its struct; 3.14 has more fields in some. */
function debugOffsets(memory: Memory, runtime: number): Layout {
  const table = memory.bytes(runtime, 1024)
  const minor = (Number(table.readBigUInt64LE(8)) >>> 16) & 0xff
  if (table.readBigUInt64LE(16) !== 0n) throw new LookError('its Python is a free-threaded build, whose stacks cannot be read yet')
  const newer = minor >= 14
  let at = 24
  const group = (count: number): readonly number[] => {
    const fields = Array.from({ length: count }, (_, i) => Number(table.readBigUInt64LE(at + i * 8)))
    at += count * 8
    return fields
  }
  const field = (fields: readonly number[], index: number): number => {
    const value = fields[index]
    if (value === undefined || value > 2 ** 24) throw new LookError('its Python has debug offsets of an unknown kind')
    return value
  }
  const runtimeState = group(3)
  const interpreter = group(newer ? 16 : 13)
  const thread = group(9)
  const frame = group(newer ? 8 : 6)
  const code = group(newer ? 11 : 10)
  for (const count of [2, 4, 3, 3, ...(newer ? [4] : []), 3, 2, 3]) group(count)
  const [bytes, text] = [group(3), group(4)]
  return {
    minor,
    interpretersHead: field(runtimeState, 2),
    firstThread: field(interpreter, 3),
    nextThread: field(thread, 2),
    threadId: field(thread, 5),
    nativeId: field(thread, 6),
    frame: [field(thread, 4)],
    frameCode: field(frame, 2),
    framePrevious: field(frame, 1),
    instruction: field(frame, 3),
    owner: field(frame, 5),
    fileName: field(code, 1),
    name: field(code, 2),
    firstLine: field(code, 5),
    lineTable: field(code, 4),
    instructions: field(code, 9),
    bytesSize: field(bytes, 1),
    bytesData: field(bytes, 2),
    textState: field(text, 1),
    textLength: field(text, 2),
    asciiData: field(text, 3),
    wideData: field(text, 3) + 16,
    gil: { pointer: undefined, holder: field(interpreter, newer ? 13 : 12), locked: field(interpreter, newer ? 12 : 11) },
  }
}

export function layoutOf(memory: Memory, runtime: number, versionAt: number | undefined, named: number | undefined): Layout {
  if (memory.bytes(runtime, 8).toString('latin1') === COOKIE) return debugOffsets(memory, runtime)
  const minor = versionAt === undefined ? named : (memory.int32(versionAt) >>> 16) & 0xff
  const table = TABLES.find((layout) => layout.minor === minor)
  if (table === undefined) throw new LookError(`its Python ${minor === undefined ? 'has an unknown version' : `3.${minor} is not known`}: expected 3.8 or newer`)
  if (process.arch !== 'x64') throw new LookError(`the layout of Python 3.${table.minor} is known on x86-64 only; from 3.13 on every machine works`)
  return table
}
