// A growing run of bytes that sample lines are written into: no string per line, so that 10,000 series leave no garbage behind.

export type Bytes = {
  readonly length: () => number
  readonly reset: () => void
  /** Writes `prefix`, which takes `prefixBytes` bytes, then the value and a line feed. */
  readonly line: (prefix: string, prefixBytes: number, value: number) => void
  readonly text: (text: string) => void
  readonly copy: (from: Bytes, start: number, end: number) => void
  /** The whole buffer; only the first `length()` bytes of it are written. */
  readonly view: () => Buffer
}

/** No double needs more than 25 characters, `-1.2345678901234567e-308` and a line feed. */
const VALUE_BYTES = 32
const MAX_DIGITS_VALUE = 2 ** 53

export function createBytes(size = 64 * 1024): Bytes {
  let buffer = Buffer.allocUnsafeSlow(size)
  let end = 0

  const reserve = (bytes: number): void => {
    if (end + bytes <= buffer.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(buffer.length * 2, end + bytes))
    buffer.copy(larger, 0, 0, end)
    buffer = larger
  }

  /** Decimal digits of a whole number from 0 to 2^53, the last `decimals` of them behind a point. */
  const digits = (whole: number, decimals: number): void => {
    let count = 1
    for (let rest = whole; rest >= 10; rest = Math.floor(rest / 10)) count += 1
    if (count <= decimals) count = decimals + 1
    let at = end + count + (decimals > 0 ? 1 : 0)
    end = at
    let rest = whole
    for (let i = 0; i < count; i += 1) {
      const next = Math.floor(rest / 10)
      at -= 1
      buffer[at] = 48 + (rest - next * 10)
      rest = next
      if (i + 1 === decimals) {
        at -= 1
        buffer[at] = 46
      }
    }
  }

  const number = (value: number): void => {
    if (value >= 0 && value <= MAX_DIGITS_VALUE) {
      if (Number.isInteger(value)) return digits(value, 0)
      // Ratios, watts and seconds rarely have more than three decimals. The division is correctly rounded, so equality means
      // that these digits are read back as the very same double.
      const tenths = Math.round(value * 10)
      if (tenths <= MAX_DIGITS_VALUE && tenths / 10 === value) return digits(tenths, 1)
      const hundredths = Math.round(value * 100)
      if (hundredths <= MAX_DIGITS_VALUE && hundredths / 100 === value) return digits(hundredths, 2)
      const thousandths = Math.round(value * 1_000)
      if (thousandths <= MAX_DIGITS_VALUE && thousandths / 1_000 === value) return digits(thousandths, 3)
    }
    end += buffer.write(String(value), end, 'latin1')
  }

  return {
    length: () => end,
    reset: () => (end = 0),
    line(prefix, prefixBytes, value) {
      reserve(prefixBytes + VALUE_BYTES)
      end += buffer.write(prefix, end, prefixBytes === prefix.length ? 'latin1' : 'utf8')
      number(value)
      buffer[end] = 10
      end += 1
    },
    text(text) {
      reserve(Buffer.byteLength(text))
      end += buffer.write(text, end)
    },
    copy(from, start, stop) {
      reserve(stop - start)
      end += from.view().copy(buffer, end, start, stop)
    },
    view: () => buffer,
  }
}
