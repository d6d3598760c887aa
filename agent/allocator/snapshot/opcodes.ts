// Pickle opcodes that the reader does not follow, by name: those that would run code, and those of protocols before 2 (Python: Lib/pickletools.py).
import { latin1Text } from './text.ts'

/** Each of these makes an unpickler import, call or build something, or fetch what is not in the file. */
const RUNS_CODE: ReadonlyMap<number, string> = new Map([
  [0x63, 'GLOBAL'],
  [0x93, 'STACK_GLOBAL'],
  [0x52, 'REDUCE'],
  [0x62, 'BUILD'],
  [0x69, 'INST'],
  [0x6f, 'OBJ'],
  [0x81, 'NEWOBJ'],
  [0x92, 'NEWOBJ_EX'],
  [0x82, 'EXT1'],
  [0x83, 'EXT2'],
  [0x84, 'EXT4'],
  [0x50, 'PERSID'],
  [0x51, 'BINPERSID'],
  [0x97, 'NEXT_BUFFER'],
  [0x98, 'READONLY_BUFFER'],
])

/** Never written by protocol 2 or later. */
const OLD: ReadonlyMap<number, string> = new Map([
  [0x46, 'FLOAT'],
  [0x49, 'INT'],
  [0x4c, 'LONG'],
  [0x53, 'STRING'],
  [0x54, 'BINSTRING'],
  [0x55, 'SHORT_BINSTRING'],
  [0x56, 'UNICODE'],
  [0x64, 'DICT'],
  [0x67, 'GET'],
  [0x6c, 'LIST'],
  [0x70, 'PUT'],
])

const PRINTABLE_LINE = /^[\x20-\x7e]{1,100}$/
/** What a GLOBAL or INST names, two lines of text after it; undefined when it is no text. */
function namedAfter(bytes: Uint8Array, at: number): string | undefined {
  const [module = '', name = ''] = latin1Text(bytes.subarray(at, at + 202)).split('\n', 2)
  return PRINTABLE_LINE.test(module) && PRINTABLE_LINE.test(name) ? `${module}.${name}` : undefined
}

/** Why an opcode is not followed; `at` is where it is, `top` the two values on top of the stack. */
export function refusal(bytes: Uint8Array, at: number, top: readonly unknown[]): string {
  const opcode = bytes[at] ?? 0
  const runs = RUNS_CODE.get(opcode)
  if (runs !== undefined) {
    const names = runs === 'STACK_GLOBAL' && top.every((one) => typeof one === 'string' && PRINTABLE_LINE.test(one)) ? top.join('.') : undefined
    const what = runs === 'GLOBAL' || runs === 'INST' ? namedAfter(bytes, at + 1) : names
    return `refused: the opcode ${runs} at byte ${at}${what === undefined ? '' : ` (${what})`} runs code when it is unpickled; a snapshot holds plain data only`
  }
  const old = OLD.get(opcode)
  if (old !== undefined) return `the opcode ${old} at byte ${at} is of an older pickle protocol; it must be 2 to 5`
  return `0x${opcode.toString(16).padStart(2, '0')} at byte ${at} is no pickle opcode: not a pickle, or a damaged one`
}
