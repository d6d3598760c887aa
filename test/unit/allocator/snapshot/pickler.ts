// Writes pickles: byte by byte for what no pickler writes, and as PyTorch's C++ pickler does (torch/csrc/jit/serialization/pickler.cpp).

type Part = string | number | Uint8Array | readonly number[]
/** Opcodes and their arguments: text as its bytes, numbers as bytes. */
export function bytesOf(...parts: readonly Part[]): Uint8Array {
  return Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : typeof part === 'number' ? Buffer.from([part]) : Buffer.from(part))),
  )
}
export function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}
export function u64(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
/** Text of at most 255 bytes, protocol 4. */
export const shortText = (text: string): Uint8Array => bytesOf(0x8c, Buffer.byteLength(text), Buffer.from(text))

export type Plain = null | boolean | number | bigint | string | readonly Plain[] | { readonly [key: string]: Plain }
const PROTO_2 = [0x80, 2]

/**
 * Protocol 2; MARK … APPENDS and SETITEMS around whole containers, texts memoized at first sight, integers above 32 bits as LONG1 of eight bytes.
 * Containers that are in several places are memoized after they are written.
 */
export function jitPickle(value: Plain, shared: ReadonlySet<unknown> = new Set()): Uint8Array {
  const parts: Uint8Array[] = [bytesOf(PROTO_2)]
  const texts = new Map<string, number>()
  const containers = new Map<unknown, number>()
  let next = 0
  const add = (...bytes: readonly Part[]): void => void parts.push(bytesOf(...bytes))
  const get = (index: number): void => (index < 256 ? add('h', index) : add('j', u32(index)))
  const put = (): number => {
    if (next < 256) add('q', next)
    else add('r', u32(next))
    next += 1
    return next - 1
  }
  const integer = (number: number | bigint): void => {
    const n = Number(number)
    if (n >= 0 && n < 256) add('K', n)
    else if (n >= 0 && n < 65_536) add('M', n & 255, n >> 8)
    else if (n >= -(2 ** 31) && n < 2 ** 31) add('J', u32(n >>> 0))
    else add(0x8a, 8, u64(BigInt.asUintN(64, BigInt(number))))
  }
  const text = (one: string): void => {
    const known = texts.get(one)
    if (known !== undefined) return get(known)
    const utf8 = Buffer.from(one)
    add('X', u32(utf8.length), utf8)
    texts.set(one, put())
  }
  const write = (one: Plain): void => {
    if (one === null) add('N')
    else if (typeof one === 'boolean') add(one ? 0x88 : 0x89)
    else if (typeof one === 'bigint') integer(one)
    else if (typeof one === 'number') {
      if (Number.isSafeInteger(one) && !Object.is(one, -0)) return integer(one)
      const double = Buffer.alloc(8)
      double.writeDoubleBE(one)
      add('G', double)
    } else if (typeof one === 'string') text(one)
    else container(one)
  }
  const container = (one: readonly Plain[] | { readonly [key: string]: Plain }): void => {
    const known = containers.get(one)
    if (known !== undefined) return get(known)
    if (Array.isArray(one)) {
      add('](')
      one.forEach(write)
      add('e')
    } else {
      add('}(')
      for (const [key, held] of Object.entries(one)) {
        text(key)
        write(held)
      }
      add('u')
    }
    if (shared.has(one)) containers.set(one, put())
  }
  write(value)
  add('.')
  return Buffer.concat(parts)
}
