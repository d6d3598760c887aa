// A shared library by its headers alone, of bytes below 128 so that a scene can hold it as text: for the checks' cases. Real ones are compiled in container-elf.test.ts.

export type ElfParts = { readonly needed?: readonly string[]; readonly runpath?: string; readonly rpath?: string; readonly constants?: readonly string[] }

const [DYNAMIC, SECTIONS, NAMES, RODATA, RODATA_SIZE, STRINGS] = [0x200, 0x900, 0xa00, 0xb00, 0x400, 0x1000] as const
/** A text every 256 bytes: all offsets have a low byte of 0. */
const SLOT = 0x100

export function asciiElf({ needed = [], runpath, rpath, constants = [] }: ElfParts): string {
  const texts = [
    ...needed.map((text) => [1, text] as const),
    ...(rpath === undefined ? [] : [[15, rpath] as const]),
    ...(runpath === undefined ? [] : [[29, runpath] as const]),
  ]
  const bytes = Buffer.alloc(STRINGS + SLOT * (texts.length + 2))
  const long = (at: number, value: number): void => void bytes.writeBigUInt64LE(BigInt(value), at)
  bytes.write('\x7fELF', 0, 'latin1')
  bytes.set([2, 1, 1], 4)
  bytes.writeUInt16LE(3, 16)
  bytes.writeUInt16LE(62, 18)
  long(32, 64)
  long(40, SECTIONS)
  for (const [at, value] of [
    [54, 56],
    [56, 2],
    [58, 64],
    [60, 3],
    [62, 2],
  ] as const)
    bytes.writeUInt16LE(value, at)
  // PT_LOAD of the whole file, at address 0; PT_DYNAMIC.
  bytes.writeUInt32LE(1, 64)
  for (const at of [64 + 32, 64 + 40]) long(at, bytes.length)
  bytes.writeUInt32LE(2, 120)
  for (const at of [120 + 8, 120 + 16]) long(at, DYNAMIC)
  for (const at of [120 + 32, 120 + 40]) long(at, 0x600)
  // DT_STRTAB, DT_STRSZ.
  for (const [index, value] of [5, STRINGS, 10, bytes.length - STRINGS].entries()) long(DYNAMIC + 8 * index, value)
  for (const [index, [tag, text]] of texts.entries()) {
    long(DYNAMIC + 16 * (index + 2), tag)
    long(DYNAMIC + 16 * (index + 2) + 8, SLOT * (index + 1))
    bytes.write(`${text}\0`, STRINGS + SLOT * (index + 1), 'latin1')
  }
  bytes.write('\0.rodata\0.shstrtab\0', NAMES, 'latin1')
  for (const [index, name, offset, size] of [
    [1, 1, RODATA, RODATA_SIZE],
    [2, 9, NAMES, 0x100],
  ] as const) {
    bytes.writeUInt32LE(name, SECTIONS + 64 * index)
    long(SECTIONS + 64 * index + 24, offset)
    long(SECTIONS + 64 * index + 32, size)
  }
  bytes.write(`\0${constants.join('\0')}\0`, RODATA, 'latin1')
  return bytes.toString('latin1')
}
