// Bytes and bits of the history's own formats: a growing writer and a bounds-checked reader.

/** Rice codes with a longer unary part than this are written as an escape: width and plain bits. */
const ESCAPE = 20
const WIDTH_BITS = 6

export type Writer = {
  readonly reset: () => void
  readonly length: () => number
  readonly byte: (value: number) => void
  /** Unsigned, below 2^53, seven bits a byte. */
  readonly varint: (value: number) => void
  /** Signed, magnitude below 2^52. */
  readonly signed: (value: number) => void
  readonly float64: (value: number) => void
  readonly append: (bytes: Uint8Array) => void
  /** The low `width` (at most 53) bits of an unsigned number, highest first. */
  readonly bits: (value: number, width: number) => void
  /** Rice code of an unsigned number: short when it is near 2^k or below. */
  readonly rice: (value: number, k: number) => void
  /** Fills the last byte of a run of bits; byte-wise writing goes on after it. */
  readonly align: () => void
  /** A copy of what was written. */
  readonly take: () => Uint8Array
}

export const zigzag = (value: number): number => (value < 0 ? -2 * value - 1 : 2 * value)
export const unzigzag = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2)
const widthOf = (value: number): number => (value < 1 ? 0 : Math.floor(Math.log2(value)) + 1)

/** Bits that `rice` needs for a value, where `scale` is 2^-k. */
export function riceBits(value: number, k: number, scale: number): number {
  const quotient = Math.floor(value * scale)
  return quotient < ESCAPE ? quotient + 1 + k : ESCAPE + WIDTH_BITS + widthOf(value)
}

export function createWriter(initialBytes = 4096): Writer {
  let buffer = new Uint8Array(initialBytes)
  let view = new DataView(buffer.buffer)
  let at = 0
  let pending = 0
  let pendingBits = 0

  const reserve = (count: number): void => {
    if (at + count <= buffer.length) return
    const bigger = new Uint8Array(Math.max(buffer.length * 2, at + count))
    bigger.set(buffer)
    buffer = bigger
    view = new DataView(buffer.buffer)
  }
  const byte = (value: number): void => {
    if (at === buffer.length) reserve(1)
    buffer[at++] = value
  }
  const varint = (value: number): void => {
    let rest = value
    while (rest >= 0x80) {
      byte((rest % 0x80) | 0x80)
      rest = Math.floor(rest / 0x80)
    }
    byte(rest)
  }
  // At most 24 bits, so that with 7 left over they fit 31.
  const short = (value: number, width: number): void => {
    pending = (pending << width) | value
    pendingBits += width
    while (pendingBits >= 8) {
      pendingBits -= 8
      byte((pending >>> pendingBits) & 0xff)
    }
    pending &= (1 << pendingBits) - 1
  }
  const bits = (value: number, width: number): void => {
    if (width <= 24) {
      if (width > 0) short(value, width)
      return
    }
    const low = value % 0x1000000
    bits((value - low) / 0x1000000, width - 24)
    short(low, 24)
  }
  return {
    reset() {
      at = pending = pendingBits = 0
    },
    length: () => at,
    byte,
    varint,
    signed: (value) => varint(zigzag(value)),
    float64(value) {
      reserve(8)
      view.setFloat64(at, value)
      at += 8
    },
    append(bytes) {
      reserve(bytes.length)
      buffer.set(bytes, at)
      at += bytes.length
    },
    bits,
    rice(value, k) {
      const unit = 2 ** k
      const quotient = Math.floor(value / unit)
      if (quotient < ESCAPE) {
        short((2 << quotient) - 2, quotient + 1)
        bits(value - quotient * unit, k)
      } else {
        const width = widthOf(value)
        short((1 << ESCAPE) - 1, ESCAPE)
        short(width, WIDTH_BITS)
        bits(value, width)
      }
    },
    align() {
      if (pendingBits > 0) short(0, 8 - pendingBits)
    },
    take: () => buffer.slice(0, at),
  }
}

export type Reader = {
  readonly position: () => number
  readonly seek: (position: number) => void
  readonly byte: () => number
  readonly varint: () => number
  readonly signed: () => number
  readonly float64: () => number
  readonly bits: (width: number) => number
  readonly rice: (k: number) => number
  readonly align: () => void
}

/** Throws a RangeError where the bytes end too soon or say what no writer writes. */
export function createReader(bytes: Uint8Array): Reader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  let pending = 0
  let pendingBits = 0

  const byte = (): number => {
    const value = bytes[at]
    if (value === undefined) throw new RangeError(`history data: expected more than ${bytes.length} bytes`)
    at++
    return value
  }
  const varint = (): number => {
    let value = 0
    let unit = 1
    for (;;) {
      const next = byte()
      value += (next & 0x7f) * unit
      if (next < 0x80) break
      unit *= 0x80
    }
    if (value > Number.MAX_SAFE_INTEGER) throw new RangeError(`history data: expected a number below 2^53, found ${value}`)
    return value
  }
  const short = (width: number): number => {
    while (pendingBits < width) {
      pending = (pending << 8) | byte()
      pendingBits += 8
    }
    pendingBits -= width
    const value = (pending >>> pendingBits) & ((1 << width) - 1)
    pending &= (1 << pendingBits) - 1
    return value
  }
  const bits = (width: number): number => {
    if (width <= 24) return width === 0 ? 0 : short(width)
    const high = bits(width - 24)
    return high * 0x1000000 + short(24)
  }
  return {
    position: () => at,
    seek(position) {
      at = position
      pending = pendingBits = 0
    },
    byte,
    varint,
    signed: () => unzigzag(varint()),
    float64() {
      if (at + 8 > bytes.length) throw new RangeError(`history data: expected 8 bytes at ${at} of ${bytes.length}`)
      at += 8
      return view.getFloat64(at - 8)
    },
    bits,
    rice(k) {
      let quotient = 0
      // Ones are counted as many at a time as are at hand.
      for (;;) {
        if (pendingBits === 0) {
          pending = byte()
          pendingBits = 8
        }
        const ones = Math.min(Math.clz32(~(pending << (32 - pendingBits))), pendingBits, ESCAPE - quotient)
        quotient += ones
        pendingBits -= ones
        pending &= (1 << pendingBits) - 1
        if (quotient === ESCAPE) return bits(short(WIDTH_BITS))
        if (pendingBits > 0) break
      }
      pendingBits-- // the zero that ends the ones
      return quotient * 2 ** k + bits(k)
    },
    align() {
      pending = pendingBits = 0
    },
  }
}
